// The rounds of `weir stress`, and the measured figures as text.
import type { RateSearch } from '../live/rate-search.js';
import { type RouteFigures, type StressOptions, type StressResult, stress } from '../live/stress.js';
import { alignedTable } from '../report/terminal-text.js';
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
  say(asJson ? `${JSON.stringify(result)}\n` : `${stressText(result)}\n`);
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

/** The highest rate within the bound, and the cause that prevents a higher one. */
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
