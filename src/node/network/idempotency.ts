// Idempotency keys on many nodes: a request counts once, whichever node it is repeated on.
//
//   first     mark set where there is none ─► counted ─► answer kept in place of the mark
//   repeated  answer there ─► the same answer        mark alone ─► 503: pending, or its node ended before it knew. Never counted twice
import { Failure } from '../../core/schema/failure.js';
import { type OnceOnly, Replayed, reachOf, reused } from '../counting/once-only.js';
import type { Machine } from '../host/machine.js';
import { prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

/** An answer is kept for the longest window of the machine, within these bounds in ms. */
const SHORTEST_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

export async function doOnce<T extends object>(
  connection: RedisConnection,
  machine: Machine,
  once: OnceOnly | undefined,
  work: () => Promise<T>,
): Promise<T | Replayed> {
  if (once === undefined) return work();
  const prefix = prefixOf(machine.slug);
  const place = `${prefix}i:${machine.slug}:${once.key}`;
  const keptMs = String(keptFor(machine));
  const mark = `${once.request} `;
  const found = await connection.command<string | null>('SET', place, mark, 'NX', 'GET', 'PX', keptMs);
  if (found !== null) {
    if (!found.startsWith(mark)) throw reused();
    if (found === mark)
      throw new Failure('store_away', {
        what: 'It is not known whether it was done.',
        why: 'A request with this Idempotency-Key is under way, or its node ended before it could answer.',
        fix: 'Send it again in a second with the same key: it is never counted twice.',
      });
    return new Replayed(found.slice(mark.length));
  }
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    // Nothing was counted, except perhaps after `store_away`.
    if (error instanceof Failure && error.code !== 'store_away') await connection.command('DEL', place);
    throw error;
  }
  await connection.command('SET', place, `${mark}${JSON.stringify(answer)}`, 'PX', keptMs);
  return answer;
}

function keptFor({ contracts, context: { clock } }: Machine): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (reachOf(contracts, clock.cycleMs) + 1) * clock.cycleMs));
}
