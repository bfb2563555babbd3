// Admitted answers are held only where refused ones are not as late: a slow network is slow to both.
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { evidenceOf, type Seen } from '../../../src/tools/identify/evidence.js';

const RUNS = 40;

/** Volleys of `limit` admitted requests with one or two refused ones, and six more that are refused. */
function seenBehind(wayMs: (draw: () => number) => number, heldMs: (place: number) => number, limit: number): Seen[][] {
  const random = new RandomStream(limit, 'ways');
  const draw = () => random.uniform();
  const one = (sentMs: number, isAdmitted: boolean, place = 0): Seen => ({
    key: 'a',
    sentMs,
    answeredMs: sentMs + wayMs(draw) + (isAdmitted ? heldMs(place) : 0),
    decision: isAdmitted ? 'admitted' : 'limited',
  });
  return Array.from({ length: RUNS }, () =>
    Array.from({ length: 8 }, (_, volley) => [
      ...Array.from({ length: limit + 1 }, (_, k) => one(volley * 5_000 + 0.02 * k, k < limit, k)),
      ...Array.from({ length: 6 }, (_, k) => one(volley * 5_000 + 100 * (k + 1), false)),
    ]).flat(),
  );
}

const even = (u: () => number) => 1 + 29 * u();

it.each([
  ['1 to 30 ms', even],
  ['twice 1 to 30 ms', (u: () => number) => even(u) + even(u)],
  ['half of them 40 ms late', (u: () => number) => 1 + (u() < 0.5 ? 40 : 0)],
  ['exponentially, 10 ms', (u: () => number) => 1 - 10 * Math.log(1 - u())],
])('answers that are late are not held: %s', (_, wayMs) => {
  for (const limit of [3, 10, 30]) {
    const held = seenBehind(wayMs, () => 0, limit).filter((seen) => evidenceOf(seen).isHeld).length;
    expect(held, `limit ${limit}`).toBeLessThanOrEqual(1);
  }
});

it.each([
  ['a queue of 10/s', (place: number) => 100 * place],
  ['a queue of 25/s', (place: number) => 40 * place],
  ['each beyond four, 50 ms longer', (place: number) => 50 * Math.max(0, place - 3)],
])('what a rule holds is seen behind the same network: %s', (_, heldMs) => {
  const held = seenBehind(even, heldMs, 8).filter((seen) => evidenceOf(seen).isHeld).length;
  expect(held).toBe(RUNS);
});
