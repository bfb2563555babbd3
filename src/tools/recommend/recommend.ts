// Which limit? Reads logs, or requests of a program, once and in order, into a `Sizing`.
import { from, type ObservableInput } from 'rxjs';
import { familyNamed } from '../../core/limiter/products/families.js';
import { Failure } from '../../core/schema/failure.js';
import { cycleMsFor, MOST_WITHIN, parseTime } from '../../core/schema/quantity.js';
import { CYCLE_MS, cycleOf, startOf } from '../../core/time/cycle.js';
import { type CountOptions, countsByCycle, type StreamedRequest } from '../../harness/simulate/stream.js';
import type { LogOptions, Warning } from '../../harness/traffic/log/log-options.js';
import { readInOrder, readLogs } from '../../harness/traffic/log/read.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import { LogOrder } from '../../harness/traffic/log-order.js';
import type { CycleCounts } from '../../harness/traffic/requests.js';
import { type Advice, type AdviceOptions, adviceOf } from './advice.js';
import { familyLadder, fitLadder, type LadderPlan, RuleLadder, rungFor } from './rule-ladder.js';
import { Sizing } from './sizing.js';

export interface LogAdviceOptions extends Omit<AdviceOptions, 'isKeyed'> {
  readonly windowCycles: readonly number[];
  readonly rules?: readonly LadderPlan[] | undefined;
  readonly log: LogOptions;
  readonly signal?: AbortSignal | undefined;
  /** Progress in bytes; `total` is undefined if unknown. */
  readonly onRead?: ((done: number, total: number | undefined) => void) | undefined;
}

export interface LogAdvice {
  readonly advice: Advice;
  readonly sizing: Sizing;
  readonly names: readonly string[];
  readonly readings: readonly LogReading[];
  readonly warnings: readonly Warning[];
  readonly partial: boolean;
}

/** @throws Failure of the log readers, `no_requests` */
export function adviceOfLogs(paths: readonly string[], options: LogAdviceOptions): Promise<LogAdvice> {
  return readInOrder(paths, (mostRows) => readOnce(paths, options, mostRows));
}

async function readOnce(paths: readonly string[], options: LogAdviceOptions, mostRows: number): Promise<LogAdvice> {
  const { cycleMs, windowCycles, shares, rules = [], log, signal, onRead } = options;
  const sizing = new Sizing(windowCycles, shares, rules);
  const hasRules = rules.length > 0;
  /** The other rules if all requests of a second arrived at its start. */
  const bunched = rules.map((plan) => new RuleLadder(plan));
  const hasCosts = log.cost !== undefined;
  const isTimed = hasRules || hasCosts;
  const timed = isTimed ? new TimedCycles(sizing, cycleMs) : undefined;
  const run = (batches: Iterable<CycleCounts>) => {
    for (const { cycle, contracts, requests, instants, costs } of batches)
      for (const [k, key] of contracts.entries()) {
        const [n, ms] = [requests[k]!, instants?.[k]];
        if (timed === undefined || ms === undefined) sizing.add(key, n, cycle);
        else timed.add(key, n, ms, order.readMs(ms), costs?.[k]);
      }
  };
  const isKeyed = log.keyColumn !== undefined;
  const order = new LogOrder({
    cycleMs,
    isTimed,
    mostRows,
    hasCosts,
    isOne: !isKeyed,
    decidesByMs: hasRules,
    asRead: (key, n, ms, cost) => {
      for (const ladder of bunched) ladder.add(key, n, ms, cost);
    },
    run,
  });
  const readings = await readLogs(paths, log, order, { signal, onProgress: onRead });
  run(order.end());
  timed?.end();
  const read = readings.filter(({ requests }) => requests > 0);
  const firstMs = Math.min(...read.map((reading) => reading.firstMs ?? Number.POSITIVE_INFINITY));
  const lastMs = Math.max(...read.map((reading) => reading.lastMs ?? Number.NEGATIVE_INFINITY));
  const advice = adviceOf(sizing, order.names, [firstMs, lastMs], { ...options, isKeyed, unit: log.cost?.unit });
  return {
    advice,
    sizing,
    names: order.names,
    readings,
    warnings: order.isSpread ? order.warnings(bunchedWords(advice, bunchedValues(sizing, bunched, shares))) : [],
    partial: readings.some(({ interrupted }) => interrupted) || readings.length < paths.length,
  };
}

function bunchedValues(sizing: Sizing, ladders: readonly RuleLadder[], shares: readonly number[]) {
  const tuned = sizing.tuned().ladders;
  return ladders.flatMap((ladder, index) => {
    const { suspects, requests } = tuned[index]!;
    const limited = ladder.limited(suspects);
    return shares.map((share) => ladder.plan.rungs[rungFor(limited, share, requests) ?? -1]?.value ?? null);
  });
}

function bunchedWords({ fitted }: Advice, values: readonly (number | string | null)[]): string {
  const limits = fitted.flatMap(({ rule, within, limited_below, value }, index) => {
    if (value === (values[index] ?? null)) return [];
    const window = within === null ? '' : ` in ${within} cycles`;
    return [
      `${rule}${window} for ${100 * limited_below} % needs ${value ?? 'more than was tried'} so, and ${values[index] ?? 'more than was tried'}`,
    ];
  });
  if (limits.length === 0) return 'If all of a second came at its beginning, the limits would be the same.';
  const others = limits.length === fitted.length ? '' : ' The other limits would be the same.';
  return `${limits.join('; ')} if all of a second came at its beginning.${others}`;
}

class TimedCycles {
  #cycle = Number.NEGATIVE_INFINITY;
  readonly #ofKeys = new Map<number, number>();
  readonly #requests: (readonly [key: number, n: number, ms: number, cost: number | undefined])[] = [];

  constructor(
    readonly sizing: Sizing,
    readonly cycleMs: number,
  ) {}

  /** @param readMs the time in the log, by which windows count. Default: `ms` */
  add(key: number, n: number, ms: number, readMs = ms, cost?: number): void {
    const cycle = cycleOf(readMs, this.cycleMs);
    if (cycle !== this.#cycle) {
      this.end();
      this.#cycle = cycle;
    }
    if (cost === undefined) this.#ofKeys.set(key, (this.#ofKeys.get(key) ?? 0) + n);
    else for (let k = 0; k < n; k += 1) this.sizing.add(key, 1, cycle, cost);
    this.#requests.push([key, n, ms, cost]);
  }

  end(): void {
    for (const [key, n] of this.#ofKeys) this.sizing.add(key, n, this.#cycle);
    // After all requests of the cycle are in the sizing.
    for (const request of this.#requests) for (const ladder of this.sizing.ladders) ladder.add(...request);
    this.#ofKeys.clear();
    this.#requests.length = 0;
  }
}

export interface RecommendOptions extends Omit<CountOptions, 'withInstants'> {
  /** Limit less than this share of requests, 0 to 1; an array asks for several limits. Default: 0.001. */
  readonly limitedBelow?: number | readonly number[] | undefined;
  /** Window lengths: cycles, or texts such as `47s`. Default: `60s`. */
  readonly within?: number | string | readonly (number | string)[] | undefined;
  /** Names of other rules to fit in the same windows: `gcra`, `fixed`, `nginx`, … Default: none. */
  readonly compare?: readonly string[] | undefined;
  readonly fit?:
    | {
        readonly limiter: Readonly<Record<string, unknown>>;
        /** The parameter, with values from strict to loose: `rate=1r/s..50r/s:1r/s`. */
        readonly values: string;
      }
    | undefined;
}

/**
 * For every window length, finds the smallest threshold that limits less than the target share, and the whole curve of shares.
 * Accepts the requests of `replay$`. Keys with far more requests than any other are listed as suspects; thresholds ignore them.
 *
 *     const { recommendations } = await recommend(requests, { limitedBelow: 0.001, within: ['60s', '5m'] });
 *     const { fitted } = await recommend(requests, { compare: ['gcra', 'nginx'] });
 *
 * @throws Failure `invalid_input` for an invalid option or request, `wrong_usage` for an unknown rule or values that
 * cannot be tried, `no_requests`, `event_too_old`
 */
export async function recommend(
  requests: ObservableInput<StreamedRequest>,
  { limitedBelow = 0.001, within = '60s', compare = [], fit, ...options }: RecommendOptions = {},
): Promise<Advice> {
  const cycleMs = options.cycleMs ?? cycleMsFor([within].flat() as (number | string)[], CYCLE_MS);
  const shares = [limitedBelow].flat();
  for (const share of shares) if (!(share >= 0 && share <= 1)) throw refused('limitedBelow', 'must be from 0 to 1');
  const windowCycles = ([within].flat() as (number | string)[]).map((text) => parseTime(text, cycleMs, '/within', 1));
  for (const one of windowCycles)
    if (one > MOST_WITHIN) throw refused('within', `must be at most ${MOST_WITHIN} cycles`);
  const ladders = compare
    .map(familyNamed)
    .flatMap((name) => windowCycles.map((one) => familyLadder(name, one, cycleMs)));
  if (fit !== undefined) ladders.push(fitLadder(fit.limiter, fit.values, cycleMs));
  const timed = new TimedCycles(new Sizing(windowCycles, shares, ladders), cycleMs);
  let [names, first, last]: [readonly string[], number, number] = [[], Number.POSITIVE_INFINITY, 0];
  const lateMs = options.lateMs ?? (Array.isArray(requests) ? Number.POSITIVE_INFINITY : undefined);
  const counts = countsByCycle({ cycleMs, lateMs, withInstants: ladders.length > 0 });
  await from(requests)
    .pipe(counts)
    .forEach(({ cycle, keys, contracts, requests, instants }) => {
      names = keys;
      last = startOf(cycle, cycleMs);
      first = Math.min(first, last);
      const order = [...contracts.keys()];
      if (instants !== undefined) order.sort((a, b) => instants[a]! - instants[b]! || contracts[a]! - contracts[b]!);
      for (const index of order) timed.add(contracts[index]!, requests[index]!, instants?.[index] ?? last);
    });
  timed.end();
  if (first === Number.POSITIVE_INFINITY)
    throw new Failure('no_requests', { what: 'There is no request to size a limit on.' });
  const isKeyed = names.some((name) => name !== 'all');
  return adviceOf(timed.sizing, names, [first, last], { cycleMs, shares, isKeyed });
}

function refused(path: string, message: string): Failure {
  const what = 'No limit can be recommended.';
  return new Failure('invalid_input', { what, why: `${path} ${message}.`, faults: [{ path: `/${path}`, message }] });
}
