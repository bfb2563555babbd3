// A contract that follows a rule: it is limiting from the first refused request until one would be admitted again, at that ms; and the
// gate says what an actor that hears every request and every cycle says.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { restoresInCycles, restoresMs, retryAfterCycles } from '../../../src/core/limiter/forecast.js';
import { Gate } from '../../../src/core/limiter/gate.js';
import type { GateImage } from '../../../src/core/limiter/gate-record.js';
import type { Plan } from '../../../src/core/limiter/plan.js';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { cycleOf } from '../../../src/core/time/cycle.js';
import { forAll, tries } from '../../draws.js';
import { limiterPlan, plannedGate, withoutBands } from './planned-gate.js';
import { rules } from './rule/every-rule.js';

const CYCLE_MS = 40;
const START_MS = 1_699_999_200_000;

/** Ms since the one before, how many at once, how long each is in flight. */
interface Step {
  readonly gap: number;
  readonly n: number;
  readonly hold: number;
}

interface Begun {
  readonly hearsAll?: boolean;
  readonly ms?: number;
  readonly image?: GateImage;
}

function begin(given: Plan, { hearsAll = false, ms = START_MS, image }: Begun = {}) {
  const plan = hearsAll ? withoutBands(given) : given;
  const moves: string[] = [];
  const cycle = cycleOf(START_MS, CYCLE_MS);
  const gate = new Gate(plan, {
    cycle: image?.windows[0]?.cycle ?? cycle,
    cycleMs: CYCLE_MS,
    nowMs: START_MS,
    owner: {
      recordTransition: ({ event, transition }) => {
        moves.push(`${event.cycle} ${plan.states[transition.to]!.name}`);
        return true;
      },
    },
    image: image ?? {
      state: plan.states[plan.initial]!.name,
      heldUntilCycle: Number.MIN_SAFE_INTEGER,
      windows: [],
    },
  });
  return {
    gate,
    moves,
    get ms() {
      return ms;
    },
    ask({ gap, n, hold }: Step): number {
      ms += gap;
      return gate.decide(n, cycleOf(ms, CYCLE_MS), 0, ms, hold);
    },
    again: () => begin(plan, { image: structuredClone(gate.image()), ms }),
  };
}

const stateOf = ({ plan, state }: Gate) => plan.states[state]!.name;

const planOf = (rule: RuleDefinition) => planContract(ruleLimiter(rule));

/** Requests and silences. */
const steps = fc.array(
  fc.record<Step>({
    gap: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 30 }) }, fc.integer({ min: 0, max: 600 })),
    n: fc.integer({ min: 0, max: 4 }),
    hold: fc.integer({ min: 0, max: 60 }),
  }),
  { minLength: 1, maxLength: 40 },
);

/** Two refusals after silence: the second stores the tokens of an exact bucket anew, which brings the next admission forward by a grain. */
const refusedTwice = [
  { gap: 73, n: 3, hold: 0 },
  { gap: 9, n: 1, hold: 0 },
];

describe.each(Object.entries(rules))('a contract of %s', (_, definition) => {
  const plan = planOf(definition);
  // What one node refuses the next may admit, at the same instant.
  const isInTurns = definition.primitive === 'many_nodes';

  it('a contract decides as its rule, and says what an actor that hears everything says', () => {
    forAll([steps], 60, (asked) => {
      const rule = ruleOf(definition);
      const state = rule.fresh(START_MS);
      const [cached, heard] = [begin(plan), begin(plan, { hearsAll: true })];
      for (const step of asked) {
        const admitted = cached.ask(step);
        const delays = Array.from({ length: step.n }, () => rule.admit(state, cached.ms, 1, step.hold));
        expect(admitted).toBe(delays.filter((delay) => delay !== LIMITED).length);
        expect(cached.gate.delayMs).toBe(Math.max(0, ...delays));
        expect(heard.ask(step)).toBe(admitted);
        expect(stateOf(cached.gate)).toBe(stateOf(heard.gate));
      }
      expect(cached.moves).toEqual(heard.moves);
      expect(cached.gate.figures).toEqual(heard.gate.figures);
    });
  });

  it.skipIf(isInTurns)('a contract is limiting after a refusal, and allowing from the ms of the next admission', () => {
    forAll([steps], { numRuns: tries(60), examples: [[refusedTwice]] }, (asked) => {
      const contract = begin(plan);
      const { gate } = contract;
      for (const step of asked) {
        const admitted = contract.ask(step);
        if (step.n > 0) expect(gate.admits).toBe(admitted === step.n);
        if (gate.admits) continue;
        const wakeMs = restoresMs(gate) ?? Number.POSITIVE_INFINITY;
        expect(gate.wakeMs()).toBeLessThanOrEqual(wakeMs);
        if (wakeMs > contract.ms + 10_000) continue;
        const ahead = contract.again().gate;
        ahead.reach(wakeMs - 0.01);
        expect(ahead.admits).toBe(false);
        ahead.reach(wakeMs);
        expect(ahead.admits).toBe(true);
      }
    });
  });

  it('a contract goes on from an image as if nothing had been', () => {
    forAll([steps, steps], 40, (before, after) => {
      const one = begin(plan);
      for (const step of before) one.ask(step);
      const again = one.again();
      const earlier = one.moves.length;
      for (const step of after) expect(again.ask(step)).toBe(one.ask(step));
      expect(again.moves).toEqual(one.moves.slice(earlier));
      expect(stateOf(again.gate)).toBe(stateOf(one.gate));
    });
  });

  it.skipIf(isInTurns)('a contract forecasts the cycle in which a lone request is admitted', () => {
    forAll([steps], 40, (asked) => {
      const contract = begin(plan);
      for (const step of asked) contract.ask(step);
      const wait = retryAfterCycles(contract.gate);
      if (wait === undefined || wait > 1_000) return;
      const askIn = (cycles: number) => {
        const { gate, ms } = contract.again();
        return gate.decide(1, gate.cycle + cycles, 0, cycles === 0 ? ms : undefined);
      };
      expect(askIn(wait)).toBe(1);
      if (wait > 1) expect(askIn(wait - 1)).toBe(0);
    });
  });
});

// A window that holds just as many as the threshold restores the rate limiter, and the rule not yet: one more would be refused.
it('a rolling count as a rule decides as the rate limiter does, and is limiting no shorter', () => {
  const threshold = 4;
  const within = 5;
  forAll([fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 6 })))], (asked) => {
    const rule = begin(planOf({ primitive: 'rolling_count', params: { threshold, within, cycle_ms: CYCLE_MS } }));
    const first = cycleOf(START_MS, CYCLE_MS);
    const { gate } = plannedGate(limiterPlan(threshold, within), first);
    let cycle = first;
    for (const [gap, n] of asked) {
      cycle += gap;
      expect(rule.gate.decide(n, cycle)).toBe(gate.decide(n, cycle));
      expect(rule.gate.remaining).toBe(gate.remaining);
      expect(retryAfterCycles(rule.gate)).toBe(retryAfterCycles(gate));
      expect(restoresInCycles(rule.gate) ?? 0).toBeGreaterThanOrEqual(restoresInCycles(gate) ?? 0);
    }
  });
});

const bucket: RuleDefinition = { primitive: 'token_bucket', params: { rate: 1, per_ms: 100, capacity: 2 } };
const cycle = cycleOf(START_MS, CYCLE_MS);
const move = (to: string, holdCycles: number, counts: number[]) =>
  ({ type: 'move', to, cycle, counts, input: {}, holdCycles }) as const;

it('a gate limits in a held limiting state while there are tokens, and charges them', () => {
  const { gate } = begin(planOf(bucket));
  gate.send(move('limiting', 3, gate.counts));
  expect(gate.decide(1, cycle)).toBe(0);
  expect(gate.remaining).toBe(1);
  expect(retryAfterCycles(gate)).toBe(3);
  gate.advance(cycle + 3);
  expect(stateOf(gate)).toBe('allowing');
});

it('a gate admits in a held allowing state without tokens, and follows the rule when the hold is over', () => {
  const { gate, moves } = begin(planOf(bucket));
  gate.send(move('limiting', 0, gate.counts));
  gate.send({ ...move('allowing', 2, [1]) });
  expect(gate.decide(5, cycle)).toBe(5);
  gate.advance(cycle + 2);
  expect(moves.at(-1)).toBe(`${cycle + 2} limiting`);
});

it.each([
  { primitive: 'concurrency', params: { limit: 2 } },
  { primitive: 'adaptive', params: { algorithm: 'aimd', initial: 2, min: 2, max: 2 } },
] as const)('a request in flight gives its place back at the ms at which it is released: $primitive', (rule) => {
  const { gate } = begin(planOf(rule));
  const at = (ms: number) => [cycleOf(START_MS + ms, CYCLE_MS), 0, START_MS + ms, Number.POSITIVE_INFINITY] as const;
  expect(gate.decide(3, ...at(0))).toBe(2);
  expect(gate.decide(1, ...at(5_000))).toBe(0);
  expect(gate.wakeMs()).toBe(Number.POSITIVE_INFINITY);
  gate.release(START_MS + 5_010, 5_010);
  expect(stateOf(gate)).toBe('allowing');
  expect(gate.decide(2, ...at(5_010))).toBe(1);
});
