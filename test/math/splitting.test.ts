import { describe, expect, it } from 'vitest';
import { branchingDraws } from '../../src/math/random.js';
import { type JudgedRun, type LevelRun, rareEvent } from '../../src/math/splitting.js';

const RHO = 0.5;

/** A busy period of M/M/1 by its jumps, one a cycle: from one customer until none, or `most`, are there. */
function busyPeriod({ seed, branches }: LevelRun, most: number) {
  const { draws, branch } = branchingDraws(seed);
  const draw = draws('jumps');
  const records = [{ cycle: 0, level: 1 }];
  let [there, cycle] = [1, 0];
  for (cycle = 1; there > 0 && there < most; cycle += 1) {
    for (const one of branches) if (one.cycle === cycle) branch(one.seed);
    there += draw.uniform() < RHO / (1 + RHO) ? 1 : -1;
    if (there > records.at(-1)!.level) records.push({ cycle, level: there });
  }
  return { records, isFull: there === most, jumps: cycle - 1 };
}

/** P(`most` customers within a busy period): the ruin of a gambler. */
const overflow = (most: number) => (1 / RHO - 1) / (RHO ** -most - 1);

function meanAndError(values: readonly number[]) {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const spread = values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: Math.sqrt(spread / values.length) };
}

describe('splitting', () => {
  const full = async (run: LevelRun): Promise<JudgedRun> => {
    const { records, isFull } = busyPeriod(run, 20);
    return { records, hasEvent: isFull };
  };

  it('finds 9.5e-7 with 1,500 runs, where plain runs find it once in a million', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, (_, k) => rareEvent(full, `busy/${k}`, 1500)));
    const p = overflow(20);
    const { mean, error } = meanAndError(found.map((one) => one!.mean));
    expect(p).toBeCloseTo(9.5367e-7, 10);
    expect(Math.abs(mean - p)).toBeLessThan(3.3 * error);
    expect(error).toBeLessThan(0.3 * p);
    const covering = found.filter((one) => one!.low <= p && p <= one!.high).length;
    // 95 % of 20, less 3.3 standard deviations.
    expect(covering).toBeGreaterThanOrEqual(16);
    expect(Math.max(...found.map((one) => one!.runs))).toBeLessThanOrEqual(1500);
    // Plain runs of the same relative error: 1 / (p error^2), for all 20 estimates together.
    const relative = error / p;
    expect(1 / (p * relative ** 2)).toBeGreaterThan(100 * 20 * 1500);
  });

  // Over after one jump, with 2/3; after three, with 2/27 * 2: never at a high level.
  it.each([
    ['the level leads away from', 1, 1 / (1 + RHO)],
    ['only one level has', 5, (2 * RHO ** 2) / (1 + RHO) ** 5],
  ])('is unbiased for an event that %s', async (_, jumps, p) => {
    const make = async (run: LevelRun): Promise<JudgedRun> => {
      const { records, jumps: made } = busyPeriod(run, 1000);
      return { records, hasEvent: made === jumps };
    };
    const found = await Promise.all(Array.from({ length: 40 }, (_, k) => rareEvent(make, `other/${k}`, 1000)));
    const { mean, error } = meanAndError(found.map((one) => one?.mean ?? 0));
    expect(Math.abs(mean - p) / error).toBeLessThan(3.3);
  });

  it('says nothing where no repetition has the event, and where it is stopped', async () => {
    expect(await rareEvent(async () => ({ records: [], hasEvent: false }), 1, 1000)).toBeUndefined();
    let left = 500;
    const stopped = async (run: LevelRun) => (--left < 0 ? undefined : full(run));
    expect(await rareEvent(stopped, 1, 1000)).toBeUndefined();
  });

  it('is the same for the same seed', async () => {
    expect(await rareEvent(full, 7, 1000)).toEqual(await rareEvent(full, '7', 1000));
  });
});

describe('a branch', () => {
  it('has the draws of its seed up to its cycle, and others from there on, in every stream', () => {
    const take = (n: number, branchAt?: number, seed = 'b') => {
      const { draws, branch } = branchingDraws(1);
      const streams = [draws('a'), draws('c')];
      return Array.from({ length: n }, (_, k) => {
        if (k === branchAt) branch(seed);
        return streams.map((stream) => stream.uint32());
      });
    };
    const [plain, one, other] = [take(8), take(8, 3), take(8, 3, 'd')];
    expect([one.slice(0, 3), other.slice(0, 3)]).toEqual([plain.slice(0, 3), plain.slice(0, 3)]);
    const after = [plain, one, other].flatMap((rows) => rows.slice(3).flat());
    expect(new Set(after).size).toBe(after.length);
    expect(take(8, 3)).toEqual(one);
  });
});
