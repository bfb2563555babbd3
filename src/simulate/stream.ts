// A run as RxJS operators, for streams of your own: requests in, a row for each cycle out.
//
//   requests ─► countsByCycle ─► decide(definition) ─► CycleRow          replay$ is these two
//                     └────────► rollingWindow(within) ─► WindowCounts   where only the counts are wanted
//
//   request    |..  .|   . |     |.... |
//   counts     3     1           4                  cycles without requests are left out
//   window 2   3     4     1     4     4            and those in which requests leave are not
import { from, Observable, type ObservableInput, type OperatorFunction } from 'rxjs';
import type { ContractDefinition } from '../limiter/definition.js';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import { type CycleRow, RowBuilder } from '../outcome/cycle-row.js';
import { Failure } from '../schema/failure.js';
import { CYCLE_MS, cycleOf, startOf } from '../time/cycle.js';
import { GuardedObservable, warn } from '../time/guarded.js';
import { lastInstantOf } from './drive.js';
import { World } from './world.js';

/** A request of a stream. */
export interface StreamedRequest {
  /** When: unix ms (a fraction is cut off), a Date, or a text that `Date.parse` reads, for example ISO 8601 with its zone. */
  readonly at: number | Date | string;
  /** How many requests at once, a whole number from 1 to 2^53 - 1. Default: 1. */
  readonly n?: number | undefined;
  /** Whose: each key has a contract of its own. Default: `all`. */
  readonly key?: string | undefined;
}

/** The requests of one cycle, by key. */
export interface CycleCounts {
  readonly cycle: number;
  /** All keys so far, in the order in which they came. The same array in every emission; it grows. */
  readonly keys: readonly string[];
  /** Indexes into `keys`, ascending; `requests` has one value for each. */
  readonly contracts: Uint32Array;
  readonly requests: Float64Array;
}

/** Counts over a rolling window, at the end of a cycle in which requests came or left. */
export interface WindowCounts extends CycleCounts {
  /** Requests in the cycles `cycle - within + 1 .. cycle`. */
  readonly counts: Float64Array;
}

export interface CountOptions {
  /** Length of a cycle in ms, an integer from 1. Default: 777. */
  readonly cycleMs?: number | undefined;
  /**
   * How much older than the newest request a request may be, in ms, at least 0: so long a cycle is held back. Infinity holds
   * everything back until the source completes. Default: 60,000.
   */
  readonly lateMs?: number | undefined;
}

/**
 * Counts requests by cycle and key, in order of cycle; cycles without requests are left out. A cycle is emitted once a request has come
 * that is `lateMs` younger than its end, the rest when the source completes.
 * Errors: Failure `event_too_old` for a request of a cycle that was emitted already, `invalid_input` for one that cannot be read.
 */
export function countsByCycle({
  cycleMs = CYCLE_MS,
  lateMs = 60_000,
}: CountOptions = {}): OperatorFunction<StreamedRequest, CycleCounts> {
  checkCycleMs(cycleMs);
  return (source) =>
    new Observable((subscriber) => {
      const keys: string[] = [];
      const indexes = new Map<string, number>();
      /** Counts by cycle, then key. */
      const held = new Map<number, Map<number, number>>();
      let newestMs = Number.NEGATIVE_INFINITY;
      /** Cycles before were emitted. */
      let end = Number.NEGATIVE_INFINITY;
      const emitBefore = (next: number) => {
        end = next;
        const complete = [...held.keys()].filter((cycle) => cycle < next).sort((a, b) => a - b);
        for (const cycle of complete) {
          const counts = held.get(cycle)!;
          held.delete(cycle);
          const contracts = Uint32Array.from(counts.keys()).sort();
          const requests = Float64Array.from(contracts, (contract) => counts.get(contract)!);
          subscriber.next({ cycle, keys, contracts, requests });
        }
      };
      const count = ({ at, n = 1, key = 'all' }: StreamedRequest) => {
        const ms = instantOf(at);
        if (!(Number.isSafeInteger(n) && n >= 1)) throw unreadable('/n', 'must be a whole number from 1');
        const cycle = cycleOf(ms, cycleMs);
        if (cycle < end) throw tooLate(ms, newestMs, lateMs);
        let index = indexes.get(key);
        if (index === undefined) {
          index = keys.push(key) - 1;
          indexes.set(key, index);
        }
        let counts = held.get(cycle);
        if (counts === undefined) {
          counts = new Map();
          held.set(cycle, counts);
        }
        counts.set(index, (counts.get(index) ?? 0) + n);
        if (ms <= newestMs) return;
        newestMs = ms;
        const next = cycleOf(ms - lateMs, cycleMs);
        // Not so with an infinite delay, of which the cycle is NaN.
        if (next > end) emitBefore(next);
      };
      return source.subscribe({
        next: (request) => {
          try {
            count(request);
          } catch (error) {
            subscriber.error(error);
          }
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          emitBefore(Number.POSITIVE_INFINITY);
          subscriber.complete();
        },
      });
    });
}

/**
 * The counts over the last `within` cycles, whenever they change: also in cycles in which requests only leave the window, and at the
 * end until all have left.
 * @param within length of the window in cycles, an integer from 1
 */
export function rollingWindow(within: number): OperatorFunction<CycleCounts, WindowCounts> {
  if (!(Number.isInteger(within) && within >= 1)) throw unreadable('/within', 'must be a whole number from 1');
  return (source) =>
    new Observable((subscriber) => {
      const pending: CycleCounts[] = [];
      let keys: readonly string[] = [];
      const builder = new RowBuilder({
        names: [],
        states: [{ name: 'open', admits: true }],
        initial: 0,
        threshold: null,
        within,
      });
      const close = (cycle: number) => {
        if (builder.isEmpty) return;
        const { contracts, requests, counts } = builder.take(cycle);
        subscriber.next({ cycle, keys, contracts, requests, counts });
      };
      const leave = (upTo: number) => {
        for (let [first] = pending; first !== undefined && first.cycle + within <= upTo; [first] = pending) {
          pending.shift();
          first.contracts.forEach((contract, index) => {
            builder.left(contract, first.requests[index]!);
          });
          if (first.cycle + within < upTo) close(first.cycle + within);
        }
      };
      return source.subscribe({
        next: (given) => {
          keys = given.keys;
          leave(given.cycle);
          given.contracts.forEach((contract, index) => {
            builder.requested(contract, given.requests[index]!, given.requests[index]!);
          });
          pending.push(given);
          close(given.cycle);
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          leave(Number.POSITIVE_INFINITY);
          subscriber.complete();
        },
      });
    });
}

/**
 * Decides requests as the contracts of a definition do, one contract for each key, in virtual time: a row for each cycle in which
 * anything changed. When the source completes, the windows are drained. A rule is asked at the beginning of the cycle: `replay$` gives it
 * the ms.
 * @throws Failure for a definition that cannot run
 */
export function decide(
  definition: ContractDefinition,
  { cycleMs = CYCLE_MS }: Pick<CountOptions, 'cycleMs'> = {},
): OperatorFunction<CycleCounts, CycleRow> {
  checkCycleMs(cycleMs);
  return decideBy(planContract(definition), cycleMs, cycleMs);
}

/** @param unitMs what the counts call a cycle, in ms: a divisor of the cycle */
function decideBy(plan: Plan, cycleMs: number, unitMs: number): OperatorFunction<CycleCounts, CycleRow> {
  const longest = spanCycles(plan, cycleMs);
  return (source) =>
    new Observable((subscriber) => {
      let world: World | undefined;
      let last = 0;
      const begin = (firstCycle: number) => {
        const begun = new World({ cycleMs, firstCycle, names: [], plan });
        begun.rows.subscribe((row) => subscriber.next(row));
        return begun;
      };
      const take = ({ cycle: unit, keys, contracts, requests }: CycleCounts) => {
        const ms = startOf(unit, unitMs);
        const cycle = cycleOf(ms, cycleMs);
        world ??= begin(cycle);
        world.clock.run({ untilMs: ms });
        for (let index = world.names.length; index < keys.length; index += 1) world.add(keys[index]!);
        for (let index = 0; index < contracts.length; index += 1)
          world.decide(contracts[index]!, requests[index]!, cycle);
        if (unitMs === cycleMs) world.finish(cycle);
        world.check();
        last = cycle;
      };
      const drain = () => {
        if (world === undefined) return;
        world.clock.run({ untilMs: lastInstantOf(last + longest, cycleMs) });
        world.finish(last + longest);
        world.check();
      };
      const trying = (body: () => void) => {
        try {
          body();
          return true;
        } catch (error) {
          subscriber.error(error);
          return false;
        }
      };
      return source.subscribe({
        next: (counts) => void trying(() => take(counts)),
        error: (error) => subscriber.error(error),
        complete: () => {
          if (trying(drain)) subscriber.complete();
        },
      });
    });
}

/**
 * What a limiter does with requests of your own: the rows that `weir replay` makes its outcome of. An array may be in any order; of
 * other sources a request may be `lateMs` older than the newest, and one that is older ends the stream with a Failure. An AsyncIterable
 * is asked for the next request when the one before has been counted. What an observer throws is a warning of the process.
 *
 *     replay$(requests, rateLimiter({ threshold: 100, within: 60 })).pipe(filter(({ totals }) => totals.limited > 0))
 *
 * @throws Failure for a definition that cannot run
 */
export function replay$(
  requests: ObservableInput<StreamedRequest>,
  definition: ContractDefinition,
  options: CountOptions = {},
): Observable<CycleRow> {
  const lateMs = options.lateMs ?? (Array.isArray(requests) ? Number.POSITIVE_INFINITY : undefined);
  const { cycleMs = CYCLE_MS } = options;
  checkCycleMs(cycleMs);
  const plan = planContract(definition);
  const unitMs = plan.rule === undefined ? cycleMs : 1;
  const counts = countsByCycle({ ...options, lateMs, cycleMs: unitMs });
  const rows = from(requests).pipe(counts, decideBy(plan, cycleMs, unitMs));
  return new GuardedObservable(warn, (subscriber) => rows.subscribe(subscriber));
}

function instantOf(at: StreamedRequest['at']): number {
  const ms = typeof at === 'number' ? at : typeof at === 'string' ? Date.parse(at) : at.getTime();
  if (Math.abs(ms) <= 8.64e15) return Math.floor(ms);
  throw unreadable('/at', 'must be unix milliseconds, a Date, or a time as ISO 8601 writes it');
}

function checkCycleMs(cycleMs: number): void {
  if (!(Number.isInteger(cycleMs) && cycleMs >= 1)) throw unreadable('/cycleMs', 'must be a whole number of ms from 1');
}

function unreadable(path: string, message: string): Failure {
  return new Failure('invalid_input', { what: 'The stream cannot be counted.', faults: [{ path, message }] });
}

function tooLate(ms: number, newestMs: number, lateMs: number): Failure {
  return new Failure('event_too_old', {
    what: `The request of ${new Date(ms).toISOString()} was not counted.`,
    why: `A request of ${new Date(newestMs).toISOString()} had come before it, and a stream may be out of order by ${lateMs} ms.`,
    fix: 'Give the requests in order of time, or a larger lateMs; Infinity takes any order.',
  });
}
