import fc from 'fast-check';
import { from } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { recommend } from '../../../src/tools/recommend/recommend.js';
import { familyLadder, fitLadder } from '../../../src/tools/recommend/rule-ladder.js';
import { alikeNetworks } from '../../../src/tools/recommend/suspects.js';
import { forAllAsync } from '../../draws.js';
import { adviceOn, file, replayOf } from './logs.js';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 5);

/** People who visit now and then, each request a few cycles after the one before. */
const people = (count: number) =>
  Array.from({ length: count }, (_, person) =>
    Array.from({ length: 40 + (person % 30) }, (_, i) => ({
      at:
        START_MS +
        ((person * 7919) % 24) * HOUR_MS +
        Math.floor(i / 8) * 200_000 +
        (i % 8) * (900 + (person % 7) * 700),
      key: `person-${person}`,
    })),
  ).flat();

const scrapers = {
  'hammers for an hour': Array.from({ length: 18_000 }, (_, i) => ({
    at: START_MS + 3 * HOUR_MS + i * 200,
    key: 'scraper',
  })),
  'goes on slowly all day': Array.from({ length: 43_200 }, (_, i) => ({ at: START_MS + i * 2000, key: 'scraper' })),
  'comes once in a burst': Array.from({ length: 300 }, () => ({ at: START_MS + 5 * HOUR_MS, key: 'scraper' })),
};

type Recommended = Awaited<ReturnType<typeof recommend>>;

describe('a scraper among 500 people', () => {
  const crowd = people(500);
  const options = { within: [60, '5m'], limitedBelow: [0.01, 0.001] };
  let without: Recommended;
  beforeAll(async () => {
    without = await recommend(crowd, options);
  });

  it.each(Object.entries(scrapers))('a scraper that %s moves no recommendation, and is named', async (_, scraper) => {
    const together = await recommend([...crowd, ...scraper], options);
    const limits = ({ recommendations }: Recommended) =>
      recommendations.map(({ within, limited_below, threshold, requests, limited, keys_limited }) => [
        ...[within, limited_below, threshold, requests, limited, keys_limited],
      ]);
    expect(without.suspects).toEqual([]);
    expect(together.suspects.map(({ key, requests }) => [key, requests])).toEqual([['scraper', scraper.length]]);
    expect(limits(together)).toEqual(limits(without));
  });

  it('a scraper is not excluded from the curve in silence', async () => {
    const scraper = scrapers['comes once in a burst'];
    const { curves, requests, recommendations } = await recommend([...crowd, ...scraper]);
    const { threshold, limited, suspects_limited, clients } = recommendations[0]!;
    const point = curves[0]!.points.find((one) => one.threshold === threshold)!;
    expect(requests).toBe(crowd.length + scraper.length);
    expect(point).toMatchObject({ limited: limited + 300 - threshold, suspects_limited: 300 - threshold });
    expect(suspects_limited).toBe(300 - threshold);
    expect(clients[0]).toMatchObject({ key: 'scraper', limited: 300 - threshold, suspect: true });
  });
});

it('the answer has every figure of a log that can be counted by hand', async () => {
  // Cycles 0, 1 and 3 from a cycle that begins at a whole hour; a window of 2 cycles.
  const at = (cycle: number) => 777 * 1000 * 3_600_000 + cycle * 777;
  const requests = [0, 0, 0, 1, 1, 3].map((cycle, i) => ({ at: at(cycle) + i, key: 'a' }));
  expect(await recommend(requests, { within: 2, limitedBelow: [0.5, 0] })).toMatchObject({
    requests: 6,
    keys: 1,
    curves: [
      {
        rule: 'rolling_count',
        within: 2,
        peak: 5,
        points: [
          [1, 4],
          [2, 3],
          [3, 2],
          [4, 1],
          [5, 0],
        ].map(([threshold, limited]) => ({ threshold, limited, limited_share: limited! / 6, suspects_limited: 0 })),
      },
    ],
    recommendations: [
      { limited_below: 0.5, threshold: 3, limited: 2, worst_burst_1s: 6, worst_burst_1min: 3 * 40, held_out: null },
      { limited_below: 0, threshold: 5, limited: 0, clients: [], by_hour: Array(24).fill(0) },
    ],
    suspects: [],
  });
});

it('the answer is the smallest threshold that keeps the share, which a limit of one less does not', async () => {
  const { recommendations, curves, requests } = await recommend(people(100), { limitedBelow: [0.2, 0.05, 0.01, 0] });
  for (const { limited_below, threshold } of recommendations) {
    const limitedAt = (at: number) => curves[0]!.points.find((one) => one.threshold === at)?.limited ?? 0;
    expect(limitedAt(threshold) < limited_below * requests || limitedAt(threshold) === 0).toBe(true);
    expect(threshold === 1 || limitedAt(threshold - 1) >= limited_below * requests).toBe(true);
  }
});

it('the answer is checked on what the tuning had not seen: a log that grows worse is found out', async () => {
  const quiet = Array.from({ length: 2000 }, (_, i) => ({ at: START_MS + i * 5000 }));
  const loud = Array.from({ length: 800 }, (_, i) => ({ at: START_MS + 10_000_000 + i * 400 }));
  const { recommendations } = await recommend([...quiet, ...loud], { limitedBelow: 0.01 });
  const { held_out, threshold } = recommendations[0]!;
  expect(held_out).toMatchObject({ held: false });
  expect(held_out!.threshold).toBeLessThan(threshold);
  expect(held_out!.limited_share).toBeGreaterThan(0.5);
});

// Those of burst come for one second and then never again; by requests in all, nothing sets them apart.
const bursts = people(200).concat(
  Array.from({ length: 40 }, (_, i) => ({ at: START_MS + 30_000_000 + i * 20, key: 'burst' })),
);

it('the answer for a window does not change with the other windows asked for', async () => {
  const limitsOf = async (within: string[]) => {
    const { recommendations, fitted, curves } = await recommend(bursts, {
      within,
      limitedBelow: 0.01,
      compare: ['gcra'],
    });
    const of = (index: number) => ({ ...recommendations[index]!, fitted: fitted[index]!, curve: curves[index]! });
    return new Map(within.map((one, index) => [one, of(index)]));
  };
  const alone = new Map([...(await limitsOf(['2s'])), ...(await limitsOf(['60s'])), ...(await limitsOf(['5h']))]);
  for (const windows of [
    ['5h', '2s'],
    ['2s', '60s', '5h'],
  ])
    for (const [within, found] of await limitsOf(windows)) expect(found).toEqual(alone.get(within));
});

it('the answer says for which windows a key is a suspect', async () => {
  const { suspects, curves } = await recommend(bursts, { within: ['2s', '5h'] });
  expect(suspects.map(({ key, withins }) => [key, withins])).toEqual([['burst', [curves[0]!.within]]]);
});

it('the answer is checked without the same keys as it was chosen without', async () => {
  const few = Array.from({ length: 600 }, (_, i) => ({
    at: START_MS + i * 500,
    key: i % 2 ? 'loud' : `early-${(i / 2) % 15}`,
  }));
  const rest = Array.from({ length: 300 }, (_, i) => ({ at: START_MS + 300_000 + i * 500, key: `late-${i % 20}` }));
  const all = [...few, ...rest];
  const options = { limitedBelow: 0.01, compare: ['gcra'] };
  const found = await recommend(all, options);
  expect(found.suspects.map(({ key }) => key)).toEqual(['loud']);
  const { held_out, requests } = found.recommendations[0]!;
  const isRest = ({ at, key }: { at: number; key: string }) => at >= Date.parse(held_out!.from_at) && key !== 'loud';
  expect(held_out!.requests).toBe(all.filter(isRest).length);
  expect(held_out!.chosen_from).toBe(all.filter(({ at }) => at < Date.parse(held_out!.from_at)).length / all.length);
  const first = all.filter(({ at, key }) => at < Date.parse(held_out!.from_at) && key !== 'loud');
  const chosen = await recommend(first, options);
  expect(requests).toBe(all.filter(({ key }) => key !== 'loud').length);
  expect(held_out!.threshold).toBe(chosen.recommendations[0]!.threshold);
  expect(found.fitted[0]!.held_out!.value).toBe(chosen.fitted[0]!.value);
  expect(found.fitted[0]!.held_out!.requests).toBe(held_out!.requests);
});

it.each([
  ['an array', (requests: { at: number }[]) => requests],
  ['a generator', (requests: { at: number }[]) => requests.values()],
  ['an Observable', (requests: { at: number }[]) => from(requests)],
  [
    'an AsyncIterable',
    async function* (requests: { at: number }[]) {
      yield* requests;
    },
  ],
])('the requests may come as %s', async (_, as) => {
  const requests = Array.from({ length: 100 }, (_, i) => ({ at: START_MS + i * 100 }));
  const { recommendations } = await recommend(as(requests) as typeof requests, { limitedBelow: 0 });
  expect(recommendations).toMatchObject([{ threshold: 100, limited: 0, clients: [] }]);
});

it('the answer has the limits of other rules as the command finds them, on the same requests', async () => {
  const requests = people(60).toSorted((a, b) => a.at - b.at);
  const path = file('compared.csv', ['ts,client', ...requests.map(({ at, key }) => `${at},${key}`)].join('\n'));
  const ladders = [familyLadder('gcra', 60, 777), familyLadder('nginx', 60, 777)];
  const fit = { limiter: { like: 'nginx', burst: 3 }, values: 'rate=1r/s..9r/s:1r/s' };
  const options = { keyColumn: 'client' };
  const advice = await adviceOn(path, [60], options, [...ladders, fitLadder(fit.limiter, fit.values, 777)]);
  const { fitted, recommendations } = await recommend(requests, {
    limitedBelow: [0.01, 0.001],
    within: 60,
    compare: ['gcra', 'nginx'],
    fit,
  });
  expect(fitted.map(({ value }) => typeof value)).not.toContain('undefined');
  expect(fitted).toEqual(advice.fitted);
  expect(recommendations).toEqual(advice.recommendations);
});

it('what cannot be used is refused', async () => {
  await expect(recommend([{ at: 0 }], { compare: ['gcar'] })).rejects.toMatchObject({ code: 'wrong_usage' });
  await expect(recommend([])).rejects.toMatchObject({ code: 'no_requests' });
  await expect(recommend([{ at: 0 }], { limitedBelow: 2 })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(recommend([{ at: 0 }], { within: 100_001 })).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(recommend([{ at: 0 }], { within: 'soon' })).rejects.toMatchObject({ code: 'invalid_input' });
});

it('lines out of order by more than any buffer holds are counted as replay counts them', async () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => START_MS + ((i * 99_991) % 60_000) * 800);
  const path = file('shuffled', lines.join('\n'));
  const { curves } = await adviceOn(path, [60]);
  expect(curves[0]!.points.find(({ threshold }) => threshold === 30)?.limited).toBe(
    (await replayOf(path, 30, 60)).limited,
  );
});

it('the curve is that of counting one by one, for any requests, keys and windows', async () => {
  const request = fc.record({
    at: fc.integer({ min: 0, max: 40_000 }),
    n: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 9 })),
    key: fc.constantFrom('a', 'b', 'c'),
  });
  await forAllAsync(
    [
      fc.array(request, { minLength: 1, maxLength: 80 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
    ],
    async (requests, within) => {
      const { curves } = await recommend(requests, { within });
      for (const { within: cycles, points } of curves) {
        const batches = requests.map(({ at, n, key }) => ({ cycle: Math.floor(at / 777), n, key }));
        const countsOf = (key: string) => {
          const own = batches.filter((one) => one.key === key).sort((a, b) => a.cycle - b.cycle);
          return own.flatMap(({ cycle, n }, i) => {
            const before = own.slice(0, i).reduce((sum, one) => sum + (one.cycle > cycle - cycles ? one.n : 0), 0);
            return Array.from({ length: n }, (_, k) => before + k + 1);
          });
        };
        const all = ['a', 'b', 'c'].map(countsOf);
        expect(points).toEqual(
          Array.from({ length: Math.max(...all.flat()) }, (_, i) => ({
            threshold: i + 1,
            limited: all.flat().filter((count) => count > i + 1).length,
            limited_share: all.flat().filter((count) => count > i + 1).length / all.flat().length,
            keys_limited: all.filter((counts) => counts.some((count) => count > i + 1)).length,
            suspects_limited: 0,
          })),
        );
      }
    },
  );
});

/** People of whom no two are of one network. */
const apart = people(500).map(({ at, key }) => ({
  at,
  key: `10.${Number(key.slice(7)) >> 4}.${Number(key.slice(7)) & 15}.9`,
}));

it('no network is named where there is none', async () => {
  expect((await recommend(apart)).networks).toEqual([]);
});

it.each([
  ['a /24', (i: number) => `192.0.2.${i % 200}`, '192.0.2.0/24'],
  ['a /24, written as IPv6', (i: number) => `::ffff:192.0.2.${i % 200}`, '192.0.2.0/24'],
  ['a /64', (i: number) => `2001:db8:0:7::${(i % 200).toString(16)}`, '2001:db8:0:7::/64'],
])('a scraper at many addresses of %s is named by its network, though none stands out', async (_, address, network) => {
  const scraper = Array.from({ length: 12_000 }, (_, i) => ({ at: START_MS + i * 7000, key: address(i) }));
  const { networks, suspects } = await recommend([...apart, ...scraper]);
  expect(networks).toEqual([{ network, keys: 200, requests: 12_000 }]);
  expect(suspects).toEqual([]);
});

const behind = (counts: readonly number[], prefix = '2001:db8:1:2::') =>
  counts.flatMap((n, i) =>
    Array.from({ length: n }, (_, k) => ({
      at: START_MS + 60_000 * k + 977 * i,
      key: `${prefix}${(i + 1).toString(16)}`,
    })),
  );
const alikeIn = async (requests: ReturnType<typeof behind>) =>
  (await recommend([...apart, ...requests])).alike_networks;

it.each<[name: string, counts: readonly number[], most: number]>([
  ['each the same', new Array(40).fill(12), 12],
  ['the last address given up early', [...new Array(39).fill(12), 5], 12],
  ['as few as eight', new Array(8).fill(6), 6],
  ['one more or less', Array.from({ length: 60 }, (_, i) => 20 + (i % 3)), 22],
])('a client that changes its address within a /64 is named: %s', async (_, counts, most) => {
  const requests = counts.reduce((sum, n) => sum + n, 0);
  expect(await alikeIn(behind(counts))).toEqual([
    { network: '2001:db8:1:2::/64', keys: counts.length, requests, least: Math.min(...counts), most },
  ]);
});

it.each<[name: string, counts: readonly number[]]>([
  ['seven addresses', new Array(7).fill(12)],
  ['one request each', new Array(200).fill(1)],
  ['an office', [3, 41, 7, 12, 1, 22, 9, 15, 4, 30, 6, 18]],
  ['a few who ask little', [4, 5, 4, 6, 3, 5, 4, 5, 2]],
])('no client is named behind a /64 of several people: %s', async (_, counts) => {
  expect(await alikeIn(behind(counts))).toEqual([]);
});

it('none of 3,000 networks of people who ask at random, in equal measure, is named', () => {
  const draws = new RandomStream(56, 'equal measure');
  // The sum of 100 draws of 5 %: as equal as people are who do the same at random.
  const binomial = () => {
    let n = 0;
    for (let i = 0; i < 100; i += 1) if (draws.uniform() < 0.05) n += 1;
    return n;
  };
  const keys = Array.from({ length: 3000 }, (_, network) =>
    Array.from(
      { length: 8 + (network % 24) },
      (__, i) => [`10.${network >> 8}.${network & 255}.${i + 1}`, binomial()] as const,
    ),
  ).flat();
  expect(alikeNetworks(keys.filter(([, n]) => n > 0))).toEqual([]);
});
