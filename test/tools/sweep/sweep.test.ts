import { from, lastValueFrom, map, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { parseScenario, type ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { replicationSeed } from '../../../src/harness/simulate/replication.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { type Find, type Found, findValues } from '../../../src/tools/sweep/find.js';
import { planSweep } from '../../../src/tools/sweep/plan-sweep.js';
import { type SweepRow, type SweepRun, sweep } from '../../../src/tools/sweep/sweep.js';

// Functions keep a sweep in this thread; command.test.ts has the threads.
const counts = [0, 3, 1, 5, 2, 8, 1, 1];
const scenario: ScenarioObject = {
  question: 'Q?',
  duration: 40,
  limiter: { threshold: 4, within: 5 },
  arrivals: [(cycle) => counts[cycle % counts.length]!, { model: 'poisson', rate: 0.5 }],
  expect: ['limited <= 60'],
};

async function rowsOf(set: string[], options: Parameters<typeof sweep>[2] = {}): Promise<SweepRow[]> {
  const rows: SweepRow[] = [];
  for await (const row of sweep(scenario, { set }, options)) rows.push(row);
  return rows;
}

it('a sweep gives for each cell what its runs give alone', async () => {
  const rows = await rowsOf(['limiter.threshold=2..10:4', 'limiter.within=5,20'], { replications: 3 });
  expect(rows.map(({ cell, n }) => [cell, n])).toEqual([0, 1, 2, 3, 4, 5].map((cell) => [cell, 3]));
  for (const { set, figures, held } of rows) {
    const limiter = { threshold: set['limiter.threshold'], within: set['limiter.within'] } as { threshold: number };
    const alone = await Promise.all(
      [0, 1, 2].map((index) => simulate(parseScenario({ ...scenario, limiter }), { seed: replicationSeed(1, index) })),
    );
    const limited = alone.map(({ outcome }) => outcome.limited);
    expect(figures['limited']!.mean).toBeCloseTo(limited.reduce((sum, one) => sum + one, 0) / 3, 9);
    expect(held).toBe(alone.filter(({ outcome }) => outcome.verdict === 'held').length);
    expect(figures['limited']!.low).toBeLessThanOrEqual(figures['limited']!.mean);
  }
});

it('a sweep varies the seed: each is the run of that seed', async () => {
  const rows = await rowsOf(['seed=1,2,3']);
  const alone = await Promise.all([1, 2, 3].map((seed) => simulate(parseScenario(scenario), { seed })));
  const limited = rows.map(({ figures }) => figures['limited']!.mean);
  expect(limited).toEqual(alone.map(({ outcome }) => outcome.limited));
  expect(new Set(rows.map(({ figures }) => figures['requests']!.mean)).size).toBeGreaterThan(1);
  await expect(rowsOf(['seed=1,2'], { seed: 5 })).rejects.toThrow('The seed is given twice');
});

it('a sweep gives a limiter to a scenario without one, and its figures to the control', async () => {
  const free = {
    ...scenario,
    limiter: 'none',
    control: { name: 'half of it', arrivals: [{ model: 'poisson', rate: 0.5 }] },
  };
  const rows: SweepRow[] = [];
  for await (const row of sweep(free as ScenarioObject, { set: ['limiter.threshold=2,100000'] })) rows.push(row);
  expect(rows.map(({ figures }) => figures['limited']!.mean > 0)).toEqual([true, false]);
  expect(rows[0]!.figures['control.requests']!.mean).toBeLessThan(rows[0]!.figures['requests']!.mean);
});

it('a sweep of single runs has values without intervals', async () => {
  const [row] = await rowsOf(['limiter.threshold=4']);
  expect(row!.figures['requests']).toEqual({ mean: expect.any(Number), low: null, high: null });
});

it('a sweep is an Observable by `from`', async () => {
  const means = from(sweep(scenario, { set: ['limiter.threshold=1,100000'] })).pipe(
    map(({ figures }) => figures['limited']!.mean > 0),
    toArray(),
  );
  expect(await lastValueFrom(means)).toEqual([true, false]);
});

it('a sweep goes on from known runs: none is made twice, and the rows are the same', async () => {
  const set = ['limiter.threshold=2,4,6'];
  const made: SweepRun[] = [];
  const whole = await rowsOf(set, { replications: 4, onRun: (run) => made.push(run) });
  const known = [...made.slice(3, 5), ...made.slice(9, 12), made[3]!];
  const again: string[] = [];
  const rows = await rowsOf(set, {
    replications: 4,
    known,
    onRun: ({ cell, replication }) => again.push(`${cell}/${replication}`),
  });
  expect(rows).toEqual(whole);
  expect(again).toHaveLength(12 - 5);
  const before = new Set(known.map(({ cell, replication }) => `${cell}/${replication}`));
  expect(again.filter((key) => before.has(key))).toEqual([]);
});

it('a sweep that is stopped ends there, with whole cells only', async () => {
  const controller = new AbortController();
  const rows = await rowsOf(['limiter.threshold=1..100:1'], {
    replications: 2,
    signal: controller.signal,
    onRun: ({ cell, replication }) => {
      if (cell === 3 && replication === 0) controller.abort();
    },
  });
  expect(rows.map(({ cell }) => cell)).toEqual([0, 1, 2]);
});

it('a sweep has an identity: scenario, cells, seed and replications', async () => {
  const id = async (set: string[], options = {}, source = scenario) => (await planSweep(source, { set }, options)).id;
  const set = ['limiter.threshold=1,2'];
  const one = await id(set);
  expect(await id(['limiter.threshold=1..2:1'])).toBe(one);
  const others = [
    await id(['limiter.threshold=1,3']),
    await id(set, { seed: 5 }),
    await id(set, { replications: 2 }),
    await id(set, {}, { ...scenario, duration: 41 }),
    await id(set, {}, { ...scenario, arrivals: [() => 1] }),
  ];
  expect(new Set([one, ...others]).size).toBe(6);
});

it.each([
  [['limiter.treshold=1'], 'limiter.treshold=1', 'did you mean "threshold"?'],
  [['limiter.threshold=1,-4'], 'limiter.threshold=-4', 'limiter/threshold'],
])('a sweep refuses %j before the first run, and names the cell', async (set, what, why) => {
  await expect(planSweep(scenario, { set })).rejects.toThrow(
    expect.objectContaining({ what: expect.stringContaining(what), why: expect.stringContaining(why) }),
  );
});

const find = async (over: string, condition: string, set: string[] = [], source = scenario): Promise<Found[]> => {
  const found: Found[] = [];
  const plan = await planSweep(source, { set });
  for await (const one of findValues(plan, { over, condition } satisfies Find)) found.push(one);
  return found;
};
/** 1,000 cycles of 1 s: up to 10 / s are admitted, and the first refused request of a constant stream needs a little more. */
const steady: ScenarioObject = {
  question: 'At which rate does a window of 1,000 requests in 100 s refuse?',
  seed: 7,
  cycle_ms: 1000,
  duration: 1000,
  limiter: { threshold: 1000, within: 100 },
  arrivals: [{ model: 'constant', rate: '1/s' }, () => 0],
};

it('a search finds the value that trying all of them finds', async () => {
  const rows = await rowsOf(['limiter.threshold=1..60:1']);
  const first = rows.find(({ figures }) => figures['limited']!.mean < 0.05 * figures['requests']!.mean)!;
  const [found] = await find('limiter.threshold=1..60', 'limited < 5%');
  expect([found!.answer, found!.value]).toEqual(['smallest', first.set['limiter.threshold']]);
  expect(found!.tried.length).toBeLessThan(20);
});

it.each<[over: string, value: string, next: string, said: string | undefined]>([
  ['arrivals.0.rate=2/s..20/s', '10.1/s', '10/s', '0.1/s'],
  ['arrivals.0.rate=2/s..20/s:log4', '10.1/s', '10/s', '0.1/s'],
  ['arrivals.0.rate=2/s..20/s:0.01/s', '10.01/s', '10/s', '0.01/s'],
  ['arrivals.0.rate=2.5/s..20/s:1/s', '10.5/s', '9.5/s', '1/s'],
  ['arrivals.0.rate=0.5/s..10.1/s', '10.1/s', '10/s', '0.1/s'],
  ['arrivals.0.rate=2/s,10/s,11/s', '11/s', '10/s', undefined],
])('a search ends at the step of %s, or at three figures: %s', async (over, value, next, said) => {
  const [found] = await find(over, 'limited > 0', [], steady);
  expect(found).toMatchObject({ answer: 'smallest', value, next });
  expect(found!.resolution).toBe(said);
  expect(found!.tried.map((one) => Number.parseFloat(String(one.value)))).toEqual(
    found!.tried.map((one) => Number.parseFloat(String(one.value))).toSorted((a, b) => a - b),
  );
});

it('a search goes on in whole numbers where the field takes no others', async () => {
  const [coarse] = await find('limiter.threshold=1..61:log4', 'limited < 5%');
  const [fine] = await find('limiter.threshold=1..60', 'limited < 5%');
  expect([coarse!.value, coarse!.next, coarse!.resolution]).toEqual([fine!.value, fine!.next, 1]);
});

it.each([
  ['limiter.threshold=1..60', 'limited > 20', 'largest'],
  ['limiter.threshold=1..60', 'requests > 0', 'all'],
  ['limiter.threshold=1..60', 'limited > 100%', 'none'],
  ['limiter.threshold=[1, 100, 2, 100, 3, 100, 4, 100]', 'limited == 0', 'not monotone'],
])('a search along %s for %s has the answer: %s', async (over, condition, answer) => {
  const [found] = await find(over, condition);
  expect(found!.answer).toBe(answer);
});

it('a search gives an answer for each cell', async () => {
  const found = await find('limiter.threshold=1..200', 'limited == 0', ['limiter.within=1,20']);
  expect(found.map(({ set, answer }) => [set['limiter.within'], answer])).toEqual([
    [1, 'smallest'],
    [20, 'smallest'],
  ]);
  expect(found[0]!.value).toBeLessThan(found[1]!.value as number);
});

it.each([
  ['limiter.threshold=1..60', 'limitted == 0', [], 'cannot be read'],
  ['limiter.threshold=1..60', '1 < 2', [], 'names no figure'],
  ['limiter.threshold=5', 'limited == 0', [], 'one value only'],
  ['limiter.threshold=1..60', 'limited == 0', ['limiter.threshold=1'], 'set and searched'],
  ['limiter.threshold=1..60', 'clients.retries == 0', [], 'not every run has'],
])('a search refuses %s, %s, %j: %s', async (over, condition, set, what) => {
  await expect(find(over, condition, set)).rejects.toThrow(
    expect.objectContaining({ what: expect.stringContaining(what) }),
  );
});
