import { expect, it } from 'vitest';
import { selfTest } from '../../src/validation/self-test.js';

it('the published results hold with as many replications as the command makes', async () => {
  const { held, seed, checks } = await selfTest();
  const missed = checks.flatMap(({ id, rows }) => rows.filter((row) => !row.held).map(({ name }) => `${id}: ${name}`));
  expect({ held, seed, missed }).toEqual({ held: true, seed: 7, missed: [] });
  expect(new Set(checks.map(({ replications }) => replications))).toEqual(new Set([100]));
});
