// A bias of a tenth is found with 40 replications. WEIR_REPLICATIONS=100 makes as many as the command.
import { expect, it } from 'vitest';
import { selfTest } from '../../src/validation/self-test.js';

const REPLICATIONS = Number(process.env['WEIR_REPLICATIONS'] ?? 50);

it(`the published results hold with ${REPLICATIONS} replications`, async () => {
  const { held, seed, checks } = await selfTest({ replications: REPLICATIONS });
  const missed = checks.flatMap(({ id, rows }) => rows.filter((row) => !row.held).map(({ name }) => `${id}: ${name}`));
  expect({ held, seed, missed }).toEqual({ held: true, seed: 7, missed: [] });
  expect(new Set(checks.map(({ replications }) => replications))).toEqual(new Set([REPLICATIONS]));
});
