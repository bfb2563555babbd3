import { describe, expect, it } from 'vitest';
import { judgeSamples } from '../../src/validation/published-check.js';
import { checks, notReproduced } from '../../src/validation/self-test.js';

const REPLICATIONS = 4;

describe('a published result', () => {
  it.each(checks.filter(({ mechanism }) => mechanism !== undefined).map((check) => [check.id, check] as const))(
    '%s is not reproduced without what brings it about',
    (_id, check) => {
      const samples = Array.from({ length: REPLICATIONS }, (_, n) => check.replicate(5, n, true));
      expect(judgeSamples(check, samples).held).toBe(false);
    },
  );

  it('of clients or services names its mechanism', () => {
    const without = checks.filter(({ mechanism }) => mechanism === undefined).map(({ id }) => id);
    expect(without).toEqual([
      'single-server',
      'erlang-loss',
      'closed-loop',
      'fixed-window',
      'contention',
      'worst-case',
    ]);
  });

  it('with a tolerance of its own says why', () => {
    const silent = checks.filter(({ rows, tolerance }) => rows.some(({ error = 0 }) => error > 1e-6) && !tolerance);
    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  it('that no check holds has a reason', () => {
    expect(notReproduced.map(({ why }) => why.length > 60)).toEqual(notReproduced.map(() => true));
  });
});
