// The rounds of `weir stress`, and the measured figures as text.
import type { RateSearch } from '../live/rate-search.js';
import { type RouteFigures, type StressOptions, type StressResult, stress } from '../live/stress.js';
import { type Block, right, sentence } from '../report/block.js';
import { blocksText } from '../report/terminal-blocks.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { Progress } from './progress.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

export async function stressRounds(asked: StressOptions, asJson: boolean): Promise<void> {
  const { signal, release } = interruptible();
  const progress = new Progress('stress');
  const result = await stress({ ...asked, signal, onStep: (step) => progress.show(undefined, step) });
  progress.clear();
  release();
  say(`${asJson ? JSON.stringify(result) : blocksText(stressBlocks(result), terminalAtHand())}\n`);
  process.exitCode = exitOfStop() ?? 0;
}

function stressBlocks({ target, connections, workers, seconds, rounds, routes, search, notes, partial }: StressResult) {
  const measured = ['requests/s', 'events/s', 'p50', 'p99', 'errors', 'generator busy', 'node busy'].map(right);
  const blocks: Block[] = [
    sentence(
      `${target}: ${connections} connections, ${workers} extra threads, the median of ${rounds} rounds of ${seconds} s`,
    ),
    { kind: 'table', columns: ['route', ...measured, 'bound by'], rows: routes.map(cellsOf) },
    ...(search === undefined ? [] : searchBlocks(search)),
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
    whole(requestsPerSecond),
    whole(eventsPerSecond),
    ms(latencyMsP50),
    ms(latencyMsP99),
    whole(errors + unexpected),
    share(generatorBusy),
    share(nodeBusy),
    boundBy,
  ];
}

/** The highest rate within the bound, and the cause that prevents a higher one. */
function searchBlocks({ p99Ms, ratePerSecond, boundBy, trials }: RateSearch): Block[] {
  const held =
    ratePerSecond === 0
      ? `No rate kept p99 below ${p99Ms} ms`
      : `${whole(ratePerSecond)} requests a second keep p99 below ${p99Ms} ms`;
  const why =
    boundBy === 'nothing'
      ? 'the highest rate that was tried'
      : boundBy === 'node'
        ? 'beyond it the node is too slow'
        : 'beyond it the generator is saturated: the node may hold more';
  const rows = trials.map((trial) => [
    whole(trial.ratePerSecond),
    ms(trial.latencyMsP99),
    ms(trial.sendLagMsP99),
    trial.outcome,
  ]);
  const columns = [...['requests/s', 'p99', 'send lag p99'].map(right), 'outcome'];
  return [sentence(`${held} (${why}).`), { kind: 'table', columns, rows }];
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (value: number) => `${Number(value.toPrecision(3))} ms`;
const share = (value: number | null) => (value === null ? 'not known' : `${Math.round(value * 100)} %`);
