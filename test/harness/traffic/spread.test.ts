import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cycleOf } from '../../../src/core/time/cycle.js';
import { MAX_SPREAD_MS, requestsBefore, spreadOverCycles } from '../../../src/harness/traffic/spread.js';
import { forAll } from '../../draws.js';

/** Cycle by cycle, what `spreadOverCycles` gives. */
function spread(unixMs: number, n: number, spreadMs: number, cycleMs: number): [cycle: number, n: number][] {
  const parts: [number, number][] = [];
  spreadOverCycles(unixMs, n, spreadMs, cycleMs, (cycle, part) => parts.push([cycle, part]));
  return parts;
}

/** The same, each request placed by itself. */
function placedOneByOne(unixMs: number, n: number, spreadMs: number, cycleMs: number): [number, number][] {
  const parts = new Map<number, number>();
  for (let k = 0; k < n; k++) {
    const cycle = cycleOf(unixMs + Math.floor((k * spreadMs) / n), cycleMs);
    parts.set(cycle, (parts.get(cycle) ?? 0) + 1);
  }
  return [...parts];
}

it('requests are spread as if each were placed by itself', () => {
  const instant = fc.integer({ min: -1e7, max: 2e12 });
  const n = fc.integer({ min: 0, max: 5000 });
  const ms = fc.integer({ min: 1, max: 200_000 });
  forAll([instant, n, ms, fc.integer({ min: 1, max: 2000 })], (...given) => {
    expect(spread(...given)).toEqual(placedOneByOne(...given));
  });
});

it('requests before an offset are counted exactly, where a product of doubles would round', () => {
  const n = fc.integer({ min: 1, max: 1e12 });
  const ms = fc.integer({ min: 1, max: MAX_SPREAD_MS });
  forAll([n, ms, fc.double({ min: 0, max: 1, noNaN: true })], 2000, (requests, spreadMs, share) => {
    const offset = Math.floor(share * spreadMs);
    const [a, b] = [BigInt(offset) * BigInt(requests), BigInt(spreadMs)];
    expect(requestsBefore(offset, requests, spreadMs)).toBe(Number((a + b - 1n) / b));
  });
});

it('a day of 10^12 requests loses none', () => {
  const parts = spread(1_431_857_103_000, 1e12, MAX_SPREAD_MS, 777);
  expect([parts.length, parts.reduce((sum, [, n]) => sum + n, 0)]).toEqual([111_198, 1e12]);
});
