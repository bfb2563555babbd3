// Limiters and traffic for tests of assertions: right ones of each kind, wrong ones, and how they answer.
import fc from 'fast-check';
import { expect } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../../../src/core/limiter/rule/rule-definition.js';
import { follows, type SeenAnswer } from '../../../src/tools/expect/expect.js';

export const WINDOW_MS = 250;
export const LIMIT = 5;
export const LIMIT_WORDS = '5 in 250ms';

export type Decide = (nowMs: number) => boolean;

/** Right ones of each kind: a window by the clock, one from the first request on, one that rolls. */
export const kinds = {
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
export type Kind = keyof typeof kinds;

export function limiterOf(definition: RuleDefinition, phaseMs = 0): Decide {
  const rule = uncheckedRule(definition);
  const state = rule.fresh(0);
  return (nowMs) => rule.admit(state, nowMs + phaseMs, 1, 0) !== LIMITED;
}

export interface Sent {
  readonly atMs: number;
  readonly tookMs: number;
  /** Where between being sent and answered it was counted. */
  readonly share: number;
}

/** As a server answers: in the order in which requests reach it. */
export function answersOf(decide: Decide, sent: readonly Sent[]): SeenAnswer[] {
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

/** On bursts at any place of their windows. */
export function expectRightOnesToPass(numRuns: number): void {
  const kind = fc.constantFrom(...(Object.keys(kinds) as Kind[]));
  fc.assert(
    fc.property(kind, phase, bursts, (of, phaseMs, sent) => {
      const { verdict, why, drawing } = follows(answersOf(limiterOf(kinds[of](), phaseMs), sent), LIMIT_WORDS);
      expect(verdict, `${why}\n${drawing}`).toBe('follows');
    }),
    { numRuns },
  );
}
