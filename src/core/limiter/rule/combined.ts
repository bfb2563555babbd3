// Combinations of rules.
//
//   or                a, and b only if a refuses:          b is charged by what a refused
//   and               all must admit, then all are charged: what one refuses costs the others nothing
//   and_all_charged   all are charged, whatever they say:  what one refuses costs the others, too
//
//   request --> a --> b --> c --> the longest delay, or LIMITED if one refused
//
// Source: rate-limiter-flexible 11 (BurstyRateLimiter, RateLimiterUnion), Bucket4j with several bandwidths, nginx with several zones.
import { LIMITED, type Rule } from './rule.js';

export function or(a: Rule, b: Rule): Rule<[unknown, unknown]> {
  return {
    ...((a.hastens || b.hastens) && { hastens: true }),
    fresh: (madeMs) => [a.fresh(madeMs), b.fresh(madeMs)],
    admit(state, t, n, holdMs) {
      const delay = a.admit(state[0], t, n, holdMs);
      return delay === LIMITED ? b.admit(state[1], t, n, holdMs) : delay;
    },
    nextAdmission: (state, t, n) => Math.min(a.nextAdmission(state[0], t, n), b.nextAdmission(state[1], t, n)),
    nextChange: (state, t) => Math.min(a.nextChange(state[0], t), b.nextChange(state[1], t)),
    remaining: (state, t) => a.remaining(state[0], t) + b.remaining(state[1], t),
    forgettable: (state, t) => a.forgettable(state[0], t) && b.forgettable(state[1], t),
    waits: (state, t, n) => ({ window_end: Math.min(windowEndOf(a, state[0], t, n), windowEndOf(b, state[1], t, n)) }),
  };
}

export function windowEndOf<State>(rule: Rule<State>, state: State, t: number, n: number): number {
  return rule.waits?.(state, t, n).window_end ?? 0;
}

interface All {
  members: unknown[];
  refusedMs: number;
}

export function and(rules: readonly Rule[], allCharged: boolean): Rule<All> {
  const latest = ({ members }: All, t: number, n: number) =>
    Math.max(...rules.map((rule, i) => rule.nextAdmission(members[i], t, n)));
  return {
    // A refusal charges the other rules only if all are charged.
    ...(allCharged && rules.some(({ hastens }) => hastens) && { hastens: true }),
    fresh: (madeMs) => ({ members: rules.map((rule) => rule.fresh(madeMs)), refusedMs: 0 }),
    admit(state, t, n, holdMs) {
      if (!allCharged && latest(state, t, n) > t) return LIMITED;
      let longest = 0;
      let refusedMs = -1;
      for (let i = 0; i < rules.length; i += 1) {
        const rule = rules[i]!;
        const delay = rule.admit(state.members[i], t, n, holdMs);
        if (delay === LIMITED) refusedMs = Math.max(refusedMs, t + windowEndOf(rule, state.members[i], t, n));
        else if (delay > longest) longest = delay;
      }
      state.refusedMs = refusedMs;
      return refusedMs >= 0 ? LIMITED : longest;
    },
    ...(rules.every(({ charge }) => charge !== undefined) && {
      charge({ members }: All, t: number, n: number, sinceMs: number) {
        for (let i = 0; i < rules.length; i += 1) rules[i]!.charge!(members[i], t, n, sinceMs);
      },
    }),
    nextAdmission: latest,
    nextChange: ({ members }, t) => Math.min(...rules.map((rule, i) => rule.nextChange(members[i], t))),
    remaining: ({ members }, t) => Math.min(...rules.map((rule, i) => rule.remaining(members[i], t))),
    forgettable: ({ members }, t) => rules.every((rule, i) => rule.forgettable(members[i], t)),
    waits: ({ refusedMs }, t) => ({ window_end: Math.max(0, refusedMs - t) }),
  };
}
