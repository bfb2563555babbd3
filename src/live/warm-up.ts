// Owns warming up a target that is a node, and the way to it: connections that are open, and code that is compiled, before the first
// request that counts. A node that is as cold as its thread takes ten times as long for the first hundred requests, and a burst is no
// longer than that.
import type { Connection } from './connection.js';
import type { WireRequest } from './http-pool.js';

/** Requests at the same time, how often, and for how long at most, in ms. */
const AT_ONCE = 32;
const ROUNDS = 60;
const LONGEST_MS = 600;

/** @param request one that does not count in the run, or nowhere */
export async function warmUp(
  { wire, clock, timeoutMs, connections }: Connection,
  request: WireRequest,
  signal?: AbortSignal,
): Promise<void> {
  const endMs = clock.now() + LONGEST_MS;
  for (let round = 0; round < ROUNDS && clock.now() < endMs && signal?.aborted !== true; round += 1) {
    await wire.warm(Math.min(AT_ONCE, connections), request, clock, timeoutMs);
  }
}
