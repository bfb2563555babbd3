// Letting a world run to its end: cycle by cycle where a feed says how many requests come, by the agenda where clients send them;
// with progress on the way, and a stop that leaves what was done.
import type { Observable, Subscriber } from 'rxjs';
import type { CycleRow } from '../outcome/cycle-row.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { GuardedObservable, warn } from '../time/guarded.js';
import { nextTurn } from '../time/next-turn.js';
import type { Feed } from './feed.js';
import type { World } from './world.js';

export interface Watch {
  /** Ends the run early; what was done so far stands. */
  readonly signal?: AbortSignal | undefined;
  /** Called now and then: cycles done, and cycles in all where that is known. */
  readonly onProgress?: ((cycle: number, lastCycle: number) => void) | undefined;
  /** The run is cut into so many slices; after each, progress is reported and signals are heard. Default: 1,024. */
  readonly slices?: number | undefined;
  /** Within a slice signals are heard as often as this, by steps of the agenda or contracts with requests. Default: 20,000. */
  readonly stepsPerTurn?: number | undefined;
}

const SLICES = 1024;
const STEPS_PER_TURN = 20_000;

/** A hundredth of a millisecond; where doubles lie wider apart, far from 1970, the last one but one before the next cycle. */
const EDGE_MS = 0.01;
const EDGE_SHARE = 2 ** -52;

/** Just before the next cycle begins, in unix ms: the last instant at which something can happen in a cycle. */
export function lastInstantOf(cycle: number, cycleMs: number): number {
  const next = startOf(cycle + 1, cycleMs);
  return next - Math.max(EDGE_MS, Math.abs(next) * EDGE_SHARE);
}

/**
 * The rows of a run that begins when it is subscribed to and is stopped by unsubscribing. What an observer throws is a warning of the
 * process, and the run goes on.
 */
export function rowsOfRun(
  run: (subscriber: Subscriber<CycleRow>, signal: AbortSignal) => Promise<void>,
): Observable<CycleRow> {
  return new GuardedObservable<CycleRow>(warn, (subscriber) => {
    const stop = new AbortController();
    run(subscriber, stop.signal).then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => stop.abort();
  });
}

/**
 * Lets time pass up to the beginning of a cycle, or to an instant, and its requests reach the contracts. Returns how many contracts had
 * some.
 * @param at the cycle; of a timed feed the instant, in unix ms
 */
export function arriveIn(world: World, feed: Feed, at: number): number {
  const { clock } = world;
  const cycle = cycleFor(feed, at, clock.cycleMs);
  clock.run({ untilMs: feed.isTimed === true ? at : startOf(at, clock.cycleMs) });
  let contracts = 0;
  feed.arrive(at, (contract, n) => {
    world.decide(contract, n, cycle);
    contracts += 1;
  });
  return contracts;
}

function cycleFor(feed: Feed, at: number, cycleMs: number): number {
  return feed.isTimed === true ? cycleOf(at, cycleMs) : at;
}

/**
 * Runs a world from its present cycle up to the end of `lastCycle`.
 * @param feed where requests come from; undefined where tasks of the agenda bring them
 * @returns false when it was stopped before
 */
export async function drive(world: World, lastCycle: number, watch: Watch, feed?: Feed): Promise<boolean> {
  const { signal, onProgress, slices = SLICES, stepsPerTurn = STEPS_PER_TURN } = watch;
  const { clock } = world;
  const slice = Math.max(1, Math.ceil((lastCycle + 1 - clock.cycle()) / slices));
  if (feed !== undefined && !(await feedIn(world, feed, lastCycle, slice, watch))) return stopped(world);
  const end = lastInstantOf(lastCycle, clock.cycleMs);
  while (clock.now() < end) {
    const ending = await clock.runAsync({
      untilMs: Math.min(end, startOf(clock.cycle() + slice, clock.cycleMs)),
      stepsPerTurn,
      signal,
    });
    if (ending === 'stopped') return stopped(world);
    onProgress?.(clock.cycle(), lastCycle);
    await nextTurn();
  }
  world.finish(lastCycle);
  return true;
}

/** @returns false when it was stopped before the feed came to its end, or to `lastCycle` */
async function feedIn(world: World, feed: Feed, lastCycle: number, slice: number, watch: Watch): Promise<boolean> {
  const { signal, onProgress, stepsPerTurn = STEPS_PER_TURN } = watch;
  const isStopped = () => signal?.aborted === true;
  if (isStopped()) return false;
  let next = world.clock.cycle();
  let turn = next + slice;
  let steps = 0;
  for (let at = feed.next(next); at !== undefined; at = feed.next(next)) {
    const cycle = cycleFor(feed, at, world.clock.cycleMs);
    if (cycle > lastCycle) break;
    if (cycle >= turn || steps >= stepsPerTurn) {
      if (cycle >= turn) onProgress?.(world.clock.cycle(), lastCycle);
      await nextTurn();
      if (isStopped()) return false;
      turn = Math.max(turn, cycle + slice);
      steps = 0;
    }
    steps += 1 + arriveIn(world, feed, at);
    next = cycle + 1;
  }
  return !isStopped();
}

function stopped(world: World): false {
  world.finish(world.clock.cycle());
  return false;
}
