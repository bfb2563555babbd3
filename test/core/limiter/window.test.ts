import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planContract } from '../../../src/core/limiter/validate.js';
import { addAt, advanceTo, cutCells, WindowRing, windowImage } from '../../../src/core/limiter/window.js';
import { defined, move } from './defined.js';
import { limiterPlan, plannedGate } from './planned-gate.js';

describe('rings', () => {
  it('are 0 at first, as many as were asked for, and nobody else’s', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 60 }), (lengths) => {
        const places = lengths.map((length) => {
          const { array, at, stride } = cutCells(length);
          return { array, cells: Array.from({ length }, (_, k) => at + k * stride) };
        });
        expect(places.every(({ array, cells }) => cells.every((cell) => array[cell] === 0))).toBe(true);
        for (const [owner, { array, cells }] of places.entries()) for (const cell of cells) array[cell] = owner + 1;
        const kept = places.map(({ array, cells }) => new Set(cells.map((cell) => array[cell])));
        expect(kept).toEqual(places.map((_, owner) => new Set([owner + 1])));
      }),
    );
  });

  it('lie side by side, so that their owners share an array', () => {
    const [a, b] = [cutCells(70), cutCells(70)];
    expect(b.array === a.array ? b.at - a.at : b.at).toBe(b.array === a.array ? 1 : 0);
  });

  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 40, 2 ** 51])('count %d events in a cycle, and what is taken back', (n) => {
    const [window, other] = [new WindowRing(3, 7), new WindowRing(3, 7)];
    addAt(other, 7, 4);
    addAt(window, 7, 1);
    advanceTo(window, 8);
    addAt(window, 8, n);
    addAt(window, 7, n);
    addAt(window, 7, -1);
    expect([window.inWindow, windowImage(window), windowImage(other)]).toEqual([
      2 * n,
      { cycle: 8, counts: [0, n, 1, n] },
      { cycle: 7, counts: [0, 4] },
    ]);
    advanceTo(window, 10);
    expect([window.inWindow, windowImage(window)]).toEqual([n, { cycle: 10, counts: [2, n] }]);
  });
});

describe('gates that are neighbours in memory', () => {
  const plans = {
    'one window': limiterPlan(3, 7),
    'two windows': planContract(
      defined('both', { open: { initial: true }, shut: {}, bolted: {} }, [
        move('open', 'shut', 'count > 2', { within: 3 }),
        move('shut', 'bolted', 'count > 6', { within: 9 }),
      ]),
    ),
  };

  it.each(Object.entries(plans))('do not count in each other: %s', (_, plan) => {
    const steps = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 12 }), n: fc.nat(4), who: fc.nat(2) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (taken) => {
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
      }),
    );
  });

  it.each([-2_000, -(2 ** 31), 2 ** 31 - 9, 2 ** 32 - 9, 2 ** 40])(
    'a gate that begins in cycle %d does as one from 0 on',
    (start) => {
      const steps = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 12 }), n: fc.nat(4) }), { maxLength: 60 });
      const all = Object.values(plans);
      fc.assert(
        fc.property(steps, fc.nat(all.length - 1), (taken, which) => {
          const [late, early] = [plannedGate(all[which]!, start), plannedGate(all[which]!, 0)];
          let cycle = 0;
          for (const { gap, n } of taken) {
            cycle += gap;
            expect(late.gate.decide(n, start + cycle)).toBe(early.gate.decide(n, cycle));
          }
          const moves = late.transitions.map((one) => ({ ...one, cycle: one.cycle - start }));
          expect([moves, late.gate.cycle - start, late.gate.counts]).toEqual([
            early.transitions,
            cycle,
            early.gate.counts,
          ]);
        }),
      );
    },
  );

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
});

describe('the figures of a gate', () => {
  it('are what was asked, what was limited, and the largest count with the first cycle that had it', () => {
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
});
