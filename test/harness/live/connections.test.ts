// How many connections an open loop opens, and what late sends mean on every path.
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpPool } from '../../../src/harness/live/http-pool.js';
import { afterTest } from '../../left-behind.js';
import { loopback } from '../../loopback.js';
import { run, scenario, told } from './asking.js';

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

async function slow(ms: number): Promise<string> {
  const { url } = await loopback(createServer((_, response) => setTimeout(() => response.end(), ms)));
  return url;
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

it('the pool opens no more connections than allowed, and counts what waited for that', async () => {
  const { url, most } = await holding(20);
  const pool = poolOf(url, { ready: 5, most: 20 });
  await Promise.all(Array.from({ length: 50 }, () => answerOf(pool)));
  expect([most(), pool.mostConnected, pool.waited]).toEqual([20, 20, 30]);
});

it('the pool sends what waits when the requests before it are cancelled', async () => {
  const pool = poolOf(await slow(50), { ready: 1, most: 1 });
  const nothing = { started: () => {}, answered: () => {}, broke: () => {} };
  const cancels = Array.from({ length: 3 }, () => pool.fire(request, nothing));
  const answer = answerOf(pool);
  for (const cancel of cancels) cancel();
  expect(await answer).toBe(200);
});

describe('a run that was not sent as planned', () => {
  const arrivals = 'arrivals: [{ model: constant, rate: 10/s }]';
  const common = 'cycle_ms: 200\nduration: 5\ntarget: { method: GET }';
  const client = 'contracts: 1\nclients: [{ kind: open, share: 1 }]';
  const paths: [path: string, text: string][] = [
    ['a limiter by cycles', `limiter: { threshold: 1000, within: 5 }\n${arrivals}`],
    ['a limiter by the ms', `limiter: { primitive: gcra, params: { T_ms: 1, tau_ms: 1000 } }\n${arrivals}`],
    ['no limiter', `limiter: { primitive: none, params: {} }\n${arrivals}`],
    ['clients', `limiter: { threshold: 1000, within: 5 }\n${arrivals}\n${client}`],
  ];

  it.each(paths)(
    'a run that was not sent as planned is invalid and names the connections that were in use: %s',
    async (_, text) => {
      const result = await run(scenario(`${common}\n${text}`), { url: await slow(400), connections: 2 });
      const { comparison, live } = told(result);
      expect(comparison).toMatchObject({
        verdict: 'run invalid',
        reason: expect.stringMatching(/ of 10 requests were sent late: 2 connections were in use; raise -c/),
      });
      expect(live.connections).toBe(2);
    },
  );

  it.each(paths)('a run opens the connections that it needs where no bound is given: %s', async (_, text) => {
    const many = scenario(`${common}\n${text.replace('10/s', '300/s')}`.replace('duration: 5', 'duration: 3'));
    const { live } = (await run(many, { url: await slow(600) })).observed.outcome;
    expect([live!.sent, live!.answered, live!.connections > 128]).toEqual([180, 180, true]);
  });
});
