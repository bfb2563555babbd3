import { describe, expect, it } from 'vitest';
import { Bug, Failure } from '../../src/schema/failure.js';
import { contention } from '../../src/validation/contention.js';
import { judgeSamples, type PublishedCheck, type PublishedRow } from '../../src/validation/published-check.js';
import { checks, replicateCheck, selfTest } from '../../src/validation/self-test.js';

describe('a row is held', () => {
  const check = (row: Partial<PublishedRow>): PublishedCheck => ({
    ...{ id: 'c', title: 'T', source: 'S' },
    rows: [{ name: 'r', expected: 10, unit: 'u', ...row }],
    replicate: () => [],
  });

  // A hundred samples, half 9 and half 11: mean 10, standard error 0.1005; 3.3 of them are 0.3317.
  const samples = Array.from({ length: 100 }, (_, n) => [n % 2 === 0 ? 9 : 11]);

  it.each<[rule: string, row: Partial<PublishedRow>, held: boolean]>([
    ['when the mean is what is expected', {}, true],
    ['up to 3.3 standard errors above', { expected: 9.669 }, true],
    ['not beyond them', { expected: 9.668 }, false],
    ['up to 3.3 standard errors below', { expected: 10.331 }, true],
    ['not beyond them on this side either', { expected: 10.332 }, false],
    ['further off where the published figure has an error of its own', { expected: 11, error: 0.3 }, true],
    ['but not much', { expected: 11.05, error: 0.3 }, false],
    ['below, when it is so clearly', { expected: 10.332, holds: 'below' }, true],
    ['not below, when that may be chance', { expected: 10.331, holds: 'below' }, false],
    ['not below, when it is above', { expected: 5, holds: 'below' }, false],
  ])('%s', (_rule, row, held) => {
    expect(judgeSamples(check(row), samples).held).toBe(held);
  });

  // Student's quantiles for 1 in 1034, two-sided: 4.80 with 9 degrees of freedom, 3.67 with 29.
  it.each<[replications: number, errors: number]>([
    [10, 4.8],
    [30, 3.67],
    [100, 3.3],
    [400, 3.3],
  ])('with %d replications up to %d standard errors off', (n, errors) => {
    const spread = Array.from({ length: n }, (_, k) => [k % 2 === 0 ? 9 : 11]);
    const standardError = Math.sqrt(1 / (n - 1));
    const held = (off: number) => judgeSamples(check({ expected: 10 + off * standardError }), spread).held;
    expect([held(errors - 0.02), held(errors + 0.02)]).toEqual([true, false]);
  });

  it('without any spread only when it is exact', () => {
    const exact = [[10], [10]];
    expect([judgeSamples(check({}), exact).held, judgeSamples(check({ expected: 10.000001 }), exact).held]).toEqual([
      true,
      false,
    ]);
  });

  it('never by a figure that is none', () => {
    expect(judgeSamples(check({}), [[10], [Number.NaN]]).held).toBe(false);
  });

  it('an error cannot be told from one replication', () => {
    expect(() => judgeSamples(check({}), [[10]])).toThrow(Bug);
  });

  it('and the result says what was expected, what came, and how sure that is', () => {
    expect(judgeSamples(check({}), [[9], [11]])).toEqual({
      ...{ id: 'c', title: 'T', source: 'S', replications: 2, held: true },
      rows: [{ name: 'r', expected: 10, unit: 'u', mean: 10, standardError: 1, held: true }],
    });
  });
});

describe('the published results', () => {
  it.each(checks.map((check) => [check.id, check] as const))(
    '%s: one figure a row, the same for the same seed',
    (id, check) => {
      const figures = replicateCheck(id, 3, 0);
      expect([figures.length, replicateCheck(id, 3, 0)]).toEqual([check.rows.length, figures]);
    },
  );

  it('figures that are off by a twentieth are found out', () => {
    const samples = Array.from({ length: 20 }, (_, n) => contention.replicate(1, n).map((figure) => figure * 1.05));
    expect(judgeSamples(contention, samples).held).toBe(false);
  });
});

describe('a run of the self-test', () => {
  it('gives the same however its replications are spread', async () => {
    const only = ['fixed-window', 'erlang-loss'];
    const spread = await selfTest({
      only,
      replications: 4,
      atATime: 3,
      replicate: async (id, seed, replication) => {
        for (let turn = 0; turn < 4 - replication; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return replicateCheck(id, seed, replication);
      },
    });
    expect(spread).toEqual(await selfTest({ only, replications: 4 }));
  });

  it('tells how far it is, after each replication', async () => {
    const told: string[] = [];
    await selfTest({
      only: ['fixed-window'],
      replications: 2,
      onProgress: ({ check, done, total }) => told.push(`${check} ${done}/${total}`),
    });
    expect(told).toEqual(['fixed-window 1/2', 'fixed-window 2/2']);
  });

  it('can be ended', async () => {
    const stopping = new AbortController();
    const run = selfTest({ only: ['fixed-window'], signal: stopping.signal, onProgress: () => stopping.abort() });
    await expect(run).rejects.toThrow('aborted');
  });

  it('refuses a check that does not exist, with the nearest name', async () => {
    const run = selfTest({ only: ['retry-strom'] });
    await expect(run).rejects.toThrow(Failure);
    await expect(run).rejects.toThrow('Did you mean "retry-storm"?');
  });
});
