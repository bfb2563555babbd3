import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jainIndex, RefusalTimeline } from '../../../src/harness/simulate/key-effects.js';
import { forAll } from '../../draws.js';

it.each([
  [[1, 1, 1, 1], 1],
  [[1, 0, 0, 0], 0.25],
  [[0.5, 1], 0.9],
  [[0, 0], 1],
])('the index of Jain of %j is %f', (shares, index) => {
  expect(jainIndex(shares)).toBeCloseTo(index, 12);
});

const request = fc.record({ gap: fc.nat({ max: 40_000 }), n: fc.integer({ min: 1, max: 5 }), admitted: fc.nat(5) });

it('a timeline has up to 48 parts of a second times a power of two, with every request in the part of its time', () => {
  forAll([fc.array(request, { minLength: 1, maxLength: 60 })], (sent) => {
    const timeline = new RefusalTimeline();
    let ms = 1_767_600_000_000;
    const times = sent.map(({ gap, n, admitted }) => {
      ms += gap;
      timeline.add(ms, n, Math.min(n, admitted));
      return ms;
    });
    const { startMs, partMs, requests, refused } = RefusalTimeline.together([timeline]);
    const counts = requests[0]!;
    const partOf = (at: number) => Math.floor((at - times[0]!) / partMs);
    const expected = { counts: counts.map(() => 0), refused: counts.map(() => 0) };
    sent.forEach(({ n, admitted }, i) => {
      expected.counts[partOf(times[i]!)]! += n;
      expected.refused[partOf(times[i]!)]! += n - Math.min(n, admitted);
    });
    expect({ counts, refused: refused[0] }).toEqual(expected);
    expect([startMs, Number.isInteger(Math.log2(partMs / 1000))]).toEqual([times[0], true]);
    expect(counts.length).toBe(partOf(ms) + 1);
    expect(counts.length).toBeLessThanOrEqual(48);
  });
});

it('several timelines are brought to parts of the same length', () => {
  const [short, long] = [new RefusalTimeline(), new RefusalTimeline()];
  for (const ms of [0, 1000, 5000]) short.add(ms, 2, 1);
  for (const ms of [0, 60_000]) long.add(ms, 3, 3);
  expect(RefusalTimeline.together([short, long])).toEqual({
    startMs: 0,
    partMs: 2000,
    requests: [
      [4, 0, 2, ...Array(28).fill(0)],
      [3, ...Array(29).fill(0), 3],
    ],
    refused: [[2, 0, 1, ...Array(28).fill(0)], Array(31).fill(0)],
  });
});
