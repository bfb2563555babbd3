import fc from 'fast-check';
import { lastValueFrom, tap } from 'rxjs';
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { simulate$, toRun } from '../../../src/harness/simulate/simulate.js';
import { type PopularitySpec, planPopularity } from '../../../src/harness/traffic/popularity.js';
import { NaiveLimiter } from '../../core/limiter/naive-limiter.js';
import { forAllAsync } from '../../draws.js';
import { read } from '../scenario/reading.js';
import { drawn, everyCycle, run, type Told } from './running.js';

const counted = (counts: readonly number[], more = '') =>
  `question: Q?\nduration: ${counts.length}\narrivals: [{ model: counts, counts: [${counts.join(', ')}] }]\n${more}`;

it('the worked example has two entries and two restores, with their cycles and counts', async () => {
  const { outcome } = await run(counted([1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1], 'limiter: { threshold: 2, within: 10 }\n'));
  expect(outcome.by_contract[0]!.transitions).toEqual([
    { cycle: 9, to: 'limiting', count: 3 },
    { cycle: 10, to: 'allowing', count: 2 },
    { cycle: 10, to: 'limiting', count: 3 },
    { cycle: 11, to: 'allowing', count: 2 },
  ]);
  expect(outcome.reactions).toEqual([
    { contract: 'all', entry_cycle: 9, reaction_cycles: 0, restore_cycle: 10, recovery_cycles: 1 },
    { contract: 'all', entry_cycle: 10, reaction_cycles: 0, restore_cycle: 11, recovery_cycles: 1 },
  ]);
});

/** The whole run by the naive limiter, each request dealt by itself. */
function naively(
  counts: readonly number[],
  spec: { threshold: number; within: number; first: number; law: PopularitySpec; contracts: number; seed: number },
) {
  const { threshold, within, first, law, contracts, seed } = spec;
  const popularity = planPopularity(law, contracts).make(new RandomStream(seed, 'popularity'));
  const limiters = Array.from({ length: contracts }, () => new NaiveLimiter(threshold, within, first - 1));
  const told = limiters.map((): Told[] => []);
  const peaks = limiters.map(() => ({ peak_count: 0, peak_cycle: null as number | null }));
  const lastCycle = first + counts.length - 1 + within;
  for (let cycle = first; cycle <= lastCycle; cycle += 1) {
    const dealt = limiters.map(() => 0);
    for (let k = counts[cycle - first] ?? 0; k > 0; k -= 1) dealt[popularity()]! += 1;
    limiters.forEach((limiter, contract) => {
      const { admitted } = limiter.decide(dealt[contract]!, cycle);
      told[contract]!.push({ requests: dealt[contract]!, admitted, count: limiter.count, state: limiter.state });
      if (limiter.count > peaks[contract]!.peak_count)
        peaks[contract] = { peak_count: limiter.count, peak_cycle: cycle };
    });
  }
  const by_contract = limiters.map(({ transitions }, contract) => {
    const requests = told[contract]!.reduce((sum, one) => sum + one.requests, 0);
    const admitted = told[contract]!.reduce((sum, one) => sum + one.admitted, 0);
    const entries = transitions.filter(({ to }) => to === 'limiting');
    const restores = transitions.filter(({ to }) => to === 'allowing');
    return {
      id: contracts === 1 ? 'all' : String(contract + 1),
      threshold,
      within,
      requests,
      admitted,
      limited: requests - admitted,
      entries: entries.length,
      restores: restores.length,
      limiting_cycles: restores.reduce((sum, { cycle }, index) => sum + cycle - entries[index]!.cycle, 0),
      ...peaks[contract]!,
      transitions: [...transitions],
    };
  });
  return { told, lastCycle, by_contract };
}

const laws = fc.oneof(
  fc.constant<PopularitySpec>({ law: 'even' }),
  fc.constant<PopularitySpec>({ law: 'uniform' }),
  fc.constant<PopularitySpec>({ law: 'zipf', exponent: 1.5 }),
);

const cases = fc.record({
  counts: fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 12 })), {
    minLength: 1,
    maxLength: 40,
  }),
  threshold: fc.integer({ min: 1, max: 12 }),
  within: fc.integer({ min: 1, max: 15 }),
  first: fc.constantFrom(0, 7, 2_305_120_007, 100_000_000_000),
  contracts: fc.integer({ min: 1, max: 4 }),
  law: laws,
  seed: fc.integer({ min: 0, max: 99 }),
});
type Case = typeof cases extends fc.Arbitrary<infer One> ? One : never;
const textOf = ({ counts, threshold, within, first, contracts, law, seed }: Case, more = '') =>
  counted(
    counts,
    `start_cycle: ${first}\nseed: ${seed}\nlimiter: { threshold: ${threshold}, within: ${within} }\ncontracts: { count: ${contracts}, popularity: ${JSON.stringify(law)} }\n${more}`,
  );

it.each([
  ['counted cycle by cycle', ''],
  ['sent one by one by clients that do not react', 'clients: [{ kind: open }]\n'],
  ['sent one by one at random instants', 'clients: [{ kind: open }]\n#random'],
])('any counts %s give what the naive limiter gives', async (_, more) => {
  await forAllAsync([cases], async (given) => {
    const text = textOf(given, more);
    const { outcome, timeline, totals } = await run(
      more.includes('#random') ? text.replace('model: counts,', 'model: counts, placement: random,') : text,
    );
    const { told, lastCycle, by_contract } = naively(given.counts, given);
    const sorted = by_contract.toSorted((a, b) => b.limited - a.limited || (a.id < b.id ? -1 : 1));
    const sum = (name: 'requests' | 'admitted' | 'limited' | 'entries' | 'restores' | 'limiting_cycles') =>
      by_contract.reduce((total, one) => total + one[name], 0);
    expect(outcome).toMatchObject({
      first_cycle: given.first,
      last_cycle: lastCycle,
      requests: sum('requests'),
      admitted: sum('admitted'),
      limited: sum('limited'),
      entries: sum('entries'),
      restores: sum('restores'),
      limiting_cycles: sum('limiting_cycles'),
      contracts_limited: by_contract.filter((one) => one.limited > 0).length,
      peak_count: Math.max(...by_contract.map((one) => one.peak_count)),
    });
    expect(outcome.by_contract).toEqual(sorted);
    by_contract.forEach(({ id }, contract) => {
      expect(everyCycle(timeline!, id, given.first, lastCycle)).toEqual(told[contract]);
    });
    const perCycle = everyCycle(totals, 'all', given.first, lastCycle);
    expect(perCycle).toEqual(
      perCycle.map((_, at) => {
        const limiting = told.filter((one) => one[at]!.state === 'limiting').length;
        return {
          requests: told.reduce((n, one) => n + one[at]!.requests, 0),
          admitted: told.reduce((n, one) => n + one[at]!.admitted, 0),
          count: limiting,
          state: limiting > 0 ? 'limiting' : 'allowing',
        };
      }),
    );
  });
});

const overload = counted([5, 5, 5, 5], 'limiter: { threshold: 2, within: 3 }\n');

it.each<[what: string, more: string, last: number]>([
  ['the drain is a window', '', 6],
  ['or what the scenario says', 'drain: 1\n', 4],
  ['or nothing', 'drain: 0\n', 3],
])('a run ends after its drain: %s', async (_, more, last) => {
  const { outcome } = await run(overload + more);
  const [{ transitions }] = outcome.by_contract as [(typeof outcome.by_contract)[0]];
  expect([outcome.last_cycle, outcome.limiting_cycles, outcome.entries, transitions.length, outcome.partial]).toEqual([
    last,
    last,
    1,
    last === 6 ? 2 : 1,
    undefined,
  ]);
});

it.each([
  [0, 0, true],
  [2, 2, true],
  [5, 5, true],
  [6, 6, undefined],
  [1000, 6, undefined],
])('a run until cycle %i ends at cycle %i, partial %s', async (untilCycle, last, partial) => {
  const { outcome } = await run(overload, { untilCycle });
  expect([outcome.last_cycle, outcome.partial, outcome.requests]).toEqual([
    last,
    partial,
    Math.min(20, 5 * (last + 1)),
  ]);
});

it('clients are counted from the end of the warm-up on', async () => {
  const { outcome } = await run(`${overload}clients: [{ kind: open }]\nwarm_up: 2\n`);
  expect([outcome.requests, outcome.clients![0]!.jobs]).toEqual([20, 10]);
});

it.each([
  ['counted', ''],
  ['with clients', 'clients: [{ kind: obedient, max_attempts: 2 }]\n'],
  ['a fleet', 'contracts: { count: 50, independent: true }\n'],
])('a run that is stopped leaves what it has done, and judges that: %s', async (_, more) => {
  const text = `question: Q?\nduration: 1000\narrivals: [{ model: poisson, rate: 5 }]\n${more}expect: [requests > 0, { that: requests == 0, from: 999 }]\n`;
  const whole = await run(text);
  const controller = new AbortController();
  const scenario = read(text);
  const rows = simulate$(scenario, { signal: controller.signal }).pipe(
    tap(({ cycle }) => {
      if (cycle >= 250) controller.abort();
    }),
  );
  const { outcome, timeline, totals } = (await lastValueFrom(rows.pipe(toRun(scenario)))).run;
  const last = outcome.last_cycle!;
  expect(outcome.partial).toBe(true);
  expect(last).toBeGreaterThanOrEqual(250);
  expect(last).toBeLessThan(350);
  expect(outcome.expectations.map(({ held, actual }) => [held, actual])).toEqual([
    [true, outcome.requests],
    [false, null],
  ]);
  const upTo = (rows: Iterable<{ cycle: number }>) => [...rows].filter(({ cycle }) => cycle < last);
  expect(upTo(totals.rows())).toEqual(upTo(whole.totals.rows()));
  expect(upTo(timeline!.rows())).toEqual(upTo(whole.timeline!.rows()));
});

it('a run that is stopped before it began has done nothing, and its outcome says so', async () => {
  const { outcome } = await run(counted([1, 2, 3]), { signal: AbortSignal.abort() });
  expect([outcome.partial, outcome.requests, outcome.first_cycle, outcome.last_cycle]).toEqual([true, 0, 0, 0]);
});

const text =
  'question: Q?\nduration: 500\nlimiter: { threshold: 20, within: 30 }\narrivals: [{ model: poisson, rate: 1 }]\nclients: [{ kind: retrying, backoff: { policy: full_jitter } }]\nservice: { time: { law: exponential, mean: 300ms } }\n';
it('the same seed gives the same digest, watched or not; another seed gives another one', async () => {
  const digestOf = async (options = {}) => (await run(text, options)).outcome.digest;
  const first = await digestOf();
  expect(await digestOf()).toBe(first);
  expect(await digestOf({ signal: new AbortController().signal })).toBe(first);
  expect(await digestOf({ inspect: () => undefined })).toBe(first);
  expect(await digestOf({ seed: 1 })).toBe(first);
  expect(await digestOf({ seed: 2 })).not.toBe(first);
});

it('each independent contract has all the arrivals to itself', async () => {
  const { outcome } = await run(
    'question: Q?\nduration: 50\ncontracts: { count: 3, independent: true }\narrivals: [{ model: constant, rate: 1 }, { model: spikes, requests: 70, at: 9 }]\n',
  );
  expect(outcome.by_contract.map(({ id, requests, limited }) => [id, requests, limited])).toEqual([
    ['1', 120, 20],
    ['2', 120, 20],
    ['3', 120, 20],
  ]);
});

it('chance is drawn apart for each independent contract, and is the same whatever their number', async () => {
  const requestsOf = async (count: number) =>
    (
      await run(
        `question: Q?\nduration: 50\ncontracts: { count: ${count}, independent: true }\narrivals: [{ model: poisson, rate: 3 }]\n`,
      )
    ).outcome.by_contract
      .toSorted((a, b) => Number(a.id) - Number(b.id))
      .map(({ requests }) => requests);
  const [two, five] = [await requestsOf(2), await requestsOf(5)];
  expect(five.slice(0, 2)).toEqual(two);
  expect(new Set(five).size).toBeGreaterThan(1);
});

it('what comes in a pause is decided, in order, when the node goes on', async () => {
  const { outcome, timeline } = await run(
    counted(
      [1, 1, 1, 1, 1, 1, 1, 1],
      'limiter: { threshold: 3, within: 4 }\nfaults: [{ kind: pause, from: 2, to: 5 }]\n',
    ),
  );
  expect(drawn(everyCycle(timeline!, 'all', 0, outcome.last_cycle!))).toBe('1:1 1:1 . . . [4:3] [1:0] [1:0] [.] . . .');
});

it.each<[what: string, attempts: number, when: string, told: readonly [attempts: number, givenUp: number]]>([
  ['to the end', 2, '', [8, 4]],
  ['from one cycle to another', 1, ', from: 1, to: 3', [4, 2]],
])('a request whose answer is lost is counted, and its client does not hear of it: %s', async (_, most, when, told) => {
  const { outcome } = await run(
    counted(
      [1, 1, 1, 1],
      `clients: [{ kind: retrying, max_attempts: ${most} }]\nfaults: [{ kind: lost_answers, share: 1${when} }]\n`,
    ),
  );
  const { jobs, attempts, succeeded, given_up } = outcome.clients![0]!;
  expect([outcome.requests, jobs, attempts, succeeded, given_up]).toEqual([told[0], 4, told[0], 4 - told[1], told[1]]);
});

it('a state that admits is not counted as limiting, in a definition of its own', async () => {
  const trigger = (condition: string) =>
    `{ kind: on_aggregate, event: request, aggregate: count, within: 3, condition: '${condition}' }`;
  const move = (from: string, to: string, condition: string) =>
    `      - { from: ${from}, to: ${to}, operator: KO42, trigger: ${trigger(condition)} }\n`;
  const { outcome, totals } = await run(
    `${counted([1, 3, 3, 0, 0, 0])}limiter:\n  definition:\n    name: warned\n    version: "1.0"\n    states: { calm: { initial: true, role: initial }, warned: { role: initial }, limiting: { role: intermediate } }\n    transitions:\n${move('calm', 'warned', 'count > 2 && count <= 4')}${move('warned', 'calm', 'count <= 2')}${move('warned', 'limiting', 'count > 4')}${move('limiting', 'warned', 'count <= 4')}`,
  );
  expect(outcome.by_contract[0]!.transitions.map(({ cycle, to }) => `${cycle} ${to}`)).toEqual(
    expect.arrayContaining([expect.stringMatching(/warned$/)]),
  );
  expect([...totals.rows()].every(({ count }) => count === 0 || count === 1)).toBe(true);
});

it('expectations know every entry, however many an outcome lists', async () => {
  const { outcome } = await run(
    'question: Q?\nduration: 4000\nlimiter: { threshold: 1, within: 1 }\narrivals: [{ model: spikes, requests: 2, every: 3 }]\nexpect: [last_restore == 4000, entries == 1334]\n',
  );
  expect([outcome.reactions!.length, outcome.verdict]).toEqual([1000, 'held']);
});
