// Scenarios whose limiter follows a rule: the figures are those of the real products (OTHER-LIMITERS.md sections 6 and 8).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom, map, reduce, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { parseScenario, type ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { replay$ } from '../../../src/harness/simulate/stream.js';
import { faultsOf } from '../../failures.js';
import { temporaryFolder } from '../../left-behind.js';

/** A request every `everyMs`: cycles are that long, and each has one request at its beginning. */
const every = (everyMs: number, n: number, limiter: unknown): ScenarioObject => ({
  question: 'How many pass?',
  cycle_ms: everyMs,
  limiter: limiter as NonNullable<ScenarioObject['limiter']>,
  arrivals: [{ model: 'constant', rate: 1 }],
  duration: n,
});
const admittedOf = async (scenario: ScenarioObject) => (await simulate(parseScenario(scenario))).outcome.admitted;

it.each([
  ['nginx without burst, 1 % too fast', 99, 110, { like: 'nginx', rate: '10r/s' }, 55],
  ['nginx with burst=5, 1 % too fast', 99, 110, { like: 'nginx', rate: '10r/s', burst: 5, nodelay: true }, 110],
  ['vsthrottle, 1 % too fast', 99, 110, { like: 'varnish', limit: 10, period: '1s' }, 60],
  ['HAProxy that counts what it denies, at twice', 50, 60, { like: 'haproxy', period: '1s', limit: 10 }, 10],
  ['a bucket, at twice', 50, 60, { like: 'x-time', limit: 10, burst: 10 }, 39],
  ['a fixed window, at twice', 50, 60, { like: 'express', windowMs: 1000, limit: 10 }, 30],
  ['a pasted stanza', 99, 110, { paste: 'limit_req_zone $a zone=a:1m rate=10r/s; limit_req zone=a;' }, 55],
  ['a primitive', 50, 60, { primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } }, 30],
])('a limiter in a scenario admits as many as the product does: %s', async (_, everyMs, n, limiter, admitted) => {
  expect(await admittedOf(every(everyMs, n, limiter))).toBe(admitted);
});

it('a pasted limiter says in the outcome what it leaves out, and other limiters say nothing', async () => {
  const paste = 'limit_req_zone $a zone=a:1m rate=10r/s;\nlimit_req zone=a;\ninclude more.conf;';
  const notesOf = async (limiter: unknown) => (await simulate(parseScenario(every(99, 10, limiter)))).outcome.notes;
  expect(await notesOf({ paste })).toEqual(['Line 3: more.conf is included, and was not read.']);
  expect(await notesOf({ like: 'nginx', rate: '10r/s' })).toBeUndefined();
});

it('a limiter that holds requests makes clients wait as long, and the figures say so', async () => {
  const scenario = every(1000, 1, { like: 'nginx', rate: '10r/s', burst: 10 });
  const burst = { ...scenario, arrivals: [{ model: 'spikes' as const, requests: 11 }] };
  const { outcome } = await simulate(parseScenario({ ...burst, clients: [{ kind: 'open' }] }));
  expect(outcome).toMatchObject({ admitted: 11, limited: 0, delayed: 10, delay_ms: { n: 10 } });
  expect(outcome.delay_ms!.max).toBeCloseTo(1000, -1);
  expect(outcome.clients![0]!.job_latency_ms!.max).toBeCloseTo(outcome.delay_ms!.max, 0);
});

it('a limiter gives the same with clients that only send as without clients', async () => {
  const scenario: ScenarioObject = {
    question: 'Is it the same?',
    limiter: { like: 'nginx', rate: '10r/s', burst: 3 },
    arrivals: [{ model: 'poisson', rate: '12 per second' }],
    duration: '60s',
  };
  const { outcome: alone } = await simulate(parseScenario(scenario));
  const { outcome: sent } = await simulate(parseScenario({ ...scenario, clients: [{ kind: 'open' }] }));
  const { admitted, limited, delayed, entries, restores, peak_count } = alone;
  expect(sent).toMatchObject({ admitted, limited, delayed, entries, restores, peak_count });
  expect(alone.limited).toBeGreaterThan(0);
});

it('a limit of connections counts a request as long as the service takes', async () => {
  const { outcome } = await simulate(
    parseScenario({
      question: 'How many get in?',
      cycle_ms: 1000,
      limiter: { like: 'nginx-limit-conn', connections: 3 },
      arrivals: [{ model: 'spikes', requests: 10 }],
      duration: 4,
      clients: [{ kind: 'retrying', max_attempts: 2, backoff: { policy: 'fixed', base: '2s' } }],
      service: { servers: 10, time: { law: 'constant', time: '1500ms' } },
    }),
  );
  expect(outcome).toMatchObject({ requests: 17, admitted: 6, limited: 11 });
  expect(outcome.restores).toBe(outcome.entries);
});

const definition = ruleLimiter({ primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } });
const times = Array.from({ length: 110 }, (_, n) => 1_699_999_200_000 + 99 * n);

it('a log is decided by a rule at the ms of its lines, each client by itself', async () => {
  const file = join(temporaryFolder(), 'requests.csv');
  const lines = times.flatMap((ms) => [`${ms},a`, `${ms},b`]);
  writeFileSync(file, ['time,client', ...lines].join('\n'));
  const { outcome } = await replay([file], {
    name: 'log',
    cycleMs: 777,
    plan: planContract(definition),
    log: { timeColumn: 'time', keyColumn: 'client' },
  });
  expect(outcome).toMatchObject({ contracts: 2, requests: 220, admitted: 110, limited: 110, delayed: 0 });
  expect(outcome.by_contract[0]).toMatchObject({ rule: 'gcra', threshold: 1, peak_count: 1 });
});

it('a stream through a rule admits what the rule admits, in rows of ascending cycles', async () => {
  const rows = replay$(
    times.map((at) => ({ at })),
    definition,
  );
  const sums = await lastValueFrom(rows.pipe(reduce((sum, { totals }) => sum + totals.admitted, 0)));
  const cycles = await lastValueFrom(
    rows.pipe(
      map(({ cycle }) => cycle),
      toArray(),
    ),
  );
  expect(sums).toBe(55);
  expect(cycles).toEqual([...new Set(cycles)].sort((a, b) => a - b));
});

it.each([
  ['{ like: ngingx, rate: 10r/s }', /\(\/limiter\/like\) "ngingx" is no limiter/],
  ['{ like: nginx, rate: 10 }', /\(\/limiter\/rate\) must be a string/],
  ['{ like: nginx, rate: 10r/s, bust: 3 }', /\(\/limiter\/bust\)/],
  ['{ primitive: gcra, params: { T_ms: 100 } }', /\(\/limiter\/params\/tau_ms\) is required/],
  ['{ primitive: gcar, params: {} }', /did you mean "gcra"/],
  ['{ paste: "server { listen 80; }" }', /\(\/limiter\) cannot be read: No limit is in force/],
  ['{ threshold: 0 }', /\(\/limiter\/threshold\)/],
  ['{ treshold: 10 }', /\(\/limiter\/treshold\)/],
  ['{ like: nginx-limit-conn, connections: 3, hold_ms: -1 }', /\(\/limiter\/hold_ms\)/],
])('a limiter that does not fit is refused in words: %s', (limiter, words) => {
  const text = `question: What?\nduration: 1\narrivals: [{ model: constant, rate: 1 }]\nlimiter: ${limiter}\n`;
  expect(faultsOf(() => parseScenario(text))[0]).toMatch(words);
});
