import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { blocksText } from '../../../src/report/terminal-blocks.js';
import { type CollapseMap, type MapQuestion, mapCollapse } from '../../../src/tools/sweep/collapse-map.js';
import { planSweep } from '../../../src/tools/sweep/plan-sweep.js';
import { mapBlocks } from '../../../src/tools/sweep/sweep-document.js';

// Without draws: what is limited follows from load and trigger alone. A function keeps the runs in this thread.
const scenario: ScenarioObject = {
  question: 'Q?',
  duration: 20,
  limiter: { threshold: 30, within: 20 },
  arrivals: [{ model: 'constant', rate: 1 }, { model: 'constant', rate: 1, from: 5, to: 7 }, () => 0],
};

const question: MapQuestion = {
  across: 'arrivals.0.rate=0..2:0.2',
  up: 'arrivals.1.rate=0..16:1',
  stuck: 'limited > 0',
};

async function mapOf(more: Partial<MapQuestion> = {}, set: string[] = [], runs = 1): Promise<CollapseMap> {
  const plan = await planSweep(scenario, { set }, { replications: runs });
  return (await mapCollapse(plan, { ...question, ...more }))!;
}

/** 20 cycles of the load and two of the trigger. */
const isStuck = (load: number, trigger: number) => Math.floor(20 * load + 1e-9) + 2 * trigger > 30;

it('a map of collapse is what all runs would give, from a part of them', async () => {
  const { rows, runs, runsOfAll } = await mapOf();
  const wrong = rows.filter(({ set, figures }) => {
    const [load, trigger] = [set['arrivals.0.rate'] as number, set['arrivals.1.rate'] as number];
    return figures['stuck']!.mean !== Number(isStuck(load, trigger));
  });
  expect([wrong, rows.length, runsOfAll]).toEqual([[], 11 * 17, 11 * 17 * 4]);
  expect(runs).toBeLessThan(runsOfAll / 2);
  expect(rows.filter(({ figures }) => figures['runs']!.mean === 0).length).toBeGreaterThan(rows.length / 4);
});

it('a map of collapse has a zone for each load, and the smallest trigger that leaves it stuck', async () => {
  const { columns } = await mapOf({ up: 'arrivals.1.rate=0..6:1' });
  const zones = columns.map(({ set, zone, stuckFrom }) => [set['arrivals.0.rate'], zone, stuckFrom]);
  expect(zones[0]).toEqual([0, 'stable', undefined]);
  expect(zones[5]).toEqual([1, 'vulnerable', 6]);
  expect(zones[7]).toEqual([1.4, 'vulnerable', 2]);
  expect(zones[10]).toEqual([2, 'collapsed', 0]);
});

it('a map of collapse compares policies, a map for each', async () => {
  const { columns, axes } = await mapOf({}, ['limiter.threshold=30,1000']);
  expect(axes.map(({ path }) => path)).toEqual(['limiter.threshold', 'arrivals.1.rate', 'arrivals.0.rate']);
  expect(columns.filter(({ set }) => set['limiter.threshold'] === 1000).every(({ zone }) => zone === 'stable')).toBe(
    true,
  );
});

it.each([
  [{ across: 'arrivals.0.rate=1' }, 'at least two values'],
  [{ up: 'arrivals.1.rate=1..5' }, 'without a step'],
  [{ stuck: 'limitted > 0' }, 'cannot be read'],
  [{ stuck: 'clients.retries > 0' }, 'not every run has'],
])('a map of collapse refuses %j: %s', async (more, what) => {
  await expect(mapOf(more)).rejects.toThrow(expect.objectContaining({ what: expect.stringContaining(what) }));
});

// Theory: stable below half of the capacity (test/published/outage.ts), here at a tenth of the rates: below 15 of 30 a second. At 14 the
// queue of an outage drains, but not within a minute.
it('a map of collapse takes for stable what only drains longer than the run, and says so', async () => {
  const outage = parse(readFileSync('scenarios/outage.yaml', 'utf8'));
  const service = { ...outage.service, time: { ...outage.service.time, mean: '33.33333ms' } };
  const here = { ...outage, service, arrivals: [...outage.arrivals, () => 0] };
  const plan = await planSweep(here, { set: [] }, { replications: 1 });
  const map = await mapCollapse(plan, {
    across: 'arrivals.0.rate=14/s..18/s:4/s',
    up: 'faults.0.to=6s..16s:10s',
    stuck: 'clients.succeeded < clients.jobs / 2',
  });
  expect(
    map!.columns.map(({ zone, stuckFrom, drainsUpTo, prolonged }) => [zone, stuckFrom, drainsUpTo, prolonged]),
  ).toEqual([
    ['stable', undefined, '16s', 8],
    ['vulnerable', '16s', undefined, 8],
  ]);
  expect(map!.rows.map(({ figures }) => figures['stuck']!.mean)).toEqual([0, 0, 0, 1]);
  expect(blocksText(mapBlocks(map!), { columns: 200, color: false, unicode: true })).toContain(
    'arrivals.0.rate=14/s: the runs are too short. With faults.0.to=16s the service is not back at their end, but is in runs 8 times as long.',
  );
});

// M/M/1: from n jobs to u it takes (n - u) / (mu - lambda) in the mean, here with n = spike + 1 and u = 1 or 2.
it('a map of collapse measures the time to recover, with an interval that has the closed form', async () => {
  const queue = {
    question: 'Q?',
    cycle_ms: 200,
    duration: '80s',
    limiter: { threshold: 1e6, within: 60 },
    arrivals: [
      { model: 'poisson', rate: '5/s' },
      { model: 'spikes', from: '10s', to: '10.2s', requests: 100 },
      () => 0,
    ],
    service: { servers: 1, time: { law: 'exponential', mean: '100ms' } },
    clients: [{ kind: 'open' }],
  } as unknown as ScenarioObject;
  const plan = await planSweep(queue, { set: [] }, { replications: 40 });
  const map = await mapCollapse(plan, {
    across: 'arrivals.0.rate=2/s,5/s',
    up: 'arrivals.1.requests=50,100',
    stuck: 'clients.succeeded < clients.jobs / 2',
  });
  const found = map!.columns.map(({ zone, recovers }) => {
    const { mean, low, high } = recovers!.ms;
    return { zone, from: recovers!.from, mean, width: high! - low! };
  });
  const theory = [100 / 8, 100 / 5];
  expect(found.map(({ zone, from }) => [zone, from])).toEqual(Array(2).fill(['stable', 100]));
  expect(found.map(({ mean, width }, k) => Math.abs(mean / 1000 - theory[k]!) < width / 1000)).toEqual([true, true]);
  expect(found.every(({ mean, width }) => width < 0.2 * mean)).toBe(true);
  expect(blocksText(mapBlocks(map!), { columns: 200, color: false, unicode: true })).toContain(
    '19 [18, 20.1] from 100',
  );
});
