// Runs a world to its end. Without clients, requests come by a pipeline, which ticks only where there are any:
//
//   cycles(clock) ─► requestsOf(feed) ─► decideIn(world) ─► rows, as cycles close
//
// With clients the agenda steps from instant to instant.
import { map, Observable, type OperatorFunction } from 'rxjs';
import { lastInstantOf, startOf } from '../../core/time/cycle.js';
import { type CycleTick, cycles } from '../../core/time/cycles.js';
import { nextTurn } from '../../core/time/next-turn.js';
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import type { Feed, Take } from './feed.js';
import type { World } from './world.js';

export interface DriveOptions {
  readonly signal?: AbortSignal | undefined;
  /** Turns of the event loop per run, in which signals arrive. Default: 1,024. */
  readonly slices?: number | undefined;
  /** Another turn comes after this many agenda steps or contracts. Default: 20,000. */
  readonly stepsPerTurn?: number | undefined;
}

export interface Drivable {
  readonly world: Pick<World, 'clock' | 'decide' | 'decideAll' | 'end'>;
  readonly lastCycle: number;
  readonly feed: Feed | undefined;
}

const SLICES = 1024;
const STEPS_PER_TURN = 20_000;

/** Each subscription is a run of its own; unsubscribing ends it. `begin` prepares a run that passes rows to `onRow`. */
export function rowsOf<Run extends RunShape>(
  begin: (onRow: (row: CycleRow<Run>) => void) => Promise<Drivable>,
  { signal, ...pace }: DriveOptions,
): Observable<CycleRow<Run>> {
  return new Observable((subscriber) => {
    const left = new AbortController();
    const stop = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
    const run = async () => {
      const { world, lastCycle, feed } = await begin((row) => subscriber.next(row));
      await runWorld(world, lastCycle, { ...pace, signal: stop }, feed);
    };
    run().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => left.abort();
  });
}

/** From the present cycle to the end of `lastCycle`, or until it is stopped. The last cycle has a row. */
export async function runWorld(
  world: Drivable['world'],
  lastCycle: number,
  options: DriveOptions,
  feed?: Feed,
): Promise<void> {
  const { signal, slices = SLICES, stepsPerTurn = STEPS_PER_TURN } = options;
  const { clock } = world;
  const slice = Math.max(1, Math.ceil((lastCycle + 1 - clock.cycle()) / slices));
  const run: { failed?: { readonly error: unknown } } = {};
  if (feed !== undefined)
    cycles(clock, { from: clock.cycle(), due: dueOf(feed, clock) })
      .pipe(requestsOf(feed, clock), decideIn(world, stepsPerTurn))
      .subscribe({ error: (error: unknown) => (run.failed = { error }) });
  const end = lastInstantOf(lastCycle, clock.cycleMs);
  while (clock.now() < end && run.failed === undefined && signal?.aborted !== true) {
    const untilMs = Math.min(end, startOf(clock.cycle() + slice, clock.cycleMs));
    await clock.runAsync({ untilMs, stepsPerTurn, signal });
    await nextTurn();
  }
  if (run.failed !== undefined) throw run.failed.error;
  world.end(Math.min(lastCycle, clock.cycle()));
}

/** The instants at which a feed has requests. */
function dueOf(feed: Feed, { cycleMs }: Pick<World['clock'], 'cycleMs'>) {
  return (cycle: number): number | undefined => {
    const at = feed.next(cycle);
    return at === undefined || feed.isTimed === true ? at : startOf(at, cycleMs);
  };
}

interface Requests {
  readonly cycle: number;
  /** By contract; undefined for requests that come one by one. */
  readonly counts: Float64Array | undefined;
  each(take: Take): void;
}

function requestsOf(feed: Feed, clock: Pick<World['clock'], 'now'>): OperatorFunction<CycleTick, Requests> {
  return map(({ cycle }) => {
    const at = feed.isTimed === true ? clock.now() : cycle;
    return { cycle, counts: feed.counts?.(at), each: (take) => feed.arrive(at, take) };
  });
}

/** Stops the clock for a turn of the event loop after this many contracts. */
function decideIn(world: Drivable['world'], contractsPerTurn: number): OperatorFunction<Requests, void> {
  let decided = 0;
  return map(({ cycle, counts, each }) => {
    if (counts !== undefined) world.decideAll(counts, cycle);
    else each((contract, n, _at, cost) => world.decide(contract, n, cycle, undefined, cost));
    decided += 1 + (counts?.length ?? 0);
    if (decided >= contractsPerTurn) world.clock.stop();
    decided %= contractsPerTurn;
  });
}
