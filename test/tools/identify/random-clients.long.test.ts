// Retry policies that seeds draw, against scripts in virtual time: none gets a wrong name, and intervals hold what is true.
import { expect, it } from 'vitest';
import { few } from '../../draws.js';
import { randomClient } from './random-client.js';
import { answerFor } from './simulated-client.js';

const sameOfFixed = new Set(['additive', 'subtractive', 'proportional']);

// 70032: of the gaps that are looked at first, none is before a second retry. 70064: a gap is shorter than answers are late.
it.each(few([70_032, 70_064, 40, 41, 42, 43, 44], 1))(
  'a drawn retry policy gets no wrong name, and its intervals hold what is true: seed %s',
  (seed) => {
    const truth = randomClient(seed);
    const { waits, verdict } = answerFor(truth.client, seed);
    expect(verdict).not.toBe('none');
    const [named] = waits;
    // What remains open is listed.
    if (verdict === 'ambiguous') return;
    // A fixed wait that is longer or shorter by a share has the law of one that is longer by so many ms.
    if (truth.growth === 'fixed' && named!.jitter !== truth.jitter && sameOfFixed.has(truth.jitter)) {
      expect(sameOfFixed).toContain(named!.jitter);
      return;
    }
    expect(named!.jitter).toBe(truth.jitter);
    if (truth.jitter !== 'decorrelated') expect(named!.growth).toBe(truth.growth);
    for (const [name, value] of Object.entries(truth.parameters)) {
      const [least, most] = named!.intervals[name] ?? [value, value];
      const isClose = Math.abs((named!.parameters[name] ?? value) / value - 1) < 0.05;
      expect({ name, isHeld: isClose || (least <= value && (most ?? Infinity) >= value) }).toEqual({
        name,
        isHeld: true,
      });
    }
  },
);
