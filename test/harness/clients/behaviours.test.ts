import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RandomStream } from '../../../src/core/math/random.js';
import { constant } from '../../../src/core/math/time-law.js';
import { type Pauses, pauses } from '../../../src/harness/clients/backoff.js';
import { type Behaviour, type ClientEvent, type Effect, setbackTypes } from '../../../src/harness/clients/behaviour.js';
import { behaviourOf, type ChartedState, type ClientChart } from '../../../src/harness/clients/client-chart.js';
import type { ClientGate } from '../../../src/harness/clients/client-gates.js';
import { closed } from '../../../src/harness/clients/closed.js';
import { type HoldingPlan, holding } from '../../../src/harness/clients/holding.js';
import { obedient, open, type RetryingPlan, retrying } from '../../../src/harness/clients/requesting.js';
import { retryBudget } from '../../../src/harness/clients/retry-limits.js';
import { forAll } from '../../draws.js';
import { interpreted, play, text } from './stage.js';

/** A gate that opens every other time. */
const everyOther = (): ClientGate => {
  let isOpen = false;
  return {
    enter() {
      isOpen = !isOpen;
      return { type: isOpen ? 'open' : 'refused', ms: 0 };
    },
  };
};

const everywhere = (pause: Pauses) => ({ limited: pause, failed: pause, lost: pause, timeout: pause });

const told = {
  policy: 'ignore',
  limitMs: Number.POSITIVE_INFINITY,
  above: 'cap',
  slackMs: 0,
  missing: 'backoff',
} as const;

const persistent = (plan: Partial<RetryingPlan> = {}) =>
  retrying({
    maxAttempts: 4,
    on: setbackTypes,
    pauses: everywhere(pauses({ policy: 'exponential', baseMs: 50, capMs: 150 })),
    retryAfter: told,
    takesLateAnswers: false,
    ...plan,
  });

const atOnce = everywhere(() => 0);

const device = (plan: Partial<HoldingPlan> = {}) =>
  holding({ buffer: 3, batch: 2, spreadMs: 0, jitter: false, ...plan });

const charts: Record<string, () => ClientChart> = {
  open,
  'obedient, 3 attempts': () => obedient({ maxAttempts: 3, jitterMs: 0 }),
  'obedient, 2 attempts': () => obedient({ maxAttempts: 2, jitterMs: 0 }),
  'obedient, 9 attempts': () => obedient({ maxAttempts: 9, jitterMs: 0 }),
  'obedient, jitter of 40 ms': () => obedient({ maxAttempts: 3, jitterMs: 40 }),
  retrying: persistent,
  'retrying, 3 attempts at once': () => persistent({ maxAttempts: 3, pauses: atOnce }),
  'retrying, within a budget': () => persistent({ maxAttempts: 9, pauses: atOnce }),
  'retrying, Retry-After as a floor': () => persistent({ retryAfter: { ...told, policy: 'floor' } }),
  'retrying, takes late answers': () => persistent({ takesLateAnswers: true }),
  'retrying, 1 attempt, takes late answers': () => persistent({ takesLateAnswers: true, maxAttempts: 1 }),
  'retrying, a gate before attempts': () => persistent({ gated: 'attempts' }),
  'retrying, a gate before retries': () => persistent({ gated: 'retries' }),
  'retrying, hedging': () => persistent({ hedge: { afterMs: 50, most: 3 } }),
  closed: () => closed({ think: constant(100) }),
  holding: device,
  'holding, spread': () => device({ spreadMs: 60 }),
  'holding, spread with jitter': () => device({ spreadMs: 60, jitter: true }),
};
/** Half a retry a request, and one on top. */
const budget = () => retryBudget({ share: 0.5, floor: 1, overMs: 1000 }, 0);

/** `### chart | rule`, then the story. */
const stories = readFileSync(new URL('stories.txt', import.meta.url), 'utf8')
  .split(/^### /m)
  .slice(1)
  .map((story) => /^([^|]*) \| ([^\n]*)\n(.*)$/s.exec(story)!.slice(1) as [chart: string, rule: string, story: string]);

it.each(stories)('a client plays its story, as XState interprets it too: %s: %s', (name, _rule, story) => {
  const chart = charts[name]!();
  const played = (behaviour: Behaviour<ChartedState>) => {
    const gate = name.includes('a gate') ? everyOther() : undefined;
    return play(behaviour, story, name.includes('budget') ? budget() : undefined, gate);
  };
  expect(played(behaviourOf(chart))).toBe(text(story));
  // And as XState interprets it, event for event.
  expect(played(interpreted(chart))).toBe(text(story));
});

it('every chart has a story', () => {
  expect(Object.keys(charts).filter((name) => !stories.some(([chart]) => chart === name))).toEqual([]);
});

const kinds = { open, obedient: () => obedient({ maxAttempts: 3, jitterMs: 10 }), retrying: persistent, device };
const late = () => persistent({ takesLateAnswers: true, retryAfter: { ...told, policy: 'floor' } });
const spread = () => device({ spreadMs: 100, jitter: true });
const gated = () => persistent({ gated: 'attempts', takesLateAnswers: true, on: ['limited', 'timeout'] });
const hedged = () => persistent({ gated: 'retries', hedge: { afterMs: 20, most: 2 }, takesLateAnswers: true });
const all = { ...kinds, late, spread, gated, hedged, closed: () => closed({ think: constant(50) }) };
const types = fc.constantFrom(
  ...(['begin', 'job', 'served', 'limited', 'failed', 'lost', 'timeout', 'late'] as const),
  ...(['wake', 'no_retry', 'entered', 'turned_away', 'rate_limited', 'rate_restored'] as const),
);
const events = fc.array(
  fc.record({
    type: types,
    job: fc.constantFrom(...[1, 2].map((number) => ({ number, contract: 0, bornMs: 0 }))),
    ms: fc.option(fc.nat(100), { nil: undefined }),
  }),
);

it.each(Object.entries(all))('any events give the same states and effects as XState: %s', (_, make) => {
  const chart = make();
  forAll([events], (script) => {
    const [compiled, drawn] = [behaviourOf(chart), interpreted(chart)];
    let [one, other] = [compiled.initial, drawn.initial];
    for (const { type, job, ms } of script) {
      const event = { type, job, attempt: { job, number: 1 }, retryAfterMs: ms, waitedMs: ms ?? 0 } as ClientEvent;
      const [next, effects] = compiled.on(one, event);
      const [nextDrawn, effectsDrawn] = drawn.on(other, event);
      expect(effectsDrawn.map(plain)).toEqual(effects.map(plain));
      expect(nextDrawn).toEqual(next);
      [one, other] = [next, nextDrawn];
    }
  });
});

/** A law that is drawn anew each time is the same if it draws the same. */
function plain(effect: Effect) {
  if (!('wait' in effect) || typeof effect.wait === 'number') return effect;
  return { ...effect, wait: effect.wait.drawMs({ uniform: () => 0.25 } as RandomStream) };
}
