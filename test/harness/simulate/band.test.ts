import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Timeline } from '../../../src/harness/outcome/timeline.js';
import { bandOf, stretchPeaks } from '../../../src/harness/simulate/replication.js';

/** A timeline from the count of each cycle: as a run writes it, with a row where the count changes. */
function timelineOf(counts: readonly number[], first: number): Timeline {
  const timeline = new Timeline(['all']);
  counts.forEach((count, index) => {
    if (count !== (counts[index - 1] ?? 0)) timeline.add(first + index, 0, 0, 0, count, 'allowing');
  });
  return timeline;
}

it('the peaks of a run of up to 400 cycles are the counts themselves', () => {
  const counts = [0, 2, 2, 5, 0, 0, 1];
  expect(stretchPeaks(timelineOf(counts, 10), { first: 10, last: 16 })).toEqual(counts);
});

it('the peaks of a run of more than 400 cycles are the largest count of each stretch', () => {
  const spans = fc.integer({ min: 401, max: 2_000 });
  fc.assert(
    fc.property(
      spans,
      fc.integer({ min: 0, max: 1e9 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 4 })),
      (cycles, first, draws) => {
        const counts = [...draws.take(cycles)].map((draw) => (draw > 2 ? 0 : draw));
        const stretch = Math.ceil(cycles / 400);
        const naive = Array.from({ length: Math.ceil(cycles / stretch) }, (_, index) =>
          Math.max(...counts.slice(index * stretch, (index + 1) * stretch)),
        );
        expect(stretchPeaks(timelineOf(counts, first), { first, last: first + cycles - 1 })).toEqual(naive);
      },
    ),
    { numRuns: 30 },
  );
});

it('the band holds nine of ten runs, whatever their order', () => {
  const runs = Array.from({ length: 20 }, (_, run) => [run, 100 - run, 7]);
  const expected = {
    runs: 20,
    stretch_cycles: 1,
    cycle: [5, 6, 7],
    low: [0, 81, 7],
    middle: [9, 90, 7],
    high: [18, 99, 7],
  };
  expect(bandOf(runs, { first: 5, last: 7 })).toEqual(expected);
  expect(bandOf([...runs].reverse(), { first: 5, last: 7 })).toEqual(expected);
});
