// Owns finding out what time it is at a node, and a clock of ours that tells the node's time from then on. Leaves waiting to clock/.
//
//   ours    s ────────────── r         GET /api/clock: asked at s, answered at r, both by our monotonic clock
//               \        /
//   node         x: 12.5 ms to go      somewhere between s and r: at the middle, give or take half the round trip
//
// The fastest of several round trips is the one that says most. Our clock runs on from there at the rate of our monotonic
// clock: nobody who sets the time of day of this machine moves the run.

import { startOf } from '../time/cycle.js';
import { WallClock, type WallOptions } from '../time/wall.js';
import type { Endpoint } from './endpoint.js';
import { unreadable, type Wire } from './http-pool.js';

export interface NodeTime {
  /** Length of a cycle of the node in ms. */
  readonly cycleMs: number;
  /** Unix ms at the node where our monotonic clock shows 0. */
  readonly offsetMs: number;
  /** The node's time is known up to this, either way, in ms. */
  readonly uncertaintyMs: number;
}

/** A node's own clock moves in whole milliseconds, so it may settle by up to one after it was asked. */
const ROUNDING_MS = 1;

const ASKED = 12;

/** @throws Failure `node_unreachable`, `answer_unreadable` for what does not answer as a node does */
export async function readNodeTime(
  wire: Wire,
  endpoint: Endpoint,
  clock: WallClock,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<NodeTime> {
  let best: NodeTime | undefined;
  for (let n = 0; n < ASKED; n += 1) {
    const askedMs = clock.monotonicMs();
    const { status, body } = await wire.ask(clockRequest(endpoint), clock, timeoutMs, signal);
    const answeredMs = clock.monotonicMs();
    const told = status === 200 ? readClock(body) : undefined;
    if (told === undefined) throw noNode(endpoint, status);
    const atMs = startOf(told.cycle + 1, told.cycleMs) - told.nextCycleInMs;
    const uncertaintyMs = (answeredMs - askedMs) / 2 + ROUNDING_MS;
    if (best !== undefined && best.uncertaintyMs <= uncertaintyMs) continue;
    best = { cycleMs: told.cycleMs, offsetMs: atMs - (askedMs + answeredMs) / 2, uncertaintyMs };
  }
  return best as NodeTime;
}

function clockRequest({ basePath }: Endpoint) {
  return { method: 'GET', path: `${basePath}/api/clock` } as const;
}

/** The time of this machine, for a target that does not tell its own. */
export function ownTime(clock: WallClock, cycleMs: number): NodeTime {
  return { cycleMs, offsetMs: clock.now() - clock.monotonicMs(), uncertaintyMs: 0 };
}

/** A clock that tells the node's time. It is to be started, and stopped. */
export function alignedClock(base: WallClock, { cycleMs, offsetMs }: NodeTime, options: WallOptions): WallClock {
  const monotonicMs = () => base.monotonicMs();
  return new WallClock(cycleMs, { ...options, source: { monotonicMs, wallMs: () => monotonicMs() + offsetMs } });
}

/** How far the node's clock has moved against ours between two readings, beyond what their uncertainty explains; ms, at least 0. */
export function movedMs(before: NodeTime, after: NodeTime): number {
  const apartMs = Math.abs(after.offsetMs - before.offsetMs);
  return Math.max(0, apartMs - before.uncertaintyMs - after.uncertaintyMs);
}

function readClock(body: string): { cycle: number; cycleMs: number; nextCycleInMs: number } | undefined {
  try {
    const { cycle, cycle_ms: cycleMs, next_cycle_in_ms: nextCycleInMs } = JSON.parse(body) as Record<string, number>;
    const isWhole = Number.isSafeInteger(cycle) && Number.isSafeInteger(cycleMs) && cycleMs! >= 1;
    if (!isWhole || !Number.isFinite(nextCycleInMs)) return undefined;
    return { cycle: cycle!, cycleMs: cycleMs!, nextCycleInMs: nextCycleInMs! };
  } catch {
    return undefined;
  }
}

function noNode({ origin, basePath }: Endpoint, status: number) {
  return unreadable(
    origin,
    `${basePath}/api/clock answered with status ${status} and not with the cycle of a node. ` +
      'A service that is no Weir node needs a `target` in the scenario.',
  );
}
