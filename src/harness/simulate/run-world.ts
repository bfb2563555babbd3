// Runs a world to its end: cycle by cycle with a feed, otherwise by the agenda.
import { Observable } from 'rxjs';
import { cycleOf, lastInstantOf, startOf } from '../../core/time/cycle.js';
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
  // A flag: it is read in every cycle, and the getter of a signal is slow.
  let stopped = signal?.aborted === true;
  const stop = () => {
    stopped = true;
  };
  signal?.addEventListener('abort', stop);
  const isStopped = () => stopped;
  if (feed !== undefined) {
    let next = clock.cycle();
    let turn = next + slice;
    let steps = 0;
    let cycle = next;
    const take: Take = (contract, n, _at, cost) => {
      world.decide(contract, n, cycle, undefined, cost);
      steps += 1;
    };
    for (let at = feed.next(next); at !== undefined && !isStopped(); at = feed.next(next)) {
      cycle = feed.isTimed === true ? cycleOf(at, clock.cycleMs) : at;
      if (cycle > lastCycle) break;
      if (cycle >= turn || steps >= stepsPerTurn) {
        await nextTurn();
        if (isStopped()) break;
        turn = Math.max(turn, cycle + slice);
        steps = 0;
      }
      clock.run({ untilMs: feed.isTimed === true ? at : startOf(at, clock.cycleMs) });
      const counts = feed.counts?.(at);
      if (counts === undefined) feed.arrive(at, take);
      else world.decideAll(counts, cycle);
      steps += 1 + (counts?.length ?? 0);
      next = cycle + 1;
    }
  }
  const end = lastInstantOf(lastCycle, clock.cycleMs);
  while (clock.now() < end && !isStopped()) {
    const untilMs = Math.min(end, startOf(clock.cycle() + slice, clock.cycleMs));
    await clock.runAsync({ untilMs, stepsPerTurn, signal });
    await nextTurn();
  }
  signal?.removeEventListener('abort', stop);
  world.end(Math.min(lastCycle, clock.cycle()));
}
