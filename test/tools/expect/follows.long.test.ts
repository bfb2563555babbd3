// Right limiters in thousands of runs, and wrong ones, each of which fails.
import { describe, expect, it } from 'vitest';
import { follows } from '../../../src/tools/expect/expect.js';
import { isAll } from '../../draws.js';
import {
  answersOf,
  type Decide,
  expectRightOnesToPass,
  type Kind,
  kinds,
  LIMIT,
  LIMIT_WORDS,
  limiterOf,
  type Sent,
  WINDOW_MS,
} from './limiters.js';

describe('an assertion on answers, at length', () => {
  it('an assertion passes every right limiter, wherever its windows end', () => {
    expectRightOnesToPass(isAll ? 10_000 : 100);
  });

  const pair = (of: Kind) => [limiterOf(kinds[of]()), limiterOf(kinds[of]())] as const;
  const mutants: Readonly<Record<string, (of: Kind) => Decide>> = {
    'one too many': (of) => limiterOf(kinds[of](LIMIT + 1)),
    'one too few': (of) => limiterOf(kinds[of](LIMIT - 1)),
    'a reset too early': (of) => limiterOf(kinds[of](LIMIT, WINDOW_MS / 2)),
    'a window 2 % shorter': (of) => limiterOf(kinds[of](LIMIT, 0.98 * WINDOW_MS)),
    'refused requests that count': () =>
      limiterOf({
        primitive: 'sliding_log',
        params: { limit: LIMIT, window_ms: WINDOW_MS, count_refused: true },
      }),
    'two counters in turn': (of) => {
      const counters = pair(of);
      let n = 0;
      return (nowMs) => {
        n += 1;
        return counters[n % 2]!(nowMs);
      };
    },
    'a counter of each worker': (of) => {
      const counters = [...pair(of), ...pair(of)];
      let n = 0;
      return (nowMs) => {
        n = (n * 5 + 3) % 16;
        return counters[n % 4]!(nowMs);
      };
    },
    'no window': () => {
      let left = LIMIT;
      return () => {
        left -= 1;
        return left >= 0;
      };
    },
  };
  const every = (ms: number, untilMs: number) =>
    Array.from({ length: Math.floor(untilMs / ms) }, (_, k): Sent => ({ atMs: ms * k, tookMs: 1, share: 0.5 }));
  /** For two windows and a half, or for six, in which a small difference adds up. */
  const [steady, lasting] = [every(12, 640), every(4, 1_600)];

  it.each(Object.keys(mutants))('an assertion fails %s, in a fixed window and in one that rolls', (name) => {
    for (const of of ['first', 'rolling'] as const) {
      const { verdict, drawing } = follows(
        answersOf(mutants[name]!(of), name.includes('%') ? lasting : steady),
        LIMIT_WORDS,
      );
      expect(verdict, of).toBe('differs');
      expect(drawing).toMatch(/^ +\d+\.\d{3} s {2}.* (admitted|limited|unknown)$/m);
    }
  });

  it('an assertion passes the right ones on the same traffic', () => {
    for (const of of Object.values(kinds))
      expect(follows(answersOf(limiterOf(of()), steady), LIMIT_WORDS).verdict).toBe('follows');
  });
});
