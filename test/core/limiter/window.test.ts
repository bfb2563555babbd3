import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planContract } from '../../../src/core/limiter/validate.js';
import {
  add,
  advance,
  countNow,
  eventsAt,
  fallsIn,
  fromPresent,
  listOf,
  newestIn,
  restoreWindow,
  ringOf,
  windowImage,
} from '../../../src/core/limiter/window.js';
import { forAll } from '../../draws.js';
import { defined, move } from './defined.js';
import { limiterPlan, plannedGate } from './planned-gate.js';

/** As slow as can be: every event is remembered. */
class Listed {
  readonly events: { readonly cycle: number; readonly n: number }[] = [];
  constructor(
    readonly within: number,
    public cycle: number,
  ) {}

  add(cycle: number, n: number) {
    if (cycle <= this.cycle && cycle > this.cycle - this.within) this.events.push({ cycle, n });
  }

  eventsAt(at: number) {
    const held = this.events.filter(({ cycle }) => cycle > Math.max(at, this.cycle) - this.within);
    return held.reduce((sum, { n }) => sum + n, 0);
  }

  fallsIn(most: number, since: number) {
    let cycle = since;
    while (this.eventsAt(cycle) > most) cycle += 1;
    return cycle;
  }

  image() {
    const counts: number[] = [];
    for (let age = 0; age < this.within; age += 1) {
      const n = this.events.reduce((sum, one) => sum + (one.cycle === this.cycle - age ? one.n : 0), 0);
      if (n > 0) counts.push(age, n);
    }
    return { cycle: this.cycle, counts };
  }
}

describe.each([
  ['a ring', ringOf],
  ['a short list', listOf],
])('a window as %s', (_, windowOf) => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const steps = fc.array(
    fc.record({
      gap: fc.oneof({ weight: 6, arbitrary: fc.nat(3) }, fc.nat(40)),
      n: fc.oneof(fc.nat(4), fc.constantFrom(2 ** 31 - 1, 2 ** 40)),
      late: fc.option(fc.nat(14), { freq: 3 }),
      isTakenBack: fc.boolean(),
      share,
      asked: fc.array(fc.tuple(fc.nat(30), fc.oneof(fc.nat(30), fc.constant(Infinity)), share), { maxLength: 4 }),
    }),
    { maxLength: 40 },
  );
  const starts = fc.constantFrom(0, -70, 2 ** 31 - 3, 2_306_790_000);

  it('a window counts, falls and is kept as a list of every event says', () => {
    forAll([fc.integer({ min: 1, max: 12 }), starts, steps], (within, start, taken) => {
      let window = windowOf(within, start);
      const listed = new Listed(within, start);
      for (const { gap, n, late, isTakenBack, share, asked } of taken) {
        listed.cycle += gap;
        const { cycle } = listed;
        expect(advance(window, cycle)).toBe(listed.eventsAt(cycle));
        const happened = cycle - (late ?? 0);
        for (const one of isTakenBack ? [n, -n] : [n]) {
          add(window, happened, one);
          listed.add(happened, one);
        }
        expect(countNow(window)).toBe(listed.eventsAt(cycle));
        // In any order, from where the one before has come to.
        const place = fromPresent(window);
        for (const [from, until, part] of asked) {
          const few = Math.floor(part * countNow(window));
          const isInTime = listed.fallsIn(few, cycle) <= cycle + until;
          expect([
            fallsIn(window, few, cycle + from, cycle + until, place),
            eventsAt(window, cycle + until, place),
          ]).toEqual([
            isInTime ? listed.fallsIn(few, cycle + from) : Number.POSITIVE_INFINITY,
            listed.eventsAt(cycle + until),
          ]);
        }
        const image = windowImage(window);
        expect([image, newestIn(window)]).toEqual([
          listed.image(),
          image.counts.length === 0 ? newestIn(window) : cycle - image.counts[0]!,
        ]);
        if (share > 0.8) window = restoreWindow(windowOf(within, image.cycle), structuredClone(image));
      }
    });
  });

  it('a window takes no event of a cycle that has left it, or has not begun', () => {
    const window = windowOf(3, 7);
    for (const cycle of [4, 8]) add(window, cycle, 1);
    expect([countNow(window), fallsIn(window, -1)]).toEqual([0, Number.POSITIVE_INFINITY]);
  });
});

const plans = {
  'one window': limiterPlan(3, 7),
  'two windows': planContract(
    defined('both', { open: { initial: true }, shut: {}, bolted: {} }, [
      move('open', 'shut', 'count > 2', { within: 3 }),
      move('shut', 'bolted', 'count > 6', { within: 9 }),
    ]),
  ),
};

it.each(Object.entries(plans))('gates that are neighbours in memory do not count in each other: %s', (_, plan) => {
  const steps = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 12 }), n: fc.nat(4), who: fc.nat(2) }), {
    maxLength: 60,
  });
  forAll([steps], (taken) => {
    const gates = [plannedGate(plan, 0), plannedGate(plan, 0), plannedGate(plan, 0)];
    const alone = plannedGate(plan, 0);
    let cycle = 0;
    for (const { gap, n, who } of taken) {
      cycle += gap;
      gates[who]!.gate.decide(n, cycle);
      if (who === 1) alone.gate.decide(n, cycle);
    }
    const seen = ({ gate, transitions }: typeof alone) => [gate.image(), gate.figures, transitions];
    expect(seen(gates[1]!)).toEqual(seen(alone));
  });
});

it('a gate that counts nothing stands in a cycle all the same', () => {
  const byHand = { from: 'on', to: 'off', operator: 'KO42' };
  const plan = planContract(defined('switch', { on: { initial: true }, off: {} }, [byHand]));
  const [{ gate }, neighbour] = [plannedGate(plan, 5), plannedGate(limiterPlan(3, 7), 5)];
  neighbour.gate.decide(2, 6);
  gate.advance(2_306_790_000);
  expect([gate.cycle, gate.count, gate.image()]).toEqual([
    2_306_790_000,
    0,
    { state: 'on', heldUntilCycle: 5, windows: [] },
  ]);
  expect([neighbour.gate.cycle, neighbour.gate.count]).toEqual([6, 2]);
});

it('the figures of a gate are what was asked, what was limited, and the largest count with its first cycle', () => {
  const { gate } = plannedGate(limiterPlan(3, 5), 0);
  expect(gate.figures).toEqual({ requests: 0, limited: 0, peakCount: 0, peakCycle: undefined });
  for (const [n, cycle] of [
    [2, 1],
    [3, 2],
    [1, 20],
    [4, 21],
  ] as const)
    gate.decide(n, cycle);
  gate.decideLate(1, 19);
  expect(gate.figures).toEqual({ requests: 11, limited: 5, peakCount: 6, peakCycle: 21 });
});
