// Metrics as plain numbers, cheap to count, shown on demand. The node's are for its operator and name no machine; a machine's for its owner.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type Metric, Registry } from 'prom-client';
import type { RouteAddress } from '../api/endpoint.js';
import { getOrInsert } from '../core/math/get-or-insert.js';
import type { WallClock } from '../core/time/wall.js';
import type { Bounds } from './bounds.js';
import type { Decision, Uncounted } from './counting/decision.js';
import type { Contract } from './host/contract.js';
import type { Host } from './host/host.js';
import type { Keys } from './host/keys.js';
import type { Machine } from './host/machine.js';
import { nameOfLimit } from './limits.js';

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
  readonly #gateSecondsOf = new WeakMap<Machine, LatencyHistogram>();
  readonly #requests = new Map<RouteAddress | undefined, Float64Array>();

  took(decision: Decision | Uncounted): void {
    const { admitted, limited } = decision;
    if (decision.away) this.away += admitted;
    else if (decision.would_limit) this.shadowed += admitted;
    else this.admitted += admitted;
    this.limited += limited;
  }

  /** @param machine undefined if it was removed meanwhile */
  gateTook(machine: Machine | undefined, ms: number): void {
    const seconds = ms / 1000;
    this.gateSeconds.take(seconds);
    if (machine !== undefined) this.gateSecondsOf(machine).take(seconds);
  }

  gateSecondsOf(machine: Machine): LatencyHistogram {
    return getOrInsert(this.#gateSecondsOf, machine, () => new LatencyHistogram());
  }

  /** Answers of a route by status; undefined: requests without a route. */
  answersOf(route: RouteAddress | undefined): Float64Array {
    return getOrInsert(this.#requests, route, () => new Float64Array(STATUSES));
  }

  answers(): Labelled[] {
    return [...this.#requests].flatMap(([{ method, path } = { method: '', path: 'none' }, counts]) =>
      [...counts].flatMap((count, status): Labelled[] => (count > 0 ? [[{ method, path, status }, count]] : [])),
    );
  }
}

type Labels = Readonly<Record<string, string | number>>;

/** @param suffix of the name of its metric */
type Labelled = readonly [labels: Labels, value: number, suffix?: string];

const BOUNDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const;

/** A cheap histogram: fixed bounds and plain numbers, shown on demand. */
export class LatencyHistogram {
  /** Values between one bound and the next; the last entry is beyond all bounds. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  take(seconds: number): void {
    let bucket = 0;
    // Most values are in the first buckets: a loop is faster than a search.
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += seconds;
  }

  series(labels: Labels): Labelled[] {
    let count = 0;
    const buckets = [...BOUNDS, '+Inf'].map((le, index): Labelled => {
      count += this.#counts[index]!;
      return [{ ...labels, le }, count, '_bucket'];
    });
    return [...buckets, [labels, this.#sum, '_sum'], [labels, count, '_count']];
  }
}

interface Figure {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: () => number | readonly Labelled[];
}

const counter = (help: string, read: Figure['read']): Figure => ({ type: 'counter', help, read });
const gauge = (help: string, read: Figure['read']): Figure => ({ type: 'gauge', help, read });
const histogram = (help: string, of: LatencyHistogram, labels: Labels = {}): Figure => {
  return { type: 'histogram', help, read: () => of.series(labels) };
};

function show(registry: Registry, figures: Readonly<Record<string, Figure>>): void {
  for (const [name, { type, help, read }] of Object.entries(figures)) {
    const get = () => {
      const found = read();
      const series: readonly Labelled[] = typeof found === 'number' ? [[{}, found]] : found;
      const values = series.map(([labels, value, suffix = '']) => ({ metricName: name + suffix, labels, value }));
      return { name, help, type, values };
    };
    // Prom-client reads only the name and the values of a metric.
    registry.registerMetric({ name, get } as unknown as Metric);
  }
}

function by(label: string, values: Readonly<Record<string, number>>, others: Labels = {}): Labelled[] {
  return Object.entries(values).map(([name, value]) => [{ ...others, [label]: name }, value]);
}

const GATE_HELP =
  'From the beginning of a decision at a gate until its answer is handed over, the wait for the disk included.';

interface MetricsSources {
  readonly counts: Counts;
  readonly host: Host;
  readonly clock: WallClock;
  readonly bounds: Bounds;
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
    show(this.#registry, figuresOf(sources, this.#loopDelay));
    this.#loopDelay.enable();
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  close(): void {
    this.#loopDelay.disable();
  }
}

function figuresOf(
  { counts, host, clock, bounds, version }: MetricsSources,
  loopDelay: IntervalHistogram,
): Record<string, Figure> {
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
  const isStored = () => Number(host.failure === undefined);
  return {
    weir_requests_total: counter(
      'Answers by route and status. A gate is one route, GET, whatever method it was asked by.',
      () => counts.answers(),
    ),
    weir_decisions_total: counter('Requests decided by contracts; would_limit: admitted by a shadow.', decisions),
    weir_transitions_total: counter('Transitions on the record.', transitions),
    weir_malformed_requests_total: counter('Requests that were no HTTP or too slow.', () => counts.malformedRequests),
    weir_stream_lags_total: counter('Times that a reader fell behind.', () => counts.laggingReaders),
    weir_missed_cycles_total: counter('Cycles passed over while nothing could run.', () => counts.missedCycles),
    weir_failed_contracts_total: counter('Contracts that stopped after an error.', () => counts.failedContracts),
    weir_machines: gauge('Machines on this node.', () => host.machines.size),
    weir_contracts: gauge('Contracts on this node.', () => host.contracts.size),
    weir_keys: gauge('Keys of contracts with keys that are there.', () => keys(({ size }) => size)),
    weir_keys_without_place_total: counter('Events of keys without a place.', placeless),
    weir_keys_forgotten_total: counter('Keys that were forgotten without counts.', () => keys((one) => one.evicted)),
    weir_connections: gauge('Connections that are open.', () => bounds.sockets.all),
    weir_bound_refusals_total: counter(
      'What was refused by the bounds of GET /api/limits, since the node started.',
      () => Object.entries(bounds).map(([name, { refused }]) => [{ bound: nameOfLimit(name) }, refused]),
    ),
    weir_stream_readers: gauge('Readers of event streams.', () => bounds.streams.all),
    weir_cycle: gauge('The running cycle.', () => clock.cycle()),
    weir_clock_lag_seconds: gauge('How late the last task of the clock ran.', () => clock.lagMs * MS),
    weir_clock_skew_seconds: gauge('How far the node is ahead of the wall clock.', () => clock.skewMs * MS),
    weir_store_ok: gauge('1 while the node can store, 0 once it cannot.', isStored),
    weir_memory_bytes: gauge('Resident memory of the process.', () => process.memoryUsage.rss()),
    weir_event_loop_delay_seconds: gauge('How late the event loop was, since the last scrape.', () =>
      lateness(loopDelay),
    ),
    weir_build_info: gauge('Always 1, with the version as a label.', () => [[{ version }, 1]]),
    weir_commit_seconds: histogram('From asking for a commit until all before it was durable.', counts.commitSeconds),
    weir_gate_seconds: histogram(GATE_HELP, counts.gateSeconds),
  };
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

export function metricsOfMachine(of: Machine, counts: Counts): Promise<string> {
  const { slug: machine, contracts, head } = of;
  const registry = new Registry();
  const decided = (some: Machine['contracts'], labels: Labels) => {
    const sumOf = (figure: (contract: Contract) => number) => some.reduce((sum, one) => sum + figure(one), 0);
    const sums = { admitted: sumOf(({ tally }) => tally.admitted), limited: sumOf(({ tally }) => tally.limited) };
    const isChecked = some.some(({ comparison }) => comparison !== undefined);
    const checked = isChecked && { would_limit: sumOf(({ comparison }) => comparison?.wouldLimit ?? 0) };
    return by('decision', { ...sums, ...checked }, labels);
  };
  const named = () =>
    contracts
      .filter(({ image }) => image.name !== undefined)
      .slice(0, MOST_NAMED)
      .flatMap((contract) => decided([contract], { machine, contract: contract.image.name! }));
  const gateSeconds = counts.gateSecondsOf(of);
  show(registry, {
    weir_machine_decisions_total: counter(
      'Requests that the contracts of the machine decided on since the node started.',
      () => decided(contracts, { machine }),
    ),
    weir_contract_decisions_total: counter(
      'Requests that a contract with a name decided on; would_limit: those that its candidate would have limited.',
      named,
    ),
    weir_machine_contracts: gauge('Contracts of the machine.', () => [[{ machine }, contracts.length]]),
    weir_machine_record_rows: gauge('Seq of the last row of its record.', () => [[{ machine }, head.seq]]),
    weir_machine_gate_seconds: histogram(GATE_HELP, gateSeconds, { machine }),
  });
  return registry.metrics();
}
