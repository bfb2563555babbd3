// Runs as RxJS operators: requests in, a row per cycle out.
//
//   requests ─► countsByCycle ─► decide(limiter)    ─► CycleRow          replay$ is these two
//                     └────────► rollingWindow(within) ─► WindowCounts   for counts without decisions
//
//   request    |..  .|   . |     |.... |
//   counts     3     1           4                  cycles without requests are left out
//   window 2   3     4     1     4     4            except those in which requests leave
import { from, map, Observable, type ObservableInput, type OperatorFunction } from 'rxjs';
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { type Plan, spanCycles } from '../../core/limiter/plan.js';
import { rateLimiter } from '../../core/limiter/rate-limiter.js';
import { planContract } from '../../core/limiter/validate.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { Failure, firstOf } from '../../core/schema/failure.js';
import { CYCLE_MS, cycleOf, lastInstantOf, startOf } from '../../core/time/cycle.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import { ReorderBuffer } from '../traffic/reorder-buffer.js';
import type { CycleCounts } from '../traffic/requests.js';
import { LogRequests } from './log-requests.js';
import { runBatches } from './run.js';
import { World } from './world.js';

export interface StreamedRequest {
  /** Unix ms (a fraction is cut off), a Date, or a text that `Date.parse` reads, for example ISO 8601 with its zone. */
  readonly at: number | Date | string;
  /** Requests at once, a whole number from 1 to 2^53 - 1. Default: 1. */
  readonly n?: number | undefined;
  /** Cost of each, a whole number from 0, for streams with a `costUnit`. Default: 1. */
  readonly cost?: number | undefined;
  /** Each key has a contract of its own. Default: `all`. */
  readonly key?: string | undefined;
}

export interface CountOptions {
  /** In ms, an integer from 1. Default: 777. */
  readonly cycleMs?: number | undefined;
  /** Largest lag behind the newest request, at least 0; cycles wait as long (Infinity: to the end). Default: 60,000. */
  readonly lateMs?: number | undefined;
  /** Keeps the instants of requests, for rules. Default: false. */
  readonly withInstants?: boolean | undefined;
  /** Rows list each decision of a rule. Default: false. */
  readonly withDecisions?: boolean | undefined;
  /** Unit of costs, as tokens: requests are then counted with costs and instants. Default: each costs 1. */
  readonly costUnit?: string | undefined;
}

/** At the end of a cycle in which requests came or left the window. */
export interface WindowCounts extends CycleCounts {
  /** Requests in the cycles `cycle - within + 1 .. cycle`. */
  readonly counts: Float64Array;
}

/**
 * Counts by cycle and key, in order of cycle, without empty cycles. A cycle is emitted after a request `lateMs` past its end,
 * the rest when the source completes.
 * Errors: Failure `event_too_old` for a request of an emitted cycle, `invalid_input` for an unreadable one.
 */
export function countsByCycle({
  cycleMs = CYCLE_MS,
  lateMs = 60_000,
  costUnit,
  withInstants = costUnit !== undefined,
}: CountOptions = {}): OperatorFunction<StreamedRequest, CycleCounts> {
  checkCycleMs(cycleMs);
  return operator((emit) => {
    const keys: string[] = [];
    const indexes = new Map<string, number>();
    const buffer = new ReorderBuffer({ keys, isTimed: withInstants, hasCosts: costUnit !== undefined });
    let newestMs = Number.NEGATIVE_INFINITY;
    let end = Number.NEGATIVE_INFINITY;
    const emitBefore = (next: number) => {
      end = next;
      for (const counts of buffer.release(cycleMs, withInstants ? startOf(next, cycleMs) : next)) emit(counts);
    };
    return {
      take({ at, n = 1, key = 'all', cost = 1 }: StreamedRequest) {
        const ms = instantOf(at);
        if (!(Number.isSafeInteger(cost) && cost >= 0)) throw unreadable('/cost', 'must be a whole number from 0');
        if (!(Number.isSafeInteger(n) && n >= 1)) throw unreadable('/n', 'must be a whole number from 1');
        const cycle = cycleOf(ms, cycleMs);
        if (cycle < end) throw tooLate(ms, newestMs, lateMs);
        const index = getOrInsert(indexes, key, () => keys.push(key) - 1);
        buffer.add(index, withInstants ? ms : cycle, n, cost);
        if (ms <= newestMs) return;
        newestMs = ms;
        const next = cycleOf(ms - lateMs, cycleMs);
        // False for an infinite delay: its cycle is NaN.
        if (next > end) emitBefore(next);
      },
      end: () => emitBefore(Number.POSITIVE_INFINITY),
    };
  });
}

/** Emits whenever the counts change, until the window is empty. @param within length of the window in cycles, from 1 */
export function rollingWindow(within: number): OperatorFunction<CycleCounts, WindowCounts> {
  if (!(Number.isInteger(within) && within >= 1)) throw unreadable('/within', 'must be a whole number from 1');
  const window = decide(rateLimiter({ threshold: 1_000_000_000, within }), { cycleMs: 1 });
  return (batches) =>
    batches.pipe(
      map(({ cycle, keys, contracts, requests }) => ({ cycle, keys, contracts, requests })),
      window,
      map(({ cycle, run, contracts, requests, counts }) => ({ cycle, keys: run.names, contracts, requests, counts })),
    );
}

/**
 * Decides requests in virtual time, with one contract per key: a row for each cycle in which anything changed, and one for the
 * cycle in which all windows are empty after the source has completed. A rule decides at the `instants`, or at the start of the
 * cycle without them. If the source restarts, so does the run.
 * @throws Failure for a definition that cannot run
 */
export function decide(
  limiter: ContractDefinition | Plan,
  options: DecideOptions = {},
): OperatorFunction<CycleCounts, CycleRow> {
  const played = decideParts(planOf(limiter), options);
  return (batches) =>
    batches.pipe(
      map((batch) => [batch]),
      played,
    );
}

type DecideOptions = Pick<CountOptions, 'cycleMs' | 'costUnit' | 'withDecisions'>;

function decideParts(
  plan: Plan,
  { cycleMs = CYCLE_MS, costUnit, withDecisions }: DecideOptions,
): OperatorFunction<readonly CycleCounts[], CycleRow> {
  checkCycleMs(cycleMs);
  return operator((emit) => {
    let world: World | undefined;
    let known: readonly string[] | undefined;
    let last = 0;
    return {
      take(part: readonly CycleCounts[]) {
        const [{ cycle, keys }, newest] = [part[0]!, part.at(-1)!];
        if (world === undefined || keys !== known)
          world = new World({ cycleMs, firstCycle: cycle, names: [], plan, onRow: emit, costUnit, withDecisions });
        known = keys;
        runBatches(part, world);
        last = newest.cycle;
        // Batches with instants may continue in the same cycle: the next one closes it.
        if (newest.instants === undefined) world.rows.close(last);
      },
      end() {
        if (world === undefined) return;
        last += spanCycles(plan, cycleMs);
        world.clock.run({ untilMs: lastInstantOf(last, cycleMs) });
        world.rows.end(last);
      },
    };
  });
}

/** Each subscription has its own state. What `take` or `end` throws is the error of the stream. */
function operator<In, Out>(
  begin: (emit: (value: Out) => void) => { take(value: In): void; end(): void },
): OperatorFunction<In, Out> {
  return (source) =>
    new Observable((subscriber) => {
      const { take, end } = begin((value) => subscriber.next(value));
      const tried = (body: () => void): void => {
        try {
          body();
        } catch (error) {
          subscriber.error(error);
        }
      };
      return source.subscribe({
        next: (value) => tried(() => take(value)),
        error: (error) => subscriber.error(error),
        complete: () => {
          tried(end);
          subscriber.complete();
        },
      });
    });
}

function planOf(limiter: ContractDefinition | Plan): Plan {
  return 'definition' in Object(limiter) ? (limiter as Plan) : planContract(limiter);
}

/**
 * The rows of `weir replay`. Arrays and logs may be in any order; in other sources a request may be `lateMs` older than the
 * newest, and an older one ends the stream with a Failure. An AsyncIterable is asked for its next request after each count.
 *
 *     replay$(requests, rateLimiter({ threshold: 100, within: 60 })).pipe(filter(({ totals }) => totals.limited > 0))
 *
 * @throws Failure for a definition that cannot run
 */
export function replay$(
  requests: ObservableInput<StreamedRequest> | LogRequests,
  limiter: ContractDefinition | Plan,
  { cycleMs = CYCLE_MS, ...options }: Omit<CountOptions, 'withInstants'> = {},
): Observable<CycleRow> {
  const plan = planOf(limiter);
  if (requests instanceof LogRequests)
    return requests
      .countsByCycle(cycleMs, plan)
      .pipe(decideParts(plan, { ...options, cycleMs, costUnit: requests.costUnit }));
  const lateMs = options.lateMs ?? (Array.isArray(requests) ? Number.POSITIVE_INFINITY : undefined);
  const { costUnit } = options;
  const withInstants = plan.rule !== undefined || costUnit !== undefined;
  return from(requests).pipe(
    countsByCycle({ cycleMs, lateMs, withInstants, costUnit }),
    decide(plan, { ...options, cycleMs, costUnit }),
  );
}

function instantOf(at: StreamedRequest['at']): number {
  const ms = typeof at === 'string' ? Date.parse(at) : at instanceof Date ? at.getTime() : Number(at);
  if (Math.abs(ms) <= 8.64e15) return Math.floor(ms);
  throw unreadable('/at', 'must be unix milliseconds, a Date, or a time as ISO 8601 writes it');
}

function checkCycleMs(cycleMs: number): void {
  if (!(Number.isInteger(cycleMs) && cycleMs >= 1)) throw unreadable('/cycleMs', 'must be a whole number of ms from 1');
}

function unreadable(path: string, message: string): Failure {
  const faults = [{ path, message }];
  return new Failure('invalid_input', { what: 'The stream cannot be counted.', why: firstOf(faults), faults });
}

function tooLate(ms: number, newestMs: number, lateMs: number): Failure {
  return new Failure('event_too_old', {
    what: `The request of ${new Date(ms).toISOString()} was not counted.`,
    why: `A request of ${new Date(newestMs).toISOString()} had come before it, and a stream may be out of order by ${lateMs} ms.`,
    fix: 'Give the requests in order of time, or a larger lateMs; Infinity takes any order.',
  });
}
