// `weir worker`: makes runs and sends shares of loads that are asked for with --workers, until it is stopped.
import { availableParallelism, hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Argv } from 'yargs';
import type { LoadJob } from '../live/load-job.js';
import { counted } from '../report/words.js';
import { VERSION } from '../version.js';
import type { GivenTo } from './command.js';
import { aborted, interruptible } from './interrupt.js';
import { checkThreads, jsonOption } from './options.js';
import { Progress } from './progress.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('redis', { type: 'string', demandOption: true, describe: 'the Redis to take runs from' })
    .option('threads', {
      type: 'number',
      requiresArg: true,
      describe: 'how many runs at once (default: one for each core)',
    })
    .option('allow-remote', {
      type: 'boolean',
      default: false,
      describe: 'send load also to other machines: who reaches that Redis says to which',
    })
    .option('json', jsonOption)
    .example('$0 worker redis://127.0.0.1:6379', 'on each machine that should help')
    .example('$0 sweep scenarios/day.yaml --set … --workers redis://127.0.0.1:6379', 'who asks for runs')
    .example('$0 worker rediss://:secret@queue.example:6379 --threads 4', 'with TLS and a password, on four cores')
    .example('$0 worker redis://10.0.0.1 --allow-remote', 'a generator of load for machines of yours')
    .epilogue(
      'All must be of one version. Runs of a worker that is killed go to another; a load whose generator is killed is invalid. Ctrl-C ends it after what is under way, a second one at once.',
    );

export async function run(given: GivenTo<typeof options>): Promise<void> {
  const { redis, threads = availableParallelism(), allowRemote, json } = given;
  checkThreads(threads);
  // As `weir load` does, whose requests it may send.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const [{ takeRuns }, { generate }] = await Promise.all([
    import('../simulate/take-runs.js'),
    import('../live/generate.js'),
  ]);
  const { signal, release } = interruptible();
  const progress = new Progress('runs made');
  const say = (words: string) => {
    progress.clear();
    process.stderr.write(`weir: ${words}\n`);
  };
  let runs = 0;
  const taking = await takeRuns(redis, {
    threads,
    onRun: (made) => {
      runs = made;
      progress.show(undefined, String(made));
    },
    onLoad: (job, client) => generate(job as LoadJob, client, allowRemote),
    onAway: (isAway) => say(isAway ? 'Redis is away; the worker waits for it.' : 'Redis is back.'),
  });
  const facts = { ok: true, version: VERSION, host: hostname(), pid: process.pid, threads };
  const words = `takes runs, ${threads} at once; Ctrl-C ends it`;
  process.stdout.write(json ? `${JSON.stringify(facts)}\n` : `${words}\n`);
  await aborted(signal);
  progress.clear();
  await taking.close();
  release();
  process.stdout.write(json ? `${JSON.stringify({ ok: true, runs })}\n` : `${counted(runs, 'run')} made\n`);
}
