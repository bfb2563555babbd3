// Laws of waits fitted to gaps that were drawn by one of them.
import { expect, it } from 'vitest';
import { drawsOf } from '../../../src/core/math/random.js';
import { fitWaits } from '../../../src/tools/identify/client/wait-fit.js';
import type { Gap } from '../../../src/tools/identify/client/wait-law.js';
import { few } from '../../draws.js';

/** A wait from none to `baseMs` before each retry, behind timers that are a few ms late. */
function gapsOf(baseMs: number, retries: number, seed: number): Gap[] {
  const draw = drawsOf(seed)('gaps');
  return Array.from({ length: 24 }, () => {
    const waits = Array.from({ length: retries }, () => draw.uniform() * baseMs + 2 + 2 * draw.uniform());
    return waits.map((ms, i) => ({ k: i + 1, ms, lastMs: waits[i - 1] ?? 0, isFirst: false }));
  }).flat();
}

// Growth up to a cap that each further wait meets explained these as well, and no chain left it.
it.each(few([4, 10, 15], 1))('waits from none to 250 ms each time, draw %i, are full jitter of one wait', (seed) => {
  const [best] = fitWaits(gapsOf(250, 4, seed), { averageMs: 3, oftenMs: 4 }, drawsOf(seed)('fit'));
  const { structure, parameters, intervals } = best!;
  const { factor, low, capMs } = parameters;
  expect([structure.growth, structure.jitter, factor, low, capMs]).toEqual(['exponential', 'share', 1, 0, Infinity]);
  expect([intervals.baseMs.least < 250, intervals.baseMs.most > 250]).toEqual([true, true]);
});
