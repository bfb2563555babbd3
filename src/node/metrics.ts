// The metrics of a node: plain numbers, so that counting costs next to nothing; shown as Prometheus text only when asked for. Those of
// the node as a whole are for its operator and bear no name of a machine; those of a machine are for its owner.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Host } from '../host/host.js';
import type { Keys } from '../host/keys.js';
import type { Machine } from '../host/machine.js';
import type { WallClock } from '../time/wall.js';
import type { Decision, Uncounted } from './counting/decision.js';
import { Latency } from './latency.js';
import type { Sockets } from './sockets.js';

interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** Statuses have three digits: one number each. */
const STATUSES = 600;

/** Upper bounds in seconds: from a commit in memory to a disk in trouble. */
const COMMIT_BUCKETS = [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export class Counts {
  admitted = 0;
  limited = 0;
  /** Admitted at the gate of a shadow that would have limited them. */
  shadowed = 0;
  /** Admitted uncounted, since the store could not be asked. */
  away = 0;
  /** Rows of the record that are durable, by what they say. */
  transitions = 0;
  refusedTransitions = 0;
  failedContracts = 0;
  laggingReaders = 0;
  /** Requests that were no HTTP, or came too slowly: they reached no route. */
  malformedRequests = 0;
  /** Cycles at whose beginning nothing could run. */
  missedCycles = 0;
  readonly commitSeconds = new Histogram({
    name: 'weir_commit_seconds',
    help: 'From asking for a commit until all before it was durable.',
    buckets: COMMIT_BUCKETS,
    registers: [],
  });
  readonly gateSeconds = new Latency();
  /** Of each machine whose gates were asked: no more than there are machines. */
  readonly #gateSecondsOf = new Map<string, Latency>();
  readonly #requests = new Map<RouteName | undefined, Float64Array>();

  /** Contracts have admitted so many of `n` requests. @param isShadow whether a shadow did, which would have limited them */
  decided(n: number, admitted: number, isShadow = false): void {
    if (isShadow) this.shadowed += admitted;
    else this.admitted += admitted;
    this.limited += n - admitted;
  }

  /** As `decided`, what is said of `n` requests. */
  took(n: number, decision: Decision | Uncounted): void {
    if (decision.away) this.away += n;
    else this.decided(n, decision.admitted, decision.would_limit);
  }

  gateTook(slug: string, ms: number): void {
    const seconds = ms / 1000;
    this.gateSeconds.take(seconds);
    let ofMachine = this.#gateSecondsOf.get(slug);
    if (ofMachine === undefined) {
      ofMachine = new Latency();
      this.#gateSecondsOf.set(slug, ofMachine);
    }
    ofMachine.take(seconds);
  }

  gateSecondsOf(slug: string): Latency {
    return this.#gateSecondsOf.get(slug) ?? new Latency();
  }

  /** The number of answers of a route, by status; those of no route where it is undefined. */
  answersOf(route: RouteName | undefined): Float64Array {
    let answers = this.#requests.get(route);
    if (answers === undefined) {
      answers = new Float64Array(STATUSES);
      this.#requests.set(route, answers);
    }
    return answers;
  }

  *answers(): Generator<{ route: RouteName | undefined; status: number; count: number }> {
    for (const [route, answers] of this.#requests) {
      for (const [status, count] of answers.entries()) if (count > 0) yield { route, status, count };
    }
  }
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
  readonly registry = new Registry();
  readonly #loopDelay: IntervalHistogram = monitorEventLoopDelay({ resolution: SAMPLE_MS });

  constructor({ counts, host, clock, sockets, readers, version }: MetricsSources) {
    this.#counter(
      'weir_requests_total',
      'Answers by route and status. A gate is one route, GET, whatever method it was asked by.',
      ['method', 'path', 'status'],
      (counter) => {
        for (const { route, status, count } of counts.answers()) {
          counter.inc({ method: route?.method ?? '', path: route?.path ?? 'none', status }, count);
        }
      },
    );
    this.#counter('weir_decisions_total', 'Requests that contracts decided on.', ['decision'], (counter) => {
      counter.inc({ decision: 'admitted' }, counts.admitted);
      counter.inc({ decision: 'limited' }, counts.limited);
      counter.inc({ decision: 'would_limit' }, counts.shadowed);
      counter.inc({ decision: 'away' }, counts.away);
    });
    this.#counter('weir_transitions_total', 'Transitions on the record.', ['outcome'], (counter) => {
      counter.inc({ outcome: 'taken' }, counts.transitions);
      counter.inc({ outcome: 'refused' }, counts.refusedTransitions);
    });
    this.#count(
      'weir_malformed_requests_total',
      'Requests that were no HTTP or too slow.',
      () => counts.malformedRequests,
    );
    this.#count('weir_stream_lags_total', 'Times that a reader fell behind.', () => counts.laggingReaders);
    this.#count('weir_missed_cycles_total', 'Cycles passed over while nothing could run.', () => counts.missedCycles);
    this.#count('weir_failed_contracts_total', 'Contracts that stopped after an error.', () => counts.failedContracts);
    this.#gauge('weir_machines', 'Machines on this node.', () => host.machines.size);
    this.#gauge('weir_contracts', 'Contracts on this node.', () => host.contracts.size);
    this.#gauge('weir_keys', 'Keys of contracts with keys that are there.', () =>
      sumOf(host, ({ table }) => table.size),
    );
    this.#counter('weir_keys_without_place_total', 'Events of keys without a place.', ['outcome'], (counter) => {
      counter.inc(
        { outcome: 'refused' },
        sumOf(host, ({ refused }) => refused),
      );
      counter.inc(
        { outcome: 'shared' },
        sumOf(host, ({ shared }) => shared),
      );
    });
    this.#count('weir_keys_forgotten_total', 'Keys that were forgotten without counts.', () =>
      sumOf(host, ({ forgotten }) => forgotten),
    );
    this.#gauge('weir_connections', 'Connections that are open.', () => sockets.size);
    this.#count(
      'weir_connections_refused_total',
      'Connections that were cut since there was no room for them.',
      () => sockets.refused,
    );
    this.#gauge('weir_stream_readers', 'Readers of event streams.', readers);
    this.#gauge('weir_cycle', 'The running cycle.', () => clock.cycle());
    this.#gauge('weir_clock_lag_seconds', 'How late the last task of the clock ran.', () => clock.lagMs * MS);
    this.#gauge('weir_clock_skew_seconds', 'How far the node is ahead of the wall clock.', () => clock.skewMs * MS);
    this.#gauge('weir_store_ok', '1 while the node can store, 0 once it cannot.', () =>
      Number(host.failure === undefined),
    );
    this.#gauge('weir_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
    this.#loopDelayGauge();
    new Gauge({
      name: 'weir_build_info',
      help: 'Always 1, with the version as a label.',
      labelNames: ['version'],
      registers: [this.registry],
    }).set({ version }, 1);
    this.registry.registerMetric(counts.commitSeconds);
    this.registry.registerMetric(counts.gateSeconds.asMetric('weir_gate_seconds', GATE_HELP));
    this.#loopDelay.enable();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  close(): void {
    this.#loopDelay.disable();
  }

  #counter<Label extends string>(
    name: string,
    help: string,
    labels: Label[],
    collect: (counter: Counter<Label>) => void,
  ) {
    new Counter<Label>({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        collect(this);
      },
    });
  }

  #count(name: string, help: string, value: () => number): void {
    this.#counter(name, help, [], (counter) => counter.inc(value()));
  }

  #gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }

  /** Since the last time that somebody asked. The sampling interval itself is not a delay. */
  #loopDelayGauge(): void {
    const delay = this.#loopDelay;
    new Gauge({
      name: 'weir_event_loop_delay_seconds',
      help: 'How late the event loop was, since the last scrape.',
      labelNames: ['quantile'],
      registers: [this.registry],
      collect() {
        const late = (ns: number) => Math.max(0, ns * NS - SAMPLE_MS * MS);
        this.set({ quantile: '0.5' }, late(delay.percentile(50)));
        this.set({ quantile: '0.99' }, late(delay.percentile(99)));
        this.set({ quantile: '1' }, late(delay.max));
        delay.reset();
      },
    });
  }
}

function sumOf(host: Host, figure: (keys: Keys) => number): number {
  let sum = 0;
  for (const { keys } of host.keyed) if (keys !== undefined) sum += figure(keys);
  return sum;
}

/** Contracts with a name that have figures of their own: a label for each. */
const MOST_NAMED = 1_000;

function ofNamedContracts(registry: Registry, machine: string, contracts: Machine['contracts']): void {
  const counter = new Counter({
    name: 'weir_contract_decisions_total',
    help: 'Requests that a contract with a name decided on; would_limit: those that its candidate would have limited.',
    labelNames: ['machine', 'contract', 'decision'],
    registers: [registry],
  });
  const named = contracts.filter(({ image }) => image.name !== undefined).slice(0, MOST_NAMED);
  for (const { image, tally, beside } of named) {
    const of = { machine, contract: image.name! };
    counter.inc({ ...of, decision: 'admitted' }, tally.admitted);
    counter.inc({ ...of, decision: 'limited' }, tally.limited);
    if (beside !== undefined) counter.inc({ ...of, decision: 'would_limit' }, beside.wouldLimit);
  }
}

export function metricsOfMachine({ slug, contracts, head }: Machine, counts: Counts): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name, help, labelNames: ['machine'], registers: [registry] }).set({ machine: slug }, value);
  const decisions = new Counter({
    name: 'weir_machine_decisions_total',
    help: 'Requests that the contracts of the machine decided on since the node started.',
    labelNames: ['machine', 'decision'],
    registers: [registry],
  });
  for (const decision of ['admitted', 'limited'] as const) {
    const sum = contracts.reduce((total, { tally }) => total + tally[decision], 0);
    decisions.inc({ machine: slug, decision }, sum);
  }
  const checked = contracts.flatMap(({ beside }) => beside ?? []);
  const would = checked.reduce((total, { wouldLimit }) => total + wouldLimit, 0);
  if (checked.length > 0) decisions.inc({ machine: slug, decision: 'would_limit' }, would);
  ofNamedContracts(registry, slug, contracts);
  gauge('weir_machine_contracts', 'Contracts of the machine.', contracts.length);
  gauge('weir_machine_record_rows', 'Seq of the last row of its record.', head.seq);
  registry.registerMetric(
    counts.gateSecondsOf(slug).asMetric('weir_machine_gate_seconds', GATE_HELP, { machine: slug }),
  );
  return registry.metrics();
}
