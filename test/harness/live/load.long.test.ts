// The very requests of a scenario, sent to the node of this project over HTTP: it agrees with the model, decision for decision.
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { Failure } from '../../../src/core/schema/failure.js';
import { pause } from '../../../src/core/time/wall.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { temporaryFiles } from '../../left-behind.js';
import { loopback } from '../../loopback.js';
import { startRunning } from '../../node/running.js';
import { burst, type Closed, decided, liveReplay, run, scenario, steady, told } from './asking.js';

const CYCLE_MS = 50;

const node = await startRunning({ cycleMs: CYCLE_MS });
const { url } = node;
const key = node.keyOf('load');

/** A disk on which a commit takes a second. */
class LateStore extends MemoryStore {
  #isClosed = false;

  override commit(settled: (failure?: Failure) => void): void {
    void pause(1_000).then(() => this.#isClosed || super.commit(settled));
  }

  override close(): void {
    this.#isClosed = true;
    super.close();
  }
}

const limiter = 'limiter: { threshold: 6, within: 8 }';
const busy = 'arrivals: [{ model: poisson, rate: 0.6 }, { model: burst, burst_rate: 4, at: 6, for: 2 }]';

const costs = 'costs: { unit: tokens, each: { law: uniform, from: 1, to: 25 } }';

// biome-ignore format: one case a line
const scenarios: [name: string, text: string][] = [
  ['a burst', `duration: 20\n${limiter}\n${busy}`],
  ['sustained overload', `duration: 20\n${limiter}\narrivals: [{ model: constant, rate: 2 }]`],
  ['many contracts', `duration: 20\ncontracts: 5\n${limiter}\narrivals: [{ model: poisson, rate: 6 }]`],
  ['a state before the limit', `duration: 20\nlimiter: { threshold: 6, within: 8, near_limit: 0.5 }\n${busy}`],
  ['a shadow', `duration: 20\nlimiter: { threshold: 6, within: 8, shadow: true }\n${busy}`],
  ['keys', `duration: 20\nkeyed: { max_keys: 5 }\ncontracts: 5\n${limiter}\narrivals: [{ model: poisson, rate: 6 }]`],
  ['keys of a shadow, with devices behind them',
    `duration: 20\nkeyed: { max_keys: 9, idle_cycles: 2, overflow: share }\ncontracts: 5\nlimiter: { threshold: 3, within: 8, shadow: true }\n${busy}\nclients: [{ kind: holding, count: 5 }]`],
  ['obedient clients', `duration: 20\ndrain: 60\n${limiter}\n${busy}\nclients: [{ kind: obedient, jitter: 100ms }]`],
  ['devices that hold and flush', `duration: 20\ndrain: 30\n${limiter}\n${busy}\nclients: [{ kind: holding, count: 4 }]`],
  ['clients that try again',
    `duration: 20\ndrain: 10\n${limiter}\n${busy}\nclients: [{ kind: retrying, backoff: { policy: full_jitter, base: 50ms } }]`],
  ['costs, and a state that a part of one leads to',
    `duration: 20\nlimiter: { threshold: 60, within: 8, near_limit: 0.5 }\n${busy}\n${costs}`],
  ['costs of keys',
    `duration: 20\nkeyed: { max_keys: 5 }\ncontracts: 5\nlimiter: { threshold: 40, within: 8 }\narrivals: [{ model: poisson, rate: 6 }]\n${costs}`],
  ['costs of clients',
    `duration: 20\ndrain: 10\nlimiter: { threshold: 60, within: 8 }\n${busy}\n${costs}\nclients: [{ kind: retrying, backoff: { policy: full_jitter, base: 50ms } }]`],
  ['a closed loop', `duration: 20\n${limiter}\nclients: [{ kind: closed, count: 3, think: 80ms }]`],
];

it.each(scenarios)('a scenario sent to a live node agrees with the model: %s', async (_, text) => {
  const result = await steady(() => run(scenario(`seed: 5\n${text}`), { url, key }));
  const { comparison, live } = told(result);
  expect({ ...comparison, reason: '' }).toEqual({
    verdict: 'agrees',
    reason: '',
    compared_cycles: comparison.compared_cycles,
    compared_decisions: live.sent,
    tolerance: 'none',
    differences_total: 0,
    differences: [],
  });
  expect(live).toMatchObject({ answered: live.planned, sent: live.planned, failed: 0, timed_out: 0 });
  expect(result.observed.outcome.requests).toBeGreaterThan(0);
  expect(result.observed.outcome.by_contract).toEqual(result.predicted.outcome.by_contract);
  expect(result.observed.outcome.costs).toEqual(result.predicted.outcome.costs);
});

it.each<[name: string, limiter: string]>([
  ['a token bucket', 'limiter: { primitive: token_bucket, params: { rate: 200, per_ms: 1000, capacity: 40 } }'],
  ['GCRA', 'limiter: { primitive: gcra, params: { T_ms: 5, tau_ms: 150 } }'],
  ['a log', 'limiter: { primitive: sliding_log, params: { limit: 60, window_ms: 300 } }'],
  ['a fixed window', 'limiter: { primitive: fixed_window, params: { limit: 60, window_ms: 300 } }'],
  [
    'keys of a token bucket',
    'keyed: { max_keys: 5 }\ncontracts: 3\nlimiter: { primitive: token_bucket, params: { rate: 60, per_ms: 1000, capacity: 40 } }',
  ],
])('a scenario whose costs a rule of the node charges agrees with the model: %s', async (_, text) => {
  const asked = scenario(`seed: 5\nduration: 30\n${text}\narrivals: [{ model: poisson, rate: 2 }]\n${costs}`);
  const result = await decided(() => run(asked, { url, key }));
  const { comparison, live } = told(result);
  expect(comparison).toMatchObject({ verdict: 'agrees', differences: [], compared_decisions: live.sent });
  expect(live).toMatchObject({ answered: live.planned, failed: 0, timed_out: 0 });
  const { admitted, limited, costs: charged } = result.observed.outcome;
  const { requested, unit } = result.predicted.outcome.costs!;
  expect([admitted > 5, limited > 5, charged]).toEqual([true, true, expect.objectContaining({ requested, unit })]);
});

it('a scenario agrees on a disk that takes a second: what fires in the last cycle is waited for', async () => {
  const slow = await startRunning({ cycleMs: CYCLE_MS, memory: new LateStore() });
  const text = `seed: 5\nduration: 18\ndrain: 8\n${limiter}\narrivals: [{ model: burst, burst_rate: 8, at: 17, for: 1 }]`;
  const result = await steady(() => run(scenario(text), { url: slow.url, key: slow.keyOf('load') }));
  const { comparison } = told(result);
  expect([comparison.verdict, comparison.differences]).toEqual(['agrees', []]);
  expect(result.observed.outcome).toMatchObject({ entries: 1, restores: 1 });
});

it('requests that the rule holds are held at the node as in the model', async () => {
  const text = `seed: 5\nduration: 20\ndrain: 20\nlimiter: nginx 10r/s burst=5\narrivals: [{ model: spikes, at: 2, requests: 4 }]`;
  const result = await steady(() => run(scenario(text), { url, key }));
  expect(told(result).comparison).toMatchObject({ verdict: 'agrees', differences: [] });
  expect([result.predicted.outcome.delayed, result.observed.outcome.delayed]).toEqual([3, 3]);
});

it('a scenario is sent to one contract where that has keys: each name counts for itself there', async () => {
  const text = `seed: 5\nkeyed: { max_keys: 20 }\ncontracts: 20\n${limiter}\nduration: 10\narrivals: [{ model: constant, rate: 8 }]`;
  const known = new Set(node.host.keyed);
  const { observed } = await run(scenario(text), { url, key });
  const [contract, ...others] = [...node.host.keyed].filter((one) => !known.has(one));
  expect(others).toEqual([]);
  expect(contract!.image.keyed).toEqual({ maxKeys: 20, idleCycles: 60, overflow: 'refuse' });
  expect(contract!.keys!.figures).toEqual({
    requests: observed.outcome.requests,
    limited: observed.outcome.limited,
  });
  expect(contract!.keys!.size).toBe(20);
});

it('a live run has the figures of the simulation, a line for each cycle of the node, and its reactions', async () => {
  let lines: Closed[] = [];
  const { observed } = await steady(() => {
    lines = [];
    return run(burst, { url, key, onCycle: (line) => lines.push(line) });
  });
  const { outcome } = await simulate(burst);
  const { requests, admitted, limited, entries, restores, limiting_cycles, peak_count } = outcome;
  const figures = { requests, admitted, limited, entries, restores, limiting_cycles, peak_count };
  const { first_cycle, last_cycle, reactions } = observed.outcome;
  const first = first_cycle ?? 0;
  // Whatever length they have in the scenario.
  expect([burst.cycleMs, observed.outcome]).toEqual([777, expect.objectContaining({ ...figures, cycle_ms: CYCLE_MS })]);
  expect(lines.map(({ elapsed }) => elapsed)).toEqual(lines.map((_, k) => k + 1));
  expect(lines.length).toBeGreaterThanOrEqual((last_cycle ?? 0) - first);
  const measured = expect.any(Number);
  expect(reactions).toEqual([
    {
      ...{ contract: 'all', entry_cycle: first + 6, reaction_cycles: 0, reaction_ms: measured, event_ms: measured },
      ...{ restore_cycle: first + 15, recovery_cycles: 2, restore_ms: measured, restore_event_ms: measured },
    },
  ]);
});

it('the series of a live run has the open jobs and the retries of clients, in cycles of the node', async () => {
  const text = scenarios.find(([name]) => name === 'clients that try again')![1];
  const { series, observed } = await run(scenario(`seed: 5\n${text}`), { url, key });
  const sum = (values: readonly (number | null)[] = []) => values.reduce<number>((all, value) => all + (value ?? 0), 0);
  expect(sum(series.retries)).toBe(observed.outcome.clients![0]!.retries);
  expect(sum(series.planned)).toBe(observed.outcome.live!.planned);
  expect(Math.max(...series.open_jobs!)).toBeGreaterThan(0);
  expect(series.cycle).toEqual(series.cycle.map((_, place) => observed.outcome.first_cycle! + place));
});

// By second (of 1700000000) and client: 3 of a; 1 of b; 8 of a and 2 of b; 1 of c.
const rows = ['0,a', '0,a', '0,a', '2,b', ...Array<string>(8).fill('3,a'), '3,b', '3,b', '5,c'];
const lines = rows.map((row) => `170000000${row}\n`).join('');
const log = temporaryFiles().file('requests.csv', `time,client\n${lines}`);

const planAt = (within = 4) => planContract(rateLimiter({ threshold: 6, within }));

/** At speed 20 a cycle of 50 ms stands for a second of the log. */
const sent = (keyColumn?: string) =>
  steady(() =>
    liveReplay([log], {
      url,
      key,
      name: 'requests',
      cycleMs: 1000,
      speed: 20,
      planAt,
      log: { timeColumn: 'time', keyColumn },
    }),
  );

it('a log is sent at its recorded times, as many times as fast as was asked', async () => {
  const { comparison, live, first } = told(await sent());
  expect(comparison.verdict).toBe('agrees');
  expect(live.by_cycle.map(({ cycle, arrived }) => [cycle - first, arrived])).toEqual([
    [0, 3],
    [2, 1],
    [3, 10],
    [5, 1],
  ]);
});

it('a log keeps its window at a node that is started for it, and at one that runs', async () => {
  // A cycle stands for one second, and for two: each request is due at the beginning of one. The last is limited by a window of 8 s only.
  const seconds = ['0', '0', '0', ...Array<string>(11).fill('2'), '6'];
  const even = temporaryFiles().file('even.csv', `time\n${seconds.map((at) => `170000000${at}\n`).join('')}`);
  const options = { name: 'requests', log: { timeColumn: 'time' } };
  const { outcome } = await replay([even], { ...options, cycleMs: 1000, plan: planAt() });
  const asked = { ...options, cycleMs: 1000, planAt };
  const slow = await startRunning({ cycleMs: 200 });
  const started = await steady(() => liveReplay([even], { ...asked, speed: 5 }));
  const there = await steady(() => liveReplay([even], { ...asked, url: slow.url, key: slow.keyOf('load'), speed: 10 }));
  const figures = [started, there].map(({ observed: { outcome: of } }) => [of.limited, of.cycle_ms, of.notes]);
  expect([outcome.limited, figures]).toEqual([8, Array(2).fill([8, 200, undefined])]);
  const fine = { ...asked, url, key, speed: 1000 };
  await expect(liveReplay([log], fine)).rejects.toMatchObject({ code: 'wrong_usage' });
  await expect(liveReplay([log], { ...asked, speed: 3000 })).rejects.toMatchObject({ code: 'wrong_usage' });
  const rule = () => planContract(ruleLimiter({ primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } }));
  await expect(liveReplay([log], { ...asked, planAt: rule, speed: 20 })).rejects.toThrow(
    /--speed does not go with a rule/,
  );
});

it('a run refuses another length of a cycle than that of the node', async () => {
  const other = { url, key, cycleMs: 100 };
  await expect(run(burst, other)).rejects.toThrow(/--cycle-ms 100 has no effect: the node at .* has cycles of 50 ms/);
});

it('a log gives each key a limiter of its own', async () => {
  const result = await sent('client');
  const { by_contract, limited } = result.observed.outcome;
  expect(told(result).comparison.verdict).toBe('agrees');
  // Of the eleven of a, four came after the six that its window may hold: the first three still were in it.
  expect([by_contract.map(({ id, requests }) => [id, requests]), limited]).toEqual([
    [
      ['a', 11],
      ['b', 3],
      ['c', 1],
    ],
    5,
  ]);
});

async function slow(ms: number): Promise<string> {
  return (await loopback(createServer((_, response) => setTimeout(() => response.end(), ms)))).url;
}

const arrivals = 'arrivals: [{ model: constant, rate: 10/s }]';
const common = 'cycle_ms: 200\nduration: 5\ntarget: { method: GET }';
const client = 'contracts: 1\nclients: [{ kind: open, share: 1 }]';
const paths: [path: string, text: string][] = [
  ['a limiter by cycles', `limiter: { threshold: 1000, within: 5 }\n${arrivals}`],
  ['a limiter by the ms', `limiter: { primitive: gcra, params: { T_ms: 1, tau_ms: 1000 } }\n${arrivals}`],
  ['no limiter', `limiter: { primitive: none, params: {} }\n${arrivals}`],
  ['clients', `limiter: { threshold: 1000, within: 5 }\n${arrivals}\n${client}`],
];

it.each(paths)('a run not sent as planned is invalid and names the connections in use: %s', async (_, text) => {
  const result = await run(scenario(`${common}\n${text}`), { url: await slow(400), connections: 2 });
  const { comparison, live } = told(result);
  expect(comparison).toMatchObject({
    verdict: 'run invalid',
    reason: expect.stringMatching(/ of 10 requests were sent late: 2 connections were in use; raise -c/),
  });
  expect(live.connections).toBe(2);
});

it.each(paths)('a run opens the connections that it needs where no bound is given: %s', async (_, text) => {
  const many = scenario(`${common}\n${text.replace('10/s', '300/s')}`.replace('duration: 5', 'duration: 3'));
  const { live } = (await run(many, { url: await slow(600) })).observed.outcome;
  expect([live!.sent, live!.answered, live!.connections > 128]).toEqual([180, 180, true]);
});
