import { expect, it } from 'vitest';
import { drawsOf, type RandomStream } from '../../../src/core/math/random.js';
import { investigateClient } from '../../../src/tools/identify/client/client-investigation.js';
import { retryPolicyOf } from '../../../src/tools/identify/client/retry-policy.js';
import type { Reply, Script } from '../../../src/tools/identify/client/script.js';
import { few } from '../../draws.js';
import { answerFor, answerOf, callOf, type Late, loadedMachine, machine, type TrueClient } from './simulated-client.js';

const on =
  (...statuses: readonly Reply['status'][]) =>
  (reply: Reply) =>
    statuses.includes(reply.status);
const usual = on(429, 500, 502, 503, 504, 'reset');
/** The first gap of a process is later by so much. */
const firstLater =
  (busy: number, fromMs: number, moreMs: number) =>
  (draw: RandomStream, first: RandomStream): Late => {
    const late = machine(draw, busy);
    return (isFirst) => late(isFirst) + (isFirst ? fromMs + moreMs * first.uniform() : 0);
  };

const doubling = (baseMs: number, k: number) => baseMs * 2 ** (k - 1);
it.each<readonly [name: string, client: TrueClient, entry: object, like: readonly string[]]>([
  ['one that never retries', { attempts: 1, retries: () => false, wait: () => 0 }, { kind: 'open' }, []],
  [
    'doubling waits without jitter, Retry-After up to 30 s',
    {
      attempts: 6,
      retries: usual,
      wait: (k) => Math.min(30_000, doubling(500, k)),
      advice: (told) => Math.min(told, 30_000),
    },
    {
      kind: 'retrying',
      max_attempts: 6,
      retries_on: ['limited', 'failed', 'lost'],
      backoff: { policy: 'geometric', base: '500ms' },
      retry_after: { policy: 'obey', limit: '30s', above: 'cap' },
    },
    ['undici'],
  ],
  [
    'no wait, Retry-After as a lower bound',
    { attempts: 4, retries: on(429, 503), wait: () => 0, advice: (told, own) => Math.max(told, own) },
    {
      kind: 'retrying',
      max_attempts: 4,
      retries_on: ['limited', 'failed'],
      backoff: { policy: 'none' },
      retry_after: 'obey',
    },
    ['axios-retry'],
  ],
  [
    'only as announced, and up to 500 ms later',
    {
      attempts: 10,
      retries: (reply) => reply.status === 429 && reply.retryAfter !== undefined,
      wait: () => 0,
      advice: (told, _own, draw) => told + 500 * draw.uniform(),
    },
    { kind: 'obedient', max_attempts: 10, jitter: expect.stringMatching(/^(4[5-9]|5[0-4])\dms$/) },
    [],
  ],
])('a client is found with its parameters: %s', (_, client, entry, like) => {
  const answer = answerFor(client, 1);
  expect(answer.client).toEqual(entry);
  expect(answer.like).toEqual(like);
  expect(answer.verdict).toBe('identified');
});

it('waits that are shorter by up to a quarter are found, and an announcement ignored above a minute', () => {
  const { verdict, waits, retry_after, announced } = answerFor(
    {
      attempts: 3,
      retries: usual,
      wait: (k, draw) => Math.min(8_000, doubling(500, k)) * (1 - 0.25 * draw.uniform()),
      advice: (told, own) => (told < 60_000 ? told : own),
    },
    2,
  );
  expect(verdict).toBe('identified');
  expect(waits[0]).toMatchObject({
    growth: 'exponential',
    jitter: 'subtractive',
    parameters: { factor: 2, jitter: 0.25 },
  });
  expect(Math.abs(waits[0]!.parameters['base_ms']! - 500)).toBeLessThan(25);
  expect(retry_after).toBe('obeyed');
  expect(announced.ways).toMatchObject([{ way: 'obeyed', end: { above: 'own', leastMs: 59_000, mostMs: 60_000 } }]);
});

it('a back-off of its own after limited answers is found, with announcements up to 5 s beyond its wait', () => {
  const { verdict, waits, announced } = answerFor(
    {
      attempts: 3,
      retries: usual,
      wait: (k, draw, _last, { status }) => draw.uniform() * doubling(status === 429 ? 1000 : 50, k),
      advice: (told, own) => Math.min(Math.max(told, own), own + 5_000),
    },
    1,
  );
  expect(verdict).toBe('identified');
  expect(waits.map(({ after, jitter }) => [after, jitter])).toEqual([
    [['limited'], 'full'],
    [['failed'], 'full'],
  ]);
  const [limited, failed] = waits.map(({ parameters }) => parameters['base_ms']!);
  expect(Math.abs(limited! / 1000 - 1)).toBeLessThan(0.05);
  expect(Math.abs(failed! / 50 - 1)).toBeLessThan(0.05);
  expect(announced.ways[0]).toMatchObject({ way: 'near', reachMs: 5000 });
});

it('a deadline for all attempts is found, and a quota that all calls of a process share', () => {
  const client = { attempts: 4, retries: usual, wait: (k: number) => doubling(200, k) };
  const answer = answerFor({ ...client, deadlineMs: 6_000 }, 6);
  const { max_attempts, intervals, retry_after } = answer;
  expect([max_attempts, intervals['max_attempts'], retry_after]).toEqual([4, [4, 4], 'ignored']);
  const [least, most] = intervals['deadline_ms']!;
  expect(least).toBeLessThanOrEqual(6_000);
  expect(most).toBeGreaterThanOrEqual(6_000);
  expect(most! - least).toBeLessThan(600);
  expect(answer.client).toMatchObject({
    deadline: expect.stringMatching(/^(5[7-9]\d\dms|6s|6[0-2]\d\dms|6.[12]s)$/),
  });
  // As they are fixed for `--json`.
  const names = ['requests', 'seconds', 'verdict', 'client', 'intervals', 'retries_on', 'retry_after', 'max_attempts'];
  expect(Object.keys(answer)).toEqual(expect.arrayContaining([...names, 'like', 'remarks']));
  expect(answer.retries_on).toEqual(expect.arrayContaining([429, 503]));
  const shared = answerFor({ ...client, quota: 9 }, 7);
  expect(shared.client).toMatchObject({ max_attempts: 4, retry_quota: { capacity: 9 } });
});

it.each(few([11, 12], 1))(
  'a small jitter on a machine that stalls is named, or is among what remains: seed %s',
  (seed) => {
    const client: TrueClient = {
      attempts: 4,
      retries: usual,
      wait: (k, stream) => doubling(1_000, k) + 100 * stream.uniform(),
      advice: (told) => told,
    };
    const { waits, announced, verdict } = answerFor(client, seed, loadedMachine);
    expect(waits).toHaveLength(1);
    const [{ words, others }] = waits as [(typeof waits)[0]];
    expect([words, ...others].some((one) => /^\d+(ms|s|\.\ds), x 2 each time, plus up to \d+ms$/.test(one))).toBe(true);
    expect(verdict).toBe(others.length === 0 && announced.ways.length === 1 ? 'identified' : 'ambiguous');
  },
);

type Law = readonly [name: string, waitMs: (k: number, draw: RandomStream) => number, jitter: RegExp];
const laws: readonly Law[] = [
  ['shorter by up to 25 %', (k, draw) => doubling(500, k) * (1 - 0.25 * draw.uniform()), /shorter by/],
  ['none', (k) => doubling(300, k), /x 2 each time$/],
  ['longer by up to 20 %', (k, draw) => doubling(200, k) * (1 + 0.2 * draw.uniform()), /longer by/],
];

it.each(few(laws, 1))('beside much other work a jitter gets no other name: %s', (_, wait, jitter) => {
  for (const seed of few([31, 32, 33, 34, 35, 36], 1)) {
    const client: TrueClient = { attempts: 3, retries: usual, wait, advice: (told) => told };
    const { waits, verdict, remarks } = answerFor(client, seed, loadedMachine);
    if (verdict === 'none') continue;
    const [{ words, others, jitter: named }] = waits as [(typeof waits)[0]];
    // What may be random and is not seen is said.
    const isSaid = named === 'none' && remarks.some((one) => one.startsWith('A random part of less than'));
    expect(isSaid || [words, ...others].some((one) => jitter.test(one))).toBe(true);
  }
});

it('one retry shows no growth, and of a cap only that it is no shorter than the wait', () => {
  const { verdict, waits, client } = answerFor({ attempts: 2, retries: usual, wait: () => 300 }, 8);
  expect(verdict).toBe('identified');
  expect(waits).toMatchObject([{ growth: 'fixed', words: expect.stringMatching(/^3\d\dms$/) }]);
  expect(waits[0]!.intervals).not.toHaveProperty('factor');
  expect(waits[0]!.intervals['cap_ms']![0]).toBeLessThanOrEqual(300);
  expect(client).toMatchObject({ max_attempts: 2, backoff: { policy: 'geometric', factor: 1 } });
});

it('a cap just above the longest wait is within its interval', () => {
  const { waits } = answerFor({ attempts: 4, retries: usual, wait: (k) => Math.min(410, doubling(100, k)) }, 9);
  expect(waits[0]!.intervals['cap_ms']![0]).toBeLessThanOrEqual(410);
});

it('timers that are late by more after a longer wait leave a factor as usual as it is', () => {
  const wait = (k: number) => doubling(350, k) + [8, 8, 9, 15][k - 1]!;
  const { waits } = answerFor({ attempts: 5, retries: usual, wait, advice: (told) => told }, 1);
  expect(waits).toMatchObject([{ jitter: 'none', parameters: { factor: 2 }, others: [] }]);
  expect(Math.abs(waits[0]!.parameters['base_ms']! / 350 - 1)).toBeLessThan(0.05);
});

it('a first wait beyond the usual patience is not taken for giving up', () => {
  const { max_attempts, waits } = answerFor({ attempts: 3, retries: usual, wait: () => 15_000 }, 10);
  expect(max_attempts).toBe(3);
  expect(waits).toMatchObject([{ words: '15s each time' }]);
  const never = answerFor({ attempts: 3, retries: usual, wait: () => 200_000 }, 10);
  expect(never).toMatchObject({ verdict: 'undecided', client: null, max_attempts: null });
  expect(never.remarks).toContain(
    'No call shows whether 429 and 503 are retried. More calls or time (--for) would show it.',
  );
});

const advices: readonly (readonly [way: string, advice: NonNullable<TrueClient['advice']>])[] = [
  ['floor', (told, own) => Math.max(told, own)],
  ['obeyed', (told) => told],
];
it.each(few(advices, 1))(
  'obedience and a lower bound are distinguished though first waits are late: %s',
  (way, advice) => {
    const client = { attempts: 4, retries: usual, wait: (k: number) => doubling(220, k), advice };
    const [best, ...others] = answerFor(client, 14, firstLater(4, 100, 300)).announced.ways.map((one) => one.way);
    expect([best, way === 'obeyed' ? others : []]).toEqual([way, []]);
  },
);

it.each([0, 1, 7])('a program that is stopped after %i calls gets no name', (seen) => {
  const draw = drawsOf(3);
  const client: TrueClient = { attempts: 3, retries: usual, wait: (k) => doubling(200, k) };
  const play = (scripts: readonly Script[], start: number) =>
    scripts
      .slice(0, start === 0 ? Math.min(1, seen) : seen)
      .map((one, i) => callOf(client, one, i, machine(draw('late')), draw('client')));
  const answer = answerOf(investigateClient(draw('identify client')), play, { rounds: seen < 2 ? 1 : 2 });
  expect(answer).toMatchObject({ verdict: 'undecided', client: null, like: [] });
  expect(answer.remarks.join()).not.toContain('Infinity');
});

it('what a busy machine did not play is played in the next round', () => {
  const investigation = investigateClient(drawsOf(3)('identify client'));
  const timers = { averageMs: 2, oftenMs: 6 };
  investigation.next();
  const survey = investigation.next({ calls: [], leftMs: 180_000, timers }).value as readonly Script[];
  const draw = drawsOf(3)('client');
  const client: TrueClient = { attempts: 1, retries: () => false, wait: () => 0 };
  const calls = survey.slice(0, 10).map((one, i) => callOf(client, one, i, machine(draw), draw));
  const rest = investigation.next({ calls, leftMs: 120_000, timers }).value;
  expect(rest).toEqual(survey.slice(10));
});

it('late answers of a busy machine are not a random part beyond an announcement', () => {
  const advised: TrueClient = {
    attempts: 6,
    retries: (reply) => reply.status === 429 && reply.retryAfter !== undefined,
    wait: () => 0,
    advice: (told) => told,
  };
  const { client } = answerFor(advised, 13, firstLater(3, 0, 250));
  expect(client).toEqual({ kind: 'obedient', max_attempts: 6 });
});

it('a law that is no known one gets no name', () => {
  // Either at once or after a second: between the edges of a uniform law, and not of one.
  const two: TrueClient = { attempts: 4, retries: usual, wait: (_k, draw) => (draw.uniform() < 0.5 ? 200 : 1000) };
  expect(answerFor(two, 4)).toMatchObject({ verdict: 'none', waits: [], client: null });
});

it('calls of one process that run out of retries show its quota', () => {
  const draw = drawsOf(5)('quota');
  const script: Script = { name: 'always 503', replies: [{ status: 503 }], patienceMs: 10_000 };
  const late = machine(draw);
  // 500 tokens, 14 for a retry: 35 retries.
  const retries = [...Array.from({ length: 17 }, () => 2), 1, 0, 0];
  const calls = retries.map((n, place) => ({
    ...callOf({ attempts: n + 1, retries: usual, wait: () => 50 }, script, 0, late, draw),
    place,
  }));
  expect(retryPolicyOf(calls, draw, { averageMs: 2, oftenMs: 6 }).quota).toEqual({
    limited: undefined,
    failed: { least: 35, most: 35 },
    isRefunded: false,
  });
});
