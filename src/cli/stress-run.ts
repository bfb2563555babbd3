// Owns the doing of `weir stress`: rounds of saturation, and a table of what the node held.

import type { RateSearch } from '../live/rate-search.js';
import { type RouteFigures, type StressResult, stress } from '../live/stress.js';
import { alignedTable } from '../report/terminal-text.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { liveOptionsOf } from './live-options.js';
import { Progress } from './progress.js';
import { checkSpelling } from './spelling.js';
import type { StressArguments } from './stress.js';
import { terminalAtHand } from './terminal.js';

export async function runStress(given: StressArguments): Promise<void> {
  checkSpelling(given);
  const { signal, release } = interruptible();
  const progress = new Progress('stress');
  const { workers, seconds, rounds } = given;
  const result = await stress({
    ...liveOptionsOf(given),
    signal,
    ...(workers === undefined ? {} : { workers }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(rounds === undefined ? {} : { rounds }),
    ...(given.p99 === undefined ? {} : { p99Ms: parseTimeMs(given.p99, CYCLE_MS, '--p99', 1) }),
    onStep: (step) => progress.tell(undefined, step),
  });
  progress.clear();
  release();
  process.stdout.write(given.json ? `${JSON.stringify(result)}\n` : `${stressText(result)}\n`);
  process.exitCode = exitOfStop() ?? 0;
}

function stressText({
  target,
  connections,
  workers,
  seconds,
  rounds,
  routes,
  search,
  notes,
  partial,
}: StressResult): string {
  const columns = [
    { title: 'route' },
    { title: 'requests/s', right: true },
    { title: 'events/s', right: true },
    { title: 'p50', right: true },
    { title: 'p99', right: true },
    { title: 'errors', right: true },
    { title: 'generator busy', right: true },
    { title: 'node busy', right: true },
    { title: 'bound by' },
  ];
  const head = `${target}: ${connections} connections, ${workers} extra threads, the median of ${rounds} rounds of ${seconds} s`;
  const table = alignedTable(columns, routes.map(cellsOf), terminalAtHand().columns);
  const found = search === undefined ? [] : ['', searchText(search)];
  return [
    ...(partial ? ['stopped before its end'] : []),
    head,
    '',
    ...table,
    ...found,
    ...notes.flatMap((note) => ['', note]),
  ].join('\n');
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

/** The highest rate that kept the bound, and what stood in the way of a higher one. */
function searchText({ p99Ms, ratePerSecond, boundBy, trials }: RateSearch): string {
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
  const columns = [
    { title: 'requests/s', right: true },
    { title: 'p99', right: true },
    { title: 'send lag p99', right: true },
    { title: '' },
  ];
  return [`${held} (${why}).`, '', ...alignedTable(columns, rows, terminalAtHand().columns)].join('\n');
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (value: number) => `${Number(value.toPrecision(3))} ms`;
const share = (value: number | null) => (value === null ? 'not known' : `${Math.round(value * 100)} %`);
