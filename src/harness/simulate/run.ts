// Runs in virtual time: simulations, replays, and the model of a load. The scheduler ticks only where requests come:
//
//   arrivalsOf(batches) ─► decide(limiter) ─► rows, as cycles close
//
// Clients that react arrive by the same ticks; then the agenda steps from instant to instant.
import { map, Observable, type OperatorFunction } from 'rxjs';
import type { Clock } from '../../core/time/clock.js';
import { lastInstantOf, startOf } from '../../core/time/cycle.js';
import { cycles } from '../../core/time/cycles.js';
import { nextTurn } from '../../core/time/next-turn.js';
import type { VirtualClock } from '../../core/time/virtual.js';
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import type { CycleCounts } from '../traffic/requests.js';
import type { World } from './world.js';

/** A signal is heard after this many agenda steps or entries of batches: within some 20 ms. */
const STEPS_PER_TURN = 20_000;

export interface Limiter {
  readonly clock: VirtualClock;
  /** Now, or each request at its instant. */
  decide(batch: CycleCounts): void;
}

/** Stops the clock for a turn of the event loop after `STEPS_PER_TURN` entries. */
function decide(limiter: Limiter): OperatorFunction<CycleCounts, void> {
  let entries = 0;
  return map((batch) => {
    limiter.decide(batch);
    entries += 1 + batch.contracts.length;
    if (entries >= STEPS_PER_TURN) limiter.clock.stop();
    entries %= STEPS_PER_TURN;
  });
}

/** Each batch as its cycle begins. The scheduler asks for the next. */
export function arrivalsOf(batches: Iterable<CycleCounts>, clock: Clock): Observable<CycleCounts> {
  const coming = batches[Symbol.iterator]();
  let next: CycleCounts | undefined;
  const due = () => {
    const { done, value } = coming.next();
    next = done === true ? undefined : value;
    return next && startOf(next.cycle, clock.cycleMs);
  };
  return cycles(clock, { due }).pipe(map(() => next!));
}

interface Progress {
  isOpen: boolean;
  failed?: { readonly error: unknown };
}

/** The clock stops after the last batch. */
function scheduled(batches: Iterable<CycleCounts>, limiter: Limiter): Progress {
  const { clock } = limiter;
  const progress: Progress = { isOpen: true };
  const end = () => {
    progress.isOpen = false;
    clock.stop();
  };
  arrivalsOf(batches, clock)
    .pipe(decide(limiter))
    .subscribe({
      complete: end,
      error(error: unknown) {
        progress.failed = { error };
        end();
      },
    });
  return progress;
}

/** To the cycle of the last batch, in this turn of the event loop. More may follow. */
export function runBatches(batches: Iterable<CycleCounts>, limiter: Limiter): void {
  const progress = scheduled(batches, limiter);
  while (progress.isOpen) limiter.clock.run();
  if (progress.failed !== undefined) throw progress.failed.error;
}

export interface Drivable {
  readonly world: World;
  /** Default: the world. */
  readonly limiter?: Limiter | undefined;
  readonly lastCycle: number;
  /** None with clients. */
  readonly batches: Iterable<CycleCounts>;
}

/** To the end of `lastCycle`, or until it is stopped. The last cycle has a row. */
export async function runToEnd(
  { world, limiter = world, lastCycle, batches }: Drivable,
  signal?: AbortSignal,
): Promise<void> {
  const { clock } = world;
  const progress = scheduled(batches, limiter);
  const untilMs = lastInstantOf(lastCycle, clock.cycleMs);
  while (clock.now() < untilMs && progress.failed === undefined && signal?.aborted !== true) {
    await clock.runAsync({ untilMs, stepsPerTurn: STEPS_PER_TURN, signal });
    await nextTurn();
  }
  if (progress.failed !== undefined) throw progress.failed.error;
  world.rows.end(Math.min(lastCycle, clock.cycle()));
}

/** `begin` prepares a run that passes rows to `onRow`. */
export function rowsOf<Run extends RunShape>(
  begin: (onRow: (row: CycleRow<Run>) => void) => Promise<Drivable>,
  signal?: AbortSignal,
): Observable<CycleRow<Run>> {
  return streamed(async (next, stop) => runToEnd(await begin(next), stop), signal);
}

/** Each subscription is a run of its own; unsubscribing stops it, as the signal does. */
export function streamed<T>(
  run: (next: (value: T) => void, stop: AbortSignal) => Promise<void>,
  signal?: AbortSignal,
): Observable<T> {
  return new Observable((subscriber) => {
    const left = new AbortController();
    const stop = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
    run((value) => subscriber.next(value), stop).then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => left.abort();
  });
}
