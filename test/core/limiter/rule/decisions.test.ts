// Every rule against the decisions of the real limiters that follow it: admitted or not, delays, and the waits they announce.
import { describe, expect, it } from 'vitest';
import { compare, type Limiter, limiters } from './decisions.js';

/** In one run over real time the server answered once 25 ms late. */
const lateAnswers: Readonly<Record<string, number>> = { 'nginx-limit_req-10rs-burst10-delay3': 1 };

function wrongIn(limiter: Limiter) {
  const seen = limiter.runs.map((run) => compare(limiter, run));
  const sum = (of: 'requests' | 'wrong' | 'wrongDelays' | 'wrongWaits') =>
    seen.reduce((total, one) => total + one[of], 0);
  expect(sum('requests')).toBeGreaterThan(0);
  return { wrong: sum('wrong'), wrongDelays: sum('wrongDelays'), wrongWaits: sum('wrongWaits') };
}

describe.each([
  ['run', limiters.filter(({ ran }) => ran)],
  ['documented', limiters.filter(({ ran }) => !ran)],
])('limiters that were %s', (_, some) => {
  it.each(some.map((limiter) => [limiter.name, limiter] as const))(
    'the rule of %s decides as the limiter does',
    (name, limiter) => {
      expect(wrongIn(limiter)).toEqual({ wrong: 0, wrongDelays: lateAnswers[name] ?? 0, wrongWaits: 0 });
    },
  );
});

it('the model of one limiter is not that of another', () => {
  const byName = new Map(limiters.map((limiter) => [limiter.name, limiter]));
  const wrongAs = (name: string, other: string) => {
    const limiter = { ...byName.get(name)!, rule: byName.get(other)!.rule };
    return limiter.runs.reduce((total, run) => total + compare(limiter, run).wrong, 0);
  };
  expect(wrongAs('express-rate-limit-memory', 'fastify-rate-limit-redis')).toBeGreaterThan(0);
  expect(wrongAs('nginx-limit_req-10rs.exact', 'nginx-limit_req-60rm.exact')).toBeGreaterThan(0);
  expect(wrongAs('go-x-time-rate-allow', 'varnish-vsthrottle-10-1s.exact')).toBeGreaterThan(0);
});
