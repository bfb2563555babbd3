import { expect, it } from 'vitest';
import { Level } from '../../../src/core/math/level.js';

// biome-ignore format: one case a line
it.each<[rule: string, fromMs: number, changes: [ms: number, by: number][], nowMs: number, seen: object]>([
  ['nothing has no mean', 0, [], 0, { value: 0, max: 0, areaMs: 0, mean: 0 }],
  ['a level is weighted by the time it stands', 0, [[0, 2], [10, 1], [30, -3]], 40, { value: 0, max: 3, areaMs: 80, mean: 2 }],
  ['what stands still counts up to now', 0, [[5, 4]], 10, { value: 4, max: 4, areaMs: 20, mean: 2 }],
  ['what was before is not measured, but what it left is', 100, [[0, 5], [50, -3]], 110, { value: 2, max: 0, areaMs: 20, mean: 2 }],
  ['before the measured time there is nothing', 100, [[0, 5]], 50, { value: 5, max: 0, areaMs: 0, mean: 0 }],
])('%s', (_rule, fromMs, changes, nowMs, seen) => {
  const level = new Level(fromMs);
  for (const [ms, by] of changes) level.change(by, ms);
  expect({ value: level.value, max: level.max, areaMs: level.areaMs(nowMs), mean: level.mean(nowMs) }).toEqual(seen);
});

it('what comes after the measured time changes neither area nor mean', () => {
  const level = new Level(10, 30);
  for (const [ms, by] of [
    [0, 2],
    [20, 2],
    [40, -4],
  ] as const)
    level.change(by, ms);
  expect([level.areaMs(30), level.areaMs(100), level.mean(100)]).toEqual([60, 60, 3]);
});
