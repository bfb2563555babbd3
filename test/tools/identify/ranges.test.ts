// All spans that explain the answers are told, in pieces where not all between them do.
import { expect, it } from 'vitest';
import { parametersOf } from '../../../src/tools/identify/parameter-steps.js';
import { spansOf } from '../../../src/tools/identify/ranges.js';
import { structures } from '../../../src/tools/identify/structures.js';

it('a piece of spans is found that is far from the ends that were found', () => {
  const structure = structures.find(({ id }) => id === 'fixed')!;
  const pieces = [
    { least: 1_296, most: 1_409 },
    { least: 1_690, most: 1_720 },
  ];
  const violation = ({ spanMs }: { readonly spanMs: number }) =>
    Math.min(...pieces.map(({ least, most }) => Math.max(0, least - spanMs, spanMs - most)));
  const best = { structure, parameters: parametersOf(structure, 10, 1_350) };
  const found = spansOf(best, { least: 1_310, most: 1_400 }, violation, 1);
  expect(found.length).toBe(2);
  for (const [k, { least, most }] of pieces.entries()) {
    // As wide as the piece, and by no more than two steps of half the resolution wider.
    expect(found[k]!.least).toBeLessThanOrEqual(least);
    expect(found[k]!.most).toBeGreaterThanOrEqual(most);
    expect(least - found[k]!.least).toBeLessThan(0.011 * least);
    expect(found[k]!.most - most).toBeLessThan(0.011 * most);
  }
});
