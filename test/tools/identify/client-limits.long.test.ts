// Clients with limits of their own: a rate before every send gets no wrong name, a deadline leaves the number of attempts open.
import { describe, expect, it } from 'vitest';
import { drawsOf } from '../../../src/core/math/random.js';
import { investigateClient } from '../../../src/tools/identify/client/client-investigation.js';
import { few } from '../../draws.js';
import { answerFor, answerOf, callOf, loadedMachine, machine, type TrueClient } from './simulated-client.js';

const retries: TrueClient['retries'] = ({ status }) => status === 429 || status === 503 || status === 'reset';
const doubling =
  (baseMs: number): TrueClient['wait'] =>
  (k) =>
    baseMs * 2 ** (k - 1);
const full =
  (baseMs: number): TrueClient['wait'] =>
  (k, draw) =>
    draw.uniform() * baseMs * 2 ** (k - 1);

type Case = readonly [name: string, client: TrueClient];
const limited: readonly Case[] = [
  ['2/s, burst 1', { attempts: 5, retries, wait: doubling(100), gate: { perS: 2, burst: 1 } }],
  ['1/s, burst 6, ten calls', { attempts: 4, retries, wait: doubling(200), gate: { perS: 1, burst: 6 }, calls: 10 }],
  ['2/s, burst 2', { attempts: 5, retries, wait: doubling(100), gate: { perS: 2, burst: 2 } }],
  ['2/s, burst 1, no waits of its own', { attempts: 5, retries, wait: () => 0, gate: { perS: 2, burst: 1 } }],
  ['3/s, burst 2, full jitter', { attempts: 5, retries, wait: full(200), gate: { perS: 3, burst: 2 } }],
];

it.each(few(limited, 1))('a rate before every send is no back-off: %s', (_, client) => {
  const { verdict, client: entry, waits } = answerFor(client, 1);
  expect([verdict, entry, waits.map(({ words }) => words)]).toEqual(['none', null, []]);
});

const besideWork: readonly Case[] = [
  ['2/s, burst 2', { attempts: 5, retries, wait: doubling(50), gate: { perS: 2, burst: 2 } }],
  ['3/s, burst 2', { attempts: 5, retries, wait: doubling(50), gate: { perS: 3, burst: 2 } }],
  ['3/s, burst 1', { attempts: 5, retries, wait: () => 100, gate: { perS: 3, burst: 1 } }],
  ['2/s, burst 2, no waits of its own', { attempts: 4, retries, wait: () => 0, gate: { perS: 2, burst: 2 } }],
];

it.each(few(besideWork, 1))(
  'a rate is no back-off beside much other work either, and slow answers show why: %s',
  (_, client) => {
    for (const seed of few([1, 2], 1)) {
      const { verdict, remarks } = answerFor(client, seed, loadedMachine);
      expect([seed, verdict]).toEqual([seed, 'none']);
      expect(remarks.join(' ')).toMatch(/do not begin with the answer, as behind a rate limit/);
    }
  },
);

it('what a rate would do to calls that share it is said where each start makes one call', () => {
  const { verdict, remarks } = answerFor({ attempts: 3, retries, wait: doubling(200), advice: (told) => told }, 1);
  expect(verdict).toBe('identified');
  expect(remarks.join(' ')).toContain('were not tested: each start made one call');
});

describe('a deadline that ends every call', () => {
  const client: TrueClient = {
    attempts: Infinity,
    retries,
    wait: (_, draw, lastMs) => Math.min(2_000, 330 + draw.uniform() * (3 * (lastMs || 330) - 330)),
    advice: (told) => told,
    deadlineMs: 6_100,
  };

  it('a deadline that ends every call leaves the number of attempts open: the client has no limit of them', () => {
    const { verdict, client: entry, intervals } = answerFor(client, 2);
    expect(verdict).toBe('ambiguous');
    expect(intervals['max_attempts']![0]).toBeGreaterThan(20);
    expect(intervals['max_attempts']![1]).toBeNull();
    expect(entry).toMatchObject({ max_attempts: 'unlimited', backoff: { policy: 'decorrelated' } });
  });

  it('a deadline is passed by announcements of 0, where they are obeyed: the number of attempts is found', () => {
    const { client: entry, intervals } = answerFor({ ...client, attempts: 20 }, 2);
    expect(intervals['max_attempts']).toEqual([20, 20]);
    expect(entry).toMatchObject({ max_attempts: 20 });
  });
});

it.each(few([true, false], 1))('whether retries that are served come back to a quota is found: %s', (refunds) => {
  const { client } = answerFor({ attempts: 4, retries, wait: doubling(100), quota: 9, refunds }, 3);
  const quota = { capacity: 9, ...(refunds ? { refund: { retried: 'cost' } } : {}) };
  expect(client).toMatchObject({ retry_quota: quota });
  expect((client as { retry_quota: object }).retry_quota).toEqual(quota);
});

it('a use of Retry-After that is not known leaves no client', () => {
  // Half of what is announced.
  const advice = (told: number, own: number) => Math.max(own, told / 2);
  const { verdict, client } = answerFor({ attempts: 4, retries, wait: doubling(100), advice }, 3);
  expect([verdict, client]).toEqual(['none', null]);
});

it('a quota that calls of one path run out of is no number of attempts', () => {
  // As a program that is not started for each call: all its calls share the quota.
  const draw = drawsOf(5);
  let left = 60;
  const late = machine(draw('late'));
  const answer = answerOf(investigateClient(draw('identify client')), (scripts) =>
    scripts.map((script) => {
      const client = { attempts: Math.min(4, 1 + left), retries, wait: doubling(100) };
      const call = callOf(client, script, 0, late, draw('client'));
      left -= call.attempts.length - 1;
      return call;
    }),
  );
  expect(['none', 'undecided']).toContain(answer.verdict);
  expect(answer.client).toBeNull();
});
