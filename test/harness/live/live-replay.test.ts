// A log that is replayed at a live node: what is heard before the first request.
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { loopback } from '../../loopback.js';
import { liveReplay } from './asking.js';

it('a stop is heard while it connects to a node that does not answer', async () => {
  const silent = createServer(() => {});
  const { url, close } = await loopback(silent);
  const stop = new AbortController();
  silent.on('connection', () => stop.abort());
  const planAt = () => planContract(rateLimiter());
  const asked = { name: 'log', url, planAt, log: {}, cycleMs: 777, signal: stop.signal, timeoutMs: 60_000 };
  await expect(liveReplay([], asked)).rejects.toThrow(/abort|stopped/i);
  await close();
});
