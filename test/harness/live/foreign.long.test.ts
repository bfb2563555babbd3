// Limiters of others behind real servers: the report shows where they admit more or less than a rolling window.
import fastifyRateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { expect, it } from 'vitest';
import { afterTest } from '../../left-behind.js';
import { run, scenario, steady, told } from './asking.js';
import { startExpress } from './real-servers.js';

const CYCLE_MS = 120;
const LIMIT = 5;
const WITHIN = 8;

/** Windows are fixed: each begins with the first request after the one before. */
const limiterOf = async () => (await startExpress(WITHIN * CYCLE_MS, LIMIT)).url;

/** Five at the end of one window and five at the beginning of the next: the worst case of a fixed window. */
const edge = asked('1, 0, 0, 0, 0, 0, 4, 0, 0, 5, 0');
const apart = asked('7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2');

function asked(counts: string) {
  return scenario(`
duration: 11
cycle_ms: ${CYCLE_MS}
limiter: { threshold: ${LIMIT}, within: ${WITHIN} }
target: { method: GET }
arrivals: [{ model: counts, counts: [${counts}] }]
`);
}

it('express-rate-limit admits more than a rolling window across its edge, and the difference says how many', async () => {
  const { comparison, first } = told(await steady(async () => run(edge, { url: await limiterOf() })));
  expect(comparison).toMatchObject({
    verdict: 'node differs',
    tolerance: expect.stringContaining('edges of cycles'),
    differences: [
      {
        cycle: expect.toBeOneOf([first + 9, first + 10]),
        contract: 'all',
        figure: 'decision',
        predicted: 'limited',
        observed: 'admitted',
        note: expect.stringContaining(`these answers: ${LIMIT + 1} admitted, sent within`),
      },
    ],
  });
});

it('express-rate-limit agrees where nothing comes near the edge of its window', async () => {
  const result = await steady(async () => run(apart, { url: await limiterOf() }));
  const { comparison } = told(result);
  const { observed } = result;
  expect(comparison).toMatchObject({ verdict: 'agrees', differences: [] });
  expect(observed.outcome).toMatchObject({ requests: 9, admitted: 7, limited: 2, entries: 1 });
});

// Sent at 1,001 ms, within the promise and the window that ends at 1,041; counted at 1,071, in the next one. A stop of 70 ms between two
// tasks of the run makes none of them late, and is no pause.
//
//   1 request      1 request  stop           3 requests, of which one is limited
//   1 ms           1001 ──────────► 1071     1201
it('a right limiter is not accused where its machine, and ours, stopped for a moment', async () => {
  const WINDOW_MS = 1_040;
  let firstMs = 0;
  const app = fastify();
  app.addHook('onRequest', async () => {
    const nowMs = performance.now();
    firstMs ||= nowMs;
    const endMs = firstMs + WINDOW_MS + 30;
    if (nowMs > firstMs + WINDOW_MS - 100) while (performance.now() < endMs);
  });
  await app.register(fastifyRateLimit, { max: 3, timeWindow: WINDOW_MS });
  app.get('/work', async () => 'done');
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  afterTest(() => app.close());
  const late = scenario(`
duration: 13
cycle_ms: 100
limiter: { like: fastify, max: 3, timeWindow: ${WINDOW_MS} }
target: { preset: fastify, transport_ms: 20 }
arrivals: [{ model: counts, placement: start, counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3] }]
`);
  const result = await run(late, { url: `${origin}/work` });
  const { verdict, reason } = told(result).comparison;
  expect(result.observed.outcome.limited).toBe(1);
  expect(verdict, reason).not.toBe('node differs');
});
