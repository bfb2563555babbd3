// The work of `weir identify --client`: a program is answered by scripts, and its retry policy is said.
import { type ClientAnswer, clientAnswer } from '../identify/client/client-answer.js';
import { clientDocument } from '../identify/client/client-document.js';
import { investigateClient } from '../identify/client/client-investigation.js';
import { playScripts } from '../identify/client/play-scripts.js';
import { drawsOf } from '../math/random.js';
import { documentText } from '../report/terminal-blocks.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { Progress } from './progress.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

interface Given {
  readonly program?: readonly string[] | undefined;
  readonly port: number;
  readonly time: string;
  readonly json: boolean;
}

const exits: Readonly<Record<ClientAnswer['verdict'], number>> = { identified: 0, ambiguous: 0, none: 3, undecided: 4 };

export async function identifyClient({ program, port, time, json }: Given): Promise<void> {
  const { signal, release } = interruptible();
  const progress = new Progress('identify');
  const tell = (url: string) => {
    if (json) return;
    if (program === undefined)
      say(
        `Point the program at ${url} and let it make calls, each with a path of its own below it. Ctrl-C ends it.\n\n`,
      );
    else say(`Starts ${program[0]} again and again for at most ${time}.\n\n`);
  };
  try {
    const found = await playScripts(investigateClient(drawsOf(1)('identify client')), {
      port,
      command: program,
      timeMs: parseTimeMs(time, CYCLE_MS, '--time', 1),
      signal,
      onReady: tell,
      onProgress: (share, words) => progress.show(share, words),
    });
    progress.clear();
    const answer = clientAnswer(program?.join(' ') ?? '', found);
    say(json ? `${JSON.stringify(answer, undefined, 2)}\n` : documentText(clientDocument(answer), terminalAtHand()));
    process.exitCode = exitOfStop() ?? exits[answer.verdict];
  } finally {
    progress.clear();
    release();
  }
}
