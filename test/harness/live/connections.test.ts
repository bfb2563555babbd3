// How many connections an open loop opens: load.long.test.ts has what late sends mean on every path.
import { createServer, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { HttpPool } from '../../../src/harness/live/http-pool.js';
import { afterTest } from '../../left-behind.js';
import { loopback } from '../../loopback.js';

/** Answers all that are under way at once, when there are `together`, and what comes later at once. */
async function holding(together: number): Promise<{ readonly url: string; readonly most: () => number }> {
  let held: ServerResponse[] | undefined = [];
  let most = 0;
  const { url } = await loopback(
    createServer((_, response) => {
      if (held === undefined) return void response.end();
      most = Math.max(most, held.push(response));
      if (most < together) return;
      for (const one of held) one.end();
      held = undefined;
    }),
  );
  return { url, most: () => most };
}

const request = { method: 'GET', path: '/' } as const;

function poolOf(url: string, size: { readonly ready: number; readonly most: number }): HttpPool {
  const pool = new HttpPool(url, size);
  afterTest(() => pool.close());
  return pool;
}

const answerOf = (pool: HttpPool) =>
  new Promise<number>((resolve, reject) => {
    pool.fire(request, {
      started: () => {},
      answered: ({ status }) => resolve(status),
      broke: ({ words }) => reject(new Error(words)),
    });
  });

it('the pool opens as many connections as requests need that are not answered soon', async () => {
  const { url, most } = await holding(300);
  const pool = poolOf(url, { ready: 10, most: 400 });
  const answers = await Promise.all(Array.from({ length: 300 }, () => answerOf(pool)));
  expect([answers.every((status) => status === 200), most(), pool.waited]).toEqual([true, 300, 0]);
});

it('the pool opens none while its own process computes, no more than allowed, and counts what waited for that', async () => {
  const { url, most } = await holding(20);
  const pool = poolOf(url, { ready: 5, most: 20 });
  const answers = Array.from({ length: 50 }, () => answerOf(pool));
  const untilMs = performance.now() + 150;
  while (performance.now() < untilMs) await new Promise((turn) => setImmediate(turn));
  const whileBusy = most();
  await Promise.all(answers);
  expect([whileBusy, most(), pool.mostConnected, pool.waited]).toEqual([5, 20, 20, 30]);
});

it('the pool sends what waits when the requests before it are cancelled', async () => {
  const { url } = await loopback(createServer((_, response) => setTimeout(() => response.end(), 50)));
  const pool = poolOf(url, { ready: 1, most: 1 });
  const nothing = { started: () => {}, answered: () => {}, broke: () => {} };
  const cancels = Array.from({ length: 3 }, () => pool.fire(request, nothing));
  const answer = answerOf(pool);
  for (const cancel of cancels) cancel();
  expect(await answer).toBe(200);
});
