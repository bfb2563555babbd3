// `weir stress`: saturates a node in several rounds, and prints the measured figures.
import type { Argv } from 'yargs';
import type { RateSearch } from '../live/rate-search.js';
import { type RouteFigures, type StressResult, stress } from '../live/stress.js';
import { alignedTable } from '../report/terminal-text.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import type { GivenTo } from './command.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { liveOptions, liveOptionsOf } from './live-options.js';
import { jsonOption } from './options.js';
import { Progress } from './progress.js';
import { terminalAtHand } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .options(liveOptions)
    .option('workers', {
      type: 'number',
      requiresArg: true,
      describe: 'additional threads that send requests (default: 0)',
    })
    .option('seconds', { type: 'number', requiresArg: true, describe: 'length of a round in seconds (default: 3)' })
    .option('rounds', { type: 'number', requiresArg: true, describe: 'rounds of which the median counts (default: 3)' })
    .option('p99', {
      type: 'string',
      requiresArg: true,
      describe: 'also search for the highest rate whose 99th percentile stays below this, for example 20ms',
    })
    .option('json', jsonOption)
    .example('$0 stress', 'how much a node on this machine holds')
    .example('$0 stress --url http://127.0.0.1:7770 --connections 200', 'a node that runs already')
    .example('$0 stress --p99 20ms', 'and the highest rate that is still quick');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
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
    onStep: (step) => progress.show(undefined, step),
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
