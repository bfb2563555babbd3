// `weir stress`: saturates a node and reports its capacity.
import { CYCLE_MS } from '../core/time/cycle.js';
import type { RouteFigures, StressResult } from '../harness/live/stress.js';
import { type Block, right, sentence } from '../report/block.js';
import { command, value, whole } from '../report/command/command.js';
import { exitOfStop, stopSignal } from '../report/command/interrupt.js';
import { liveOptions, liveOptionsOf } from '../report/command/live-options.js';
import { jsonOf, readMs } from '../report/command/options.js';
import { Progress } from '../report/command/progress.js';
import { say } from '../report/command/say.js';
import { terminalAtHand } from '../report/command/terminal.js';
import { blocksText } from '../report/terminal-blocks.js';

const options = {
  ...liveOptions,
  cycleMs: {
    ...liveOptions.cycleMs,
    description: `length of a cycle of that node in ms (default: ${CYCLE_MS})`,
  },
  allow: { ...liveOptions.allow, needs: 'url' },
  workers: whole(0, 64, 'additional threads that send requests (default: 0)'),
  for: value('a time from 1s to 10m', readSeconds, 'length of a round (default: 3s)'),
  json: jsonOf('stress'),
};

export const stress = command({
  options,
  examples: [
    ['stress', 'how much a node on this machine holds'],
    ['stress --url http://127.0.0.1:7770 --connections 200', 'a node that runs already'],
    ['stress --url http://127.0.0.1:7771 --url http://127.0.0.1:7772', 'nodes of one network'],
  ],
  run: async (given) => {
    const { workers, for: seconds, json } = given;
    const asked = { ...liveOptionsOf(given), workers, seconds };
    const { stress } = await import('../harness/live/stress.js');
    const progress = new Progress('stress');
    const result = await stress({ ...asked, signal: stopSignal(), onStep: (step) => progress.show(undefined, step) });
    say(`${json ? JSON.stringify(result) : blocksText(stressBlocks(result), terminalAtHand())}\n`);
    process.exitCode = exitOfStop() ?? 0;
  },
});

function readSeconds(text: string, option: string): number | undefined {
  const seconds = Math.round(readMs(text, option) / 1000);
  return seconds >= 1 && seconds <= 600 ? seconds : undefined;
}

function stressBlocks({ target, connections, workers, seconds, rounds, routes, notes, partial }: StressResult) {
  const measured = ['requests/s', 'events/s', 'p50', 'p99', 'errors', 'generator busy', 'node busy'].map(right);
  const blocks: Block[] = [
    sentence(
      `${target}: ${connections} connections, ${workers} extra threads, the median of ${rounds} rounds of ${seconds} s`,
    ),
    { kind: 'table', columns: ['route', ...measured, 'bound by'], rows: routes.map(cellsOf) },
    ...notes.map((note) => sentence(note)),
  ];
  return partial ? [sentence('stopped before its end'), ...blocks] : blocks;
}

function cellsOf(figures: RouteFigures): string[] {
  const {
    route,
    requestsPerSecond,
    eventsPerSecond,
    latencyMsP50,
    latencyMsP99,
    errors,
    unexpected,
    generatorBusy,
    nodeBusy,
    boundBy,
  } = figures;
  return [
    route,
    round(requestsPerSecond),
    round(eventsPerSecond),
    ms(latencyMsP50),
    ms(latencyMsP99),
    round(errors + unexpected),
    share(generatorBusy),
    share(nodeBusy),
    boundBy,
  ];
}

const round = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (value: number) => `${Number(value.toPrecision(3))} ms`;
const share = (value: number | null) => (value === null ? 'not known' : `${Math.round(value * 100)} %`);
