// A run as RxJS operators, for streams of your own: requests in, a row for each cycle out.
//
//   requests ─► countsByCycle ─► decide(definition) ─► CycleRow          replay$ is these two
//                     └────────► rollingWindow(within) ─► WindowCounts   where only the counts are wanted
//
//   request    |..  .|   . |     |.... |
//   counts     3     1           4                  cycles without requests are left out
//   window 2   3     4     1     4     4            and those in which requests leave are not
import { from, map, Observable, type ObservableInput, type OperatorFunction, pipe } from 'rxjs';
import type { ContractDefinition } from '../limiter/definition.js';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { planContract } from '../limiter/validate.js';
import { type CycleRow, RowBuilder } from '../outcome/cycle-row.js';
import { CYCLE_MS, cycleOf, startOf } from '../time/cycle.js';
import { GuardedObservable, warn } from '../time/guarded.js';
import { byCycle, type CountOptions, checkCycleMs, type StreamedRequest, unreadable } from './by-cycle.js';
import { lastInstantOf } from './drive.js';
import { World } from './world.js';

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

/**
 * Counts requests by cycle and key, in order of cycle; cycles without requests are left out. A cycle is emitted once a request has come
 * that is `lateMs` younger than its end, the rest when the source completes.
 * Errors: Failure `event_too_old` for a request of a cycle that was emitted already, `invalid_input` for one that cannot be read.
 */
export function countsByCycle(options: CountOptions = {}): OperatorFunction<StreamedRequest, CycleCounts> {
  const gather = byCycle(
    options,
    () => new Map<number, number>(),
    (counts, contract, n) => counts.set(contract, (counts.get(contract) ?? 0) + n),
  );
  return pipe(
    gather,
    map(({ cycle, keys, held }) => {
      const contracts = Uint32Array.from(held.keys()).sort();
      return { cycle, keys, contracts, requests: Float64Array.from(contracts, (contract) => held.get(contract)!) };
    }),
  );
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
        last = cycle;
      };
      const drain = () => {
        if (world === undefined) return;
        world.clock.run({ untilMs: lastInstantOf(last + longest, cycleMs) });
        world.finish(last + longest);
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
