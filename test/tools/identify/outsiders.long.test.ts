// Limiters that follow no known rule, in virtual time: none gets a name, but for the one of several limits that was met alone.
import { expect, it } from 'vitest';
import { few } from '../../draws.js';
import { askedOutsider, outsider } from './outsiders.js';

/** Once named: refusals by chance as a limit on what is in flight, limits by another key as segments, ticks and a sliding counter, three limits as one. */
const NAMED_ONCE = [72035, 93053, 93043, 72013, 72047];
const others = Array.from({ length: 60 }, (_, k) => 93_000 + k);

const seeds = [...few(NAMED_ONCE, 2), ...few(others, 2)];

it.each(seeds.map((seed) => [outsider(seed).kind, seed] as const))('%s gets no name of another: seed %i', (_, seed) => {
  const { isWrong, answer } = askedOutsider(seed);
  expect(isWrong, answer.rules.map(({ structure }) => structure).join(' ')).toBe(false);
});
