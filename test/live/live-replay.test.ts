// A log that is replayed at a live node: what is heard before the first request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import { liveReplay$ } from '../../src/live/live-replay.js';

it('a stop is heard while it connects to a node that does not answer', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const stop = new AbortController();
  silent.on('connection', () => stop.abort());
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const planAt = () => planContract(rateLimiter());
  const rows = liveReplay$([], {
    name: 'log',
    url,
    planAt,
    log: {},
    cycleMs: 777,
    signal: stop.signal,
    timeoutMs: 60_000,
  });
  await expect(lastValueFrom(rows)).rejects.toThrow(/abort|stopped/i);
  silent.closeAllConnections();
  silent.close();
});
