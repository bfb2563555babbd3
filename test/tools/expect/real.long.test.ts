// Assertions on real limiters: those of Node's frameworks in memory, one on Redis, and the same by `weir check`.
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Hono } from 'hono';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { expect, it } from 'vitest';
import { follows, recorded } from '../../../src/tools/expect/expect.js';
import { limit } from '../../../src/tools/middleware/limit.js';
import { temporaryFolder, weir, weirHere } from '../../cli/command-line.js';
import { few } from '../../draws.js';
import {
  isInstalled,
  startExpress,
  startFastify,
  startFlexible,
  startFlexibleOnRedis,
} from '../../harness/live/real-servers.js';
import { loopback } from '../../loopback.js';

const LIMIT = 10;
const WINDOW_MS = 3_000;

interface Asked {
  readonly send: () => Promise<{ readonly status: number }>;
  readonly close?: () => Promise<unknown>;
}

const overHttp = async (starting: Promise<{ readonly url: string; close(): Promise<unknown> }>): Promise<Asked> => {
  const { url, close } = await starting;
  return {
    send: () => fetch(url),
    close,
  };
};

function onHono(): Asked {
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: 1 });
  const app = new Hono();
  app.use(async (context, next) => {
    const taken = await limiter.consume('key').catch(() => undefined);
    return taken === undefined ? context.text('no', 429) : next();
  });
  app.get('/', (context) => context.text('done'));
  return { send: async () => app.request('/') };
}

function ofWeir(): Asked {
  const handler = limit({ limit: LIMIT, windowMs: 1_000, keyGenerator: () => 'key' }).fetch(() => new Response('done'));
  return { send: async () => handler(new Request('http://localhost/')) };
}

const real: Readonly<Record<string, () => Asked | Promise<Asked>>> = {
  'express-rate-limit': () => overHttp(startExpress(1_000, LIMIT)),
  '@fastify/rate-limit': () => overHttp(startFastify(1_000, LIMIT)),
  'rate-limiter-flexible': () => overHttp(startFlexible(LIMIT, 1)),
  'rate-limiter-flexible in Hono': onHono,
  '@weir/cli/limit': ofWeir,
  ...(isInstalled('redis-server') ? { 'rate-limiter-flexible on Redis': () => overHttp(startFlexibleOnRedis()) } : {}),
};

/** Bursts within two windows and a half, so that windows end between them and within them. */
async function answersOf({ send, close }: Asked) {
  const sending = recorded(send);
  for (let burst = 0; burst < 9; burst += 1) {
    // A connection that the server closes as it is used: whether that request was counted is not known.
    await Promise.all(Array.from({ length: burst === 0 ? 2 * LIMIT + 1 : 4 + burst }, () => sending().catch(() => {})));
    await pause(310);
  }
  await close?.();
  return sending.answers;
}

it.concurrent.each(Object.keys(real))('an assertion passes %s, and fails it as one more or one less', async (name) => {
  const [wrong] = few([LIMIT - 1, LIMIT + 1], 1);
  // Where a busy machine answers late, a window may have ended, and one more or less explains the answers as well: it is asked again.
  for (let tries = 0; ; tries += 1) {
    const answers = await answersOf(await real[name]!());
    const { verdict, why, drawing } = follows(answers, `${LIMIT} in 1s`);
    expect(verdict, `${why}\n${drawing}`).toBe('follows');
    const ofWrong = follows(answers, `${wrong} in 1s`);
    if (ofWrong.verdict !== 'follows' || tries === 10) return expect(ofWrong.verdict, ofWrong.why).toBe('differs');
  }
});

// Not beside others: a judgement above may take seconds, in which no server below would answer.
/** In windows of two fifths of WINDOW_MS, with answers that are longer under way than such a window lasts. */
function lateAnswers() {
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: 0.4 * (WINDOW_MS / 1000) });
  const app = async (_: unknown, response: ServerResponse) => {
    response.statusCode = await limiter.consume('key').then(
      () => 200,
      () => 429,
    );
    setTimeout(() => response.end(), 0.45 * WINDOW_MS);
  };
  return loopback(createServer(app));
}

it.each([
  ['a window may end', () => startExpress(1_000, LIMIT), '10 in 1s', 7, /None of 7 requests was refused/],
  ['answers come late', lateAnswers, '10 in 3s', 60, /agree only if requests were counted more\s+than 0.3 s/],
] as const)('weir check cannot judge a load in which %s, and says so', async (_, starting, words, budget, said) => {
  const { url } = await starting();
  await expect
    .poll(() => weir(['check', url, words, '--budget', `${budget}`, '--out', 'none']))
    .toMatchObject({ code: 4, out: expect.stringMatching(said) });
});

/** On a busy machine a run may be invalid, and is asked for once more, of a new server. */
async function checked(words: string, own: number, windowMs: number) {
  for (let tries = 0; ; tries += 1) {
    const { url, close } = await startExpress(windowMs, own);
    const out = temporaryFolder();
    const { code, out: printed } = await weir(['check', url, words, '--out', out]);
    await close();
    if (code !== 4 || tries === 5) return { code, printed, junit: readFileSync(join(out, 'junit.xml'), 'utf8') };
  }
}

it.concurrent.each([
  ['a limit', `${LIMIT} in 3s`, LIMIT, 0, /Observed agrees with predicted/],
  ['a product', `express-rate-limit windowMs=3000 limit=${LIMIT}`, LIMIT, 0, /Observed agrees with predicted/],
  ['one more', `${LIMIT} in 3s`, LIMIT + 1, 3, /Observed differs from predicted/],
  ['one less', `${LIMIT} in 3s`, LIMIT - 1, 3, /Observed differs from predicted/],
  ['none', `${LIMIT} in 3s`, 10_000, 3, /Observed differs from predicted/],
  ['a window twice as long', `${LIMIT} in 1500ms`, LIMIT, 3, /Observed differs from predicted/],
  ['two fifths of a window', `${LIMIT} in 7500ms`, LIMIT, 3, /Observed differs from predicted/],
  ['two thirds of one', `express-rate-limit windowMs=4500 limit=${LIMIT}`, LIMIT, 3, /differs from predicted/],
])('weir check says of a server with %s whether it follows %s', async (_, words, own, code, said) => {
  const { code: found, printed, junit } = await checked(words, own, WINDOW_MS);
  expect([found, printed]).toEqual([code, expect.stringMatching(said)]);
  expect(junit).toMatch(code === 0 ? /failures="0"/ : /failures="1"/);
});

it.each([
  [['http://127.0.0.1:9/', 'none'], /admits everything/],
  [['http://127.0.0.1:9/', '5 inn 1s'], /inn/],
  [['http://127.0.0.1:9/'], /limit/],
])('weir check refuses %j', async (words, said) => {
  const { code: status, err } = await weirHere(['check', ...words, '--out', 'none']);
  expect([status, err]).toEqual([2, expect.stringMatching(said)]);
});
