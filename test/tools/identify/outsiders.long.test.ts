// Limiters that follow no known rule, in virtual time: none gets a name, but for the one of several limits that was met alone.
// WEIR_CASES=200 looks at as many.
import { expect, it } from 'vitest';
import { few, isAll } from '../../draws.js';
import { askedOutsider, outsider } from './outsiders.js';

/**
 * Once named: refusals by chance as a limit on what is in flight, limits by another key as segments, ticks, a sliding counter and a log,
 * three limits as one.
 */
const NAMED_ONCE = [72035, 93053, 93043, 72013, 72047, 97003];
const CASES = Number(process.env['WEIR_CASES'] ?? (isAll ? 60 : 1));
const seeds = [...few(NAMED_ONCE, 1), ...Array.from({ length: CASES }, (_, k) => 93_001 + k)];

it.for(seeds.map((seed) => [outsider(seed).kind, seed] as const))(
  '%s gets no name of another: seed %i',
  ([kind, seed], { task }) => {
    const { isWrong, answer } = askedOutsider(seed);
    const named = answer.rules.map(({ structure }) => structure).join(', ') || answer.verdict;
    task.meta.rows = [{ kind, seed, named, wrong: String(isWrong), requests: answer.requests }];
    expect(isWrong, answer.rules.map(({ structure }) => structure).join(' ')).toBe(false);
  },
);
