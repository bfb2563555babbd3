import { describe, expect, it } from 'vitest';
import { selfTest } from '../../src/validation/self-test.js';

describe('the published results', () => {
  it('hold with ten replications, each to its own standard error', async () => {
    const { checks: results } = await selfTest({ replications: 10 });
    const missed = results.flatMap(({ id, rows }) =>
      // What must lie clearly below needs more than ten replications to stand out.
      rows.filter(({ held, holds }) => !held && holds !== 'below').map(({ name }) => `${id}: ${name}`),
    );
    expect(missed).toEqual([]);
  });

  it('the check of the back-off policies holds in full: 100 replications', async () => {
    const { held, seed, checks: results } = await selfTest({ only: ['contention'] });
    expect({ held, seed, replications: results.map((result) => result.replications) }).toEqual({
      held: true,
      seed: 7,
      replications: [100],
    });
  });
});
