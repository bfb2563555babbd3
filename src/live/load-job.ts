// Messages between the process that asks for a load and its generators, through Redis.
//
//   asker ─► a job for each worker, then a state: wait, go, stop     a key that expires unless refreshed
//   asker ◄─ messages: ready, rows, …, end                           a list, four times a second

import type { Pause } from '../explain/seen-request.js';
import type { Seed } from '../math/seed.js';
import { pause } from '../time/wall.js';
import type { ConnectionOptions, NodeTime } from './connection.js';
import type { Pacing } from './paced-sender.js';
import type { Row } from './request-observer.js';
import type { MadeOnNode } from './weir-target.js';

export interface LoadTask {
  readonly path: string;
  readonly scenario: unknown;
  readonly seed: Seed;
  readonly pacing: Pacing | undefined;
  readonly url: string;
  readonly connect: Omit<ConnectionOptions, 'signal' | 'cycleMs' | 'headers'>;
  readonly cycleMs: number;
}

export interface LoadJob extends LoadTask {
  readonly weir: string;
  readonly run: string;
  readonly made: MadeOnNode | undefined;
  readonly index: number;
  readonly of: number;
}

/** A generator ends when none of these is left. */
export type RunState =
  | { readonly state: 'wait' | 'stop' }
  | {
      readonly state: 'go';
      readonly firstCycle: number;
      /** Unix ms of the run minus that of Redis. */
      readonly shiftMs: number;
      /** Largest error of any generator's clock relative to that of the target. */
      readonly uncertaintyMs: number;
    };

export type ReceivedMessage = { readonly from: number; readonly name: string } & Message;
export type Message =
  | { readonly type: 'ready'; readonly uncertaintyMs: number }
  | { readonly type: 'rows'; readonly rows: readonly Row[] }
  | { readonly type: 'gone'; readonly words: string }
  | { readonly type: 'failed'; readonly words: string; readonly fix?: string | undefined }
  | { readonly type: 'end'; readonly end: ShareEnd };

export interface ShareEnd {
  readonly rows: number;
  readonly lagMs: { readonly p90: number; readonly most: number };
  readonly pauses: readonly Pause[];
  readonly connections: number;
  /** Largest error of its clock relative to Redis's, and movement beyond the uncertainty. */
  readonly apartMs: number;
  readonly movedMs: number;
}

export const keysOf = (run: string) => ({ state: `weir:load:${run}:said`, messages: `weir:load:${run}:heard` });

export const MOST_SILENT_MS = 3_000;

/** @throws Error if there is no answer in time */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(MOST_SILENT_MS, over.signal).then(() => Promise.reject(new Error('Redis is silent.')));
  try {
    return await Promise.race([answer, late]);
  } finally {
    late.catch(() => {});
    over.abort();
  }
}

export type RedisTime = Omit<NodeTime, 'cycleMs'>;

const READINGS = 16;

export async function readRedisTime(
  client: { sendCommand(words: string[]): Promise<unknown> },
  clock: { monotonicMs(): number },
): Promise<RedisTime> {
  let best: RedisTime | undefined;
  for (let n = 0; n < READINGS; n += 1) {
    const askedMs = clock.monotonicMs();
    const [s, us] = (await client.sendCommand(['TIME'])) as [string, string];
    const answeredMs = clock.monotonicMs();
    const uncertaintyMs = (answeredMs - askedMs) / 2;
    if (best !== undefined && best.uncertaintyMs <= uncertaintyMs) continue;
    best = { offsetMs: Number(s) * 1000 + Number(us) / 1000 - (askedMs + answeredMs) / 2, uncertaintyMs };
  }
  return best!;
}

/** Largest error of a clock that continues from the first reading, up to the second, if it drifts in one direction; in ms. */
export function apartMs(before: RedisTime, after: RedisTime): number {
  return Math.max(before.uncertaintyMs, Math.abs(after.offsetMs - before.offsetMs) + after.uncertaintyMs);
}
