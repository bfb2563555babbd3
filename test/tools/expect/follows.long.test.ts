// Right limiters in thousands of runs, and wrong ones, each of which fails.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../../../src/core/limiter/rule/rule-definition.js';
import { follows, type SeenAnswer } from '../../../src/tools/expect/expect.js';
import { forAll, isAll } from '../../draws.js';

const WINDOW_MS = 250;
const LIMIT = 5;
const LIMIT_WORDS = '5 in 250ms';

type Decide = (nowMs: number) => boolean;

/** Right ones of each kind: a window by the clock, one from the first request on, one that rolls. */
const kinds = {
  epoch: (limit = LIMIT, window_ms = WINDOW_MS): RuleDefinition => ({
    primitive: 'fixed_window',
    params: { limit, window_ms, align: 'epoch' },
  }),
  first: (limit = LIMIT, window_ms = WINDOW_MS): RuleDefinition => ({
    primitive: 'fixed_window',
    params: { limit, window_ms, align: 'first', count_refused: true },
  }),
  rolling: (limit = LIMIT, window_ms = WINDOW_MS): RuleDefinition => ({
    primitive: 'sliding_log',
    params: { limit, window_ms },
  }),
} as const;
type Kind = keyof typeof kinds;

function limiterOf(definition: RuleDefinition, phaseMs = 0): Decide {
  const rule = uncheckedRule(definition);
  const state = rule.fresh(0);
  return (nowMs) => rule.admit(state, nowMs + phaseMs, 1, 0) !== LIMITED;
}

interface Sent {
  readonly atMs: number;
  readonly tookMs: number;
  /** Where between being sent and answered it was counted. */
  readonly share: number;
}

/** As a server answers: in the order in which requests reach it. */
function answersOf(decide: Decide, sent: readonly Sent[]): SeenAnswer[] {
  const arrived = sent.map((one) => ({ ...one, countedMs: one.atMs + one.share * one.tookMs }));
  return arrived
    .sort((one, other) => one.countedMs - other.countedMs)
    .map(({ atMs, tookMs, countedMs }) => ({ sentMs: atMs, answeredMs: atMs + tookMs, limited: !decide(countedMs) }));
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const phase = fc.integer({ min: 0, max: 10 * WINDOW_MS });
/** Bursts of twice the limit and one, with single requests between them, anywhere in the windows. */
const bursts = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 2 * WINDOW_MS }), fc.array(share, { maxLength: 4 }), share), {
    minLength: 1,
    maxLength: 4,
  })
  .map((drawn) => {
    let atMs = 0;
    return drawn.flatMap(([silenceMs, singles, share]): Sent[] => {
      const alone = singles.map((part) => {
        atMs += part * WINDOW_MS;
        return { atMs, tookMs: 3, share };
      });
      atMs += silenceMs;
      const burst = Array.from({ length: 2 * LIMIT + 1 }, (_, k) => ({ atMs: atMs + 5 * k * share, tookMs: 4, share }));
      atMs += 60;
      return [...alone, ...burst];
    });
  });

it('an assertion passes every right limiter, wherever its windows end', () => {
  const kind = fc.constantFrom(...(Object.keys(kinds) as Kind[]));
  forAll([kind, phase, bursts], { numRuns: isAll ? 10_000 : 100 }, (of, phaseMs, sent) => {
    const { verdict, why, drawing } = follows(answersOf(limiterOf(kinds[of](), phaseMs), sent), LIMIT_WORDS);
    expect(verdict, `${why}\n${drawing}`).toBe('follows');
  });
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
