// What who asks for a load and its generators say to each other, through Redis.
//
//   who asks ─► a job for each worker, then `said`: wait, go, stop     a key that is set again and again, and gone without that
//   who asks ◄─ `heard`: ready, rows, …, end                            a list, four times a second

import type { Pause } from '../explain/seen-request.js';
import type { Seed } from '../math/seed.js';
import { pause } from '../time/wall.js';
import type { ConnectionOptions, NodeTime } from './connection.js';
import type { Row } from './evidence.js';
import type { Pacing } from './paced-sender.js';
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
  /** Undefined for a target that is no node. */
  readonly made: MadeOnNode | undefined;
  readonly index: number;
  readonly of: number;
}

/** A generator that hears none of these any more ends. */
export type Said =
  | { readonly state: 'wait' | 'stop' }
  | {
      readonly state: 'go';
      readonly firstCycle: number;
      /** Unix ms of the run less that of Redis. */
      readonly shiftMs: number;
      /** How far the clock of any generator may be off that of the target, in ms. */
      readonly uncertaintyMs: number;
    };

export type Heard = { readonly from: number; readonly name: string } & Message;
export type Message =
  | { readonly type: 'ready'; readonly uncertaintyMs: number }
  | { readonly type: 'rows'; readonly rows: readonly Row[] }
  | { readonly type: 'gone'; readonly words: string }
  | { readonly type: 'failed'; readonly words: string; readonly fix?: string | undefined }
  | { readonly type: 'end'; readonly end: ShareEnd };

export interface ShareEnd {
  readonly rows: number;
  /** How late its tasks began: what nine in ten do not exceed, and the most. */
  readonly lagMs: { readonly p90: number; readonly most: number };
  /** When it did not run, by the clock of the run. */
  readonly pauses: readonly Pause[];
  readonly connections: number;
  /** How far its clock may have been off that of Redis, and how far it moved beyond what was uncertain; in ms. */
  readonly apartMs: number;
  readonly movedMs: number;
}

export const keysOf = (run: string) => ({ said: `weir:load:${run}:said`, heard: `weir:load:${run}:heard` });

/** How long either side may be silent, in ms. */
export const MOST_SILENT_MS = 3_000;

/** @throws Error if there is no answer in time, or none at all */
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

/** The clock of Redis beside the monotonic one of this process, as that of a node. */
export type RedisTime = Omit<NodeTime, 'cycleMs'>;

const ASKED = 16;

export async function readRedisTime(
  client: { sendCommand(words: string[]): Promise<unknown> },
  clock: { monotonicMs(): number },
): Promise<RedisTime> {
  let best: RedisTime | undefined;
  for (let n = 0; n < ASKED; n += 1) {
    const askedMs = clock.monotonicMs();
    const [s, us] = (await client.sendCommand(['TIME'])) as [string, string];
    const answeredMs = clock.monotonicMs();
    const uncertaintyMs = (answeredMs - askedMs) / 2;
    if (best !== undefined && best.uncertaintyMs <= uncertaintyMs) continue;
    best = { offsetMs: Number(s) * 1000 + Number(us) / 1000 - (askedMs + answeredMs) / 2, uncertaintyMs };
  }
  return best!;
}

/** How far a clock that goes on from the first reading may be off up to the second, if it drifts one way; in ms. */
export function apartMs(before: RedisTime, after: RedisTime): number {
  return Math.max(before.uncertaintyMs, Math.abs(after.offsetMs - before.offsetMs) + after.uncertaintyMs);
}
