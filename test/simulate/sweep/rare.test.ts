import { expect, it } from 'vitest';
import { transient } from '../../../src/math/chain.js';
import { type RareEvent, rareEvent } from '../../../src/math/splitting.js';
import { mapBlocks } from '../../../src/report/sweep-document.js';
import { blocksText } from '../../../src/report/terminal-blocks.js';
import { parseScenario, type ScenarioObject } from '../../../src/scenario/load-scenario.js';
import { type FigureList, runReplication } from '../../../src/simulate/replication.js';
import { mapCollapse } from '../../../src/simulate/sweep/collapse-map.js';
import { planSweep } from '../../../src/simulate/sweep/plan-sweep.js';

const service = { servers: 1, time: { law: 'exponential', mean: '100ms' } } as const;
const base = { question: 'Q?', cycle_ms: 100, duration: '12s', drain: 0, limiter: 'none', service } as const;

async function split(scenario: ScenarioObject, isHit: (figures: FigureList) => boolean, runs: number) {
  const loaded = parseScenario(scenario, 'test.yaml');
  return (await rareEvent(
    async ({ seed, branches }) => {
      const { records, figures } = await runReplication(loaded, seed, { branches });
      return { records: records!, hasEvent: isHit(figures) };
    },
    scenario.seed ?? 1,
    runs,
  ))!;
}

/** Of the logarithm, from an interval by Student's t of 5 repetitions. */
const errorOf = ({ low, high }: RareEvent) => Math.log(high / low) / (2 * 2.77645);

it('has the probability that M/M/1/K overflows, solved: 1.4e-6', async () => {
  const room = 10;
  const scenario: ScenarioObject = {
    ...base,
    arrivals: [{ model: 'poisson', rate: '2/s' }],
    service: { ...service, queue: room - 1 },
  };
  // Absorbed in the state after the full one.
  const after = transient(room + 2, (state, to) => {
    if (state <= room) to(state + 1, 2);
    if (state > 0 && state <= room) to(state - 1, 10);
  });
  const p = after(
    Float64Array.from({ length: room + 2 }, (_, state) => Number(state === 0)),
    12,
  )[room + 1]!;
  const found = await split(scenario, (figures) => figures['service.refused']! > 0, 3000);
  const error = errorOf(found);
  expect(Math.abs(Math.log(found.mean / p))).toBeLessThan(3.3 * error);
  // As many plain runs as have this error.
  expect(1 / (p * error ** 2)).toBeGreaterThan(50 * found.runs);
});

it('has the share of stuck runs that plain runs have, where that is not rare', async () => {
  const scenario: ScenarioObject = {
    ...base,
    warm_up: '6s',
    arrivals: [{ model: 'poisson', rate: '2.5/s' }],
    clients: [{ kind: 'retrying', timeout: '500ms', max_attempts: 3, backoff: { policy: 'none' } }],
  };
  const isStuck = (figures: FigureList) => figures['clients.succeeded']! < figures['clients.jobs']! / 2;
  const loaded = parseScenario(scenario, 'test.yaml');
  const n = 1500;
  let stuck = 0;
  for (let seed = 0; seed < n; seed += 1) if (isStuck((await runReplication(loaded, seed, {})).figures)) stuck += 1;
  const found = await split(scenario, isStuck, 1500);
  expect(stuck).toBeGreaterThan(3);
  expect(Math.abs(Math.log(found.mean / (stuck / n)))).toBeLessThan(
    3.3 * Math.hypot(errorOf(found), 1 / Math.sqrt(stuck)),
  );
});

it('is refused where nothing has a backlog', async () => {
  const plan = await planSweep(
    { question: 'Q?', duration: 20, arrivals: [{ model: 'constant', rate: 1 }] },
    { set: [] },
  );
  const question = { across: 'arrivals.0.rate=1,2', up: 'limiter.threshold=1,2', stuck: 'limited > 0', budget: 1000 };
  await expect(mapCollapse(plan, question)).rejects.toThrow(
    expect.objectContaining({ what: expect.stringContaining('Splitting needs clients') }),
  );
});

it('a map says what is estimated, and what is solved', async () => {
  const scenario: ScenarioObject = {
    ...base,
    cycle_ms: 500,
    duration: '8s',
    arrivals: [
      { model: 'poisson', rate: '2/s' },
      { model: 'poisson', rate: '20/s', from: '2s', to: '3s' },
    ],
    service: { ...service, queue: 8 },
  };
  // A proxy cannot be sent to a thread: the runs stay in this one.
  const plan = await planSweep(new Proxy(scenario, {}), { set: [] }, { replications: 4 });
  const question = {
    across: 'arrivals.0.rate=2/s,3/s',
    up: 'arrivals.1.rate=5/s,8/s',
    stuck: 'service.refused > 0',
    budget: 1000,
  };
  const map = (await mapCollapse(plan, question))!;
  const shown = map.rows.map(({ figures: { stuck, not_recovered, split_runs, ...others } }) => [
    stuck!.low! > 0 && stuck!.high! < 1,
    not_recovered!.mean < 0.1 && not_recovered!.low === null,
    split_runs!.mean > 500,
    others['clients.drain_ms']!.low,
  ]);
  const text = blocksText(mapBlocks(map), { columns: 400, color: false, unicode: true });
  expect(shown).toEqual(Array(4).fill([true, true, true, null]));
  expect(map.columns.map(({ recovers }) => recovers!.ms.high)).toEqual([null, null]);
  expect(text).toContain('are solved at 4 points: the scenario is a Markov chain');
  expect(text).toContain(
    'At 4 points, where fewer than 3 runs are stuck, the share is estimated by multilevel splitting',
  );
});
