// Metrics as plain numbers, cheap to count, shown on demand. The node's are for its operator and name no machine; a machine's for its owner.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Host } from '../host/host.js';
import type { Keys } from '../host/keys.js';
import type { Machine } from '../host/machine.js';
import type { WallClock } from '../time/wall.js';
import type { Decision, Uncounted } from './counting/decision.js';
import { LatencyHistogram } from './latency-histogram.js';
import type { Sockets } from './sockets.js';

interface RouteName {
  readonly method: string;
  readonly path: string;
}

const STATUSES = 600;

export class Counts {
  admitted = 0;
  limited = 0;
  /** Admitted by a shadow that would have limited them. */
  shadowed = 0;
  /** Admitted uncounted, because the store was unreachable. */
  away = 0;
  transitions = 0;
  refusedTransitions = 0;
  failedContracts = 0;
  laggingReaders = 0;
  /** Requests that were not HTTP or too slow: they reached no route. */
  malformedRequests = 0;
  missedCycles = 0;
  readonly commitSeconds = new LatencyHistogram();
  readonly gateSeconds = new LatencyHistogram();
  readonly #gateSecondsOf = new Map<string, LatencyHistogram>();
  readonly #requests = new Map<RouteName | undefined, Float64Array>();

  /** @param admitted how many of `n` requests @param isShadow whether a shadow would have limited those */
  decided(n: number, admitted: number, isShadow = false): void {
    if (isShadow) this.shadowed += admitted;
    else this.admitted += admitted;
    this.limited += n - admitted;
  }

  took(n: number, decision: Decision | Uncounted): void {
    if (decision.away) this.away += n;
    else this.decided(n, decision.admitted, decision.would_limit);
  }

  gateTook(slug: string, ms: number): void {
    const seconds = ms / 1000;
    this.gateSeconds.take(seconds);
    let ofMachine = this.#gateSecondsOf.get(slug);
    if (ofMachine === undefined) {
      ofMachine = new LatencyHistogram();
      this.#gateSecondsOf.set(slug, ofMachine);
    }
    ofMachine.take(seconds);
  }

  gateSecondsOf(slug: string): LatencyHistogram {
    return this.#gateSecondsOf.get(slug) ?? new LatencyHistogram();
  }

  /** Answers of a route by status; undefined: requests without a route. */
  answersOf(route: RouteName | undefined): Float64Array {
    let answers = this.#requests.get(route);
    if (answers === undefined) {
      answers = new Float64Array(STATUSES);
      this.#requests.set(route, answers);
    }
    return answers;
  }

  answers(): Labelled[] {
    return [...this.#requests].flatMap(([{ method, path } = { method: '', path: 'none' }, counts]) =>
      [...counts].flatMap((count, status): Labelled[] => (count > 0 ? [[{ method, path, status }, count]] : [])),
    );
  }
}

type Labels = Readonly<Record<string, string | number>>;
type Labelled = readonly [labels: Labels, value: number];

type Figure = readonly [
  kind: 'counter' | 'gauge',
  name: string,
  help: string,
  read: () => number | readonly Labelled[],
  labelNames?: readonly string[],
];

function show(registry: Registry, figures: readonly Figure[]): void {
  for (const [kind, name, help, read, labelNames = []] of figures) {
    const config = { name, help, labelNames: [...labelNames], registers: [registry] };
    const fill = (metric: { reset(): void; inc(labels: Labels, value: number): void }) => {
      const values = read();
      metric.reset();
      for (const [labels, value] of typeof values === 'number' ? [[{}, values] as const] : values)
        metric.inc(labels, value);
    };
    const collect = function (this: Parameters<typeof fill>[0]) {
      fill(this);
    };
    if (kind === 'counter') new Counter({ ...config, collect });
    else new Gauge({ ...config, collect });
  }
}

function by(label: string, values: Readonly<Record<string, number>>): Labelled[] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}

const GATE_HELP =
  'From the beginning of a decision at a gate until its answer is handed over, the wait for the disk included.';

interface MetricsSources {
  readonly counts: Counts;
  readonly host: Host;
  readonly clock: WallClock;
  readonly sockets: Pick<Sockets, 'size' | 'refused'>;
  readonly readers: () => number;
  readonly version: string;
}

const SAMPLE_MS = 20;
const NS = 1e-9;
const MS = 1e-3;

export class Metrics {
  readonly #registry = new Registry();
  readonly #loopDelay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  readonly contentType = this.#registry.contentType;

  constructor(sources: MetricsSources) {
    const { counts, version } = sources;
    show(this.#registry, figuresOf(sources));
    show(this.#registry, [
      [
        'gauge',
        'weir_event_loop_delay_seconds',
        'How late the event loop was, since the last scrape.',
        () => lateness(this.#loopDelay),
        ['quantile'],
      ],
      ['gauge', 'weir_build_info', 'Always 1, with the version as a label.', () => [[{ version }, 1]], ['version']],
    ]);
    const commitHelp = 'From asking for a commit until all before it was durable.';
    this.#registry.registerMetric(counts.commitSeconds.asMetric('weir_commit_seconds', commitHelp));
    this.#registry.registerMetric(counts.gateSeconds.asMetric('weir_gate_seconds', GATE_HELP));
    this.#loopDelay.enable();
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  close(): void {
    this.#loopDelay.disable();
  }
}

function figuresOf({ counts, host, clock, sockets, readers }: MetricsSources): Figure[] {
  const requests = 'Answers by route and status. A gate is one route, GET, whatever method it was asked by.';
  const keys = (figure: (keys: Keys) => number) => {
    let sum = 0;
    for (const one of host.keyed) if (one.keys !== undefined) sum += figure(one.keys);
    return sum;
  };
  const decisions = () => {
    const { admitted, limited, shadowed: would_limit, away } = counts;
    return by('decision', { admitted, limited, would_limit, away });
  };
  const transitions = () => by('outcome', { taken: counts.transitions, refused: counts.refusedTransitions });
  const placeless = () =>
    by('outcome', { refused: keys(({ refused }) => refused), shared: keys(({ shared }) => shared) });
  return [
    ['counter', 'weir_requests_total', requests, () => counts.answers(), ['method', 'path', 'status']],
    ['counter', 'weir_decisions_total', 'Requests that contracts decided on.', decisions, ['decision']],
    ['counter', 'weir_transitions_total', 'Transitions on the record.', transitions, ['outcome']],
    [
      'counter',
      'weir_malformed_requests_total',
      'Requests that were no HTTP or too slow.',
      () => counts.malformedRequests,
    ],
    ['counter', 'weir_stream_lags_total', 'Times that a reader fell behind.', () => counts.laggingReaders],
    ['counter', 'weir_missed_cycles_total', 'Cycles passed over while nothing could run.', () => counts.missedCycles],
    ['counter', 'weir_failed_contracts_total', 'Contracts that stopped after an error.', () => counts.failedContracts],
    ['gauge', 'weir_machines', 'Machines on this node.', () => host.machines.size],
    ['gauge', 'weir_contracts', 'Contracts on this node.', () => host.contracts.size],
    ['gauge', 'weir_keys', 'Keys of contracts with keys that are there.', () => keys(({ table }) => table.size)],
    ['counter', 'weir_keys_without_place_total', 'Events of keys without a place.', placeless, ['outcome']],
    [
      'counter',
      'weir_keys_forgotten_total',
      'Keys that were forgotten without counts.',
      () => keys((one) => one.evicted),
    ],
    ['gauge', 'weir_connections', 'Connections that are open.', () => sockets.size],
    ['counter', 'weir_connections_refused_total', 'Connections that were cut for want of room.', () => sockets.refused],
    ['gauge', 'weir_stream_readers', 'Readers of event streams.', readers],
    ['gauge', 'weir_cycle', 'The running cycle.', () => clock.cycle()],
    ['gauge', 'weir_clock_lag_seconds', 'How late the last task of the clock ran.', () => clock.lagMs * MS],
    ['gauge', 'weir_clock_skew_seconds', 'How far the node is ahead of the wall clock.', () => clock.skewMs * MS],
    [
      'gauge',
      'weir_store_ok',
      '1 while the node can store, 0 once it cannot.',
      () => Number(host.failure === undefined),
    ],
    ['gauge', 'weir_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss()],
  ];
}

/** Since the last call. The sampling interval itself is not a delay. */
function lateness(delay: IntervalHistogram): Labelled[] {
  const late = (ns: number) => Math.max(0, ns * NS - SAMPLE_MS * MS);
  const seen = by('quantile', {
    '0.5': late(delay.percentile(50)),
    '0.99': late(delay.percentile(99)),
    '1': late(delay.max),
  });
  delay.reset();
  return seen;
}

const MOST_NAMED = 1_000;

export function metricsOfMachine({ slug: machine, contracts, head }: Machine, counts: Counts): Promise<string> {
  const registry = new Registry();
  const sumOf = (figure: (contract: Machine['contracts'][number]) => number) =>
    contracts.reduce((sum, contract) => sum + figure(contract), 0);
  const of = (one: Readonly<Record<string, number>>, labels: Labels): Labelled[] =>
    by('decision', one).map(([label, value]) => [{ ...labels, ...label }, value]);
  const decided = () =>
    of(
      {
        admitted: sumOf(({ tally }) => tally.admitted),
        limited: sumOf(({ tally }) => tally.limited),
        ...(contracts.some(({ comparison }) => comparison) && {
          would_limit: sumOf(({ comparison }) => comparison?.wouldLimit ?? 0),
        }),
      },
      { machine },
    );
  const named = () =>
    contracts
      .filter(({ image }) => image.name !== undefined)
      .slice(0, MOST_NAMED)
      .flatMap(({ image, tally: { admitted, limited }, comparison }) => {
        const all = { admitted, limited, ...(comparison && { would_limit: comparison.wouldLimit }) };
        return of(all, { machine, contract: image.name! });
      });
  const decidedHelp = 'Requests that the contracts of the machine decided on since the node started.';
  const namedHelp =
    'Requests that a contract with a name decided on; would_limit: those that its candidate would have limited.';
  show(registry, [
    ['counter', 'weir_machine_decisions_total', decidedHelp, decided, ['machine', 'decision']],
    ['counter', 'weir_contract_decisions_total', namedHelp, named, ['machine', 'contract', 'decision']],
    [
      'gauge',
      'weir_machine_contracts',
      'Contracts of the machine.',
      () => [[{ machine }, contracts.length]],
      ['machine'],
    ],
    [
      'gauge',
      'weir_machine_record_rows',
      'Seq of the last row of its record.',
      () => [[{ machine }, head.seq]],
      ['machine'],
    ],
  ]);
  registry.registerMetric(counts.gateSecondsOf(machine).asMetric('weir_machine_gate_seconds', GATE_HELP, { machine }));
  return registry.metrics();
}
