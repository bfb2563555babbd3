// A rule with many numbers at once, from strict to loose, on the same requests: what each of them would have refused.
//
//   limit       1   2   3   4  …  40  42  44  …  100,000         every one up to 40, then in steps of 5 %
//   refused    96  80  71  60  …  12   9   7  …  0
//
// Rules of windows with refused requests in the count have a curve for every threshold at once (window-counts.ts). These have not, so each
// rung decides separately, in one pass. A rung that lets any first L requests of a key through does nothing before the request L + 1:
// its state is made then, from the times of the requests before. A key that rested until all states are as new is forgotten. So work and
// memory grow with what is busy: a key costs a state for each rung below its longest busy spell.

import { type Family, families } from '../limiter/products/families.js';
import { definitionOf } from '../limiter/products/products.js';
import { LIMITED, type Rule } from '../limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../limiter/rule/rule-definition.js';
import { Failure } from '../schema/failure.js';
import { parseAxis, withFields } from '../simulate/sweep/grid.js';

interface Rung {
  /** What is written down: a limit, or the value of a parameter. */
  readonly value: number | string;
  readonly definition: RuleDefinition;
  /** How many requests of a new key pass, whenever they come. */
  readonly passes: number;
}

export interface LadderPlan {
  readonly name: string;
  /** Length of the window in cycles; null for a rule that has none, or several. */
  readonly within: number | null;
  /** From strict to loose; at least one. */
  readonly rungs: readonly Rung[];
  /** After a rest of this length every state is as new, in ms; undefined: the states are asked. */
  readonly restMs: number | undefined;
}

const MOST_LIMIT = 100_000;
/** Each limit is written down; above, a step is this share of it. */
const FIRST_LIMITS = 40;
const STEP = 0.05;

/** Limits in the window, for a family. @param within cycles */
export function familyLadder(name: Family, within: number, cycleMs: number): LadderPlan {
  const rungs: Rung[] = [];
  for (let limit = 1; limit <= MOST_LIMIT; limit += limit < FIRST_LIMITS ? 1 : Math.floor(STEP * limit))
    rungs.push({ value: limit, definition: families[name]({ limit, within, cycleMs }), passes: limit });
  return { name, within, rungs, restMs: 2 * within * cycleMs };
}

/** Each key has a state for each value. */
const MOST_VALUES = 200;

/**
 * Values of one parameter of a limiter, from strict to loose.
 * @param limiter as a scenario has it
 * @param fit parameter and values, as an axis of a sweep: `rate=1r/s..50r/s:1r/s`
 * @throws Failure `wrong_usage`, and those of `definitionOf`
 */
export function fitLadder(limiter: unknown, fit: string, cycleMs: number): LadderPlan {
  const { path, values } = parseAxis(fit);
  if (values === undefined || values.length > MOST_VALUES)
    throw new Failure('wrong_usage', {
      what: `The range ${fit} has ${values === undefined ? 'no step' : `${values.length} values`}.`,
      why: `Each value is tried, up to ${MOST_VALUES}.`,
      fix: 'For example rate=1r/s..50r/s:1r/s, or burst=1..1000:log30.',
    });
  const { like, primitive } = (limiter ?? {}) as { readonly like?: unknown; readonly primitive?: unknown };
  const field = primitive === undefined || path.startsWith('params.') ? path : `params.${path}`;
  const name = [like ?? primitive ?? 'rule', path].join(' ');
  const rungs = values.map((value) => ({
    value: typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value),
    definition: definitionOf(withFields(limiter, { [field]: value }), cycleMs),
    passes: 0,
  }));
  return { name, within: null, rungs, restMs: undefined };
}

/** One key, since it last rested. */
interface Spell {
  lastMs: number;
  requests: number;
  /** Of the requests, until every rung has a state. */
  times: number[];
  /** Of the first rungs. */
  states: unknown[];
}

export type LimitedOfKeys = readonly (readonly number[])[];

/** The shortest rest after which states are asked whether they are as new. */
const ASKED_MS = 1000;

export class RuleLadder {
  readonly plan: LadderPlan;
  readonly #rules: readonly Rule[];
  readonly #spells: Spell[] = [];
  /** Refused requests of the first rungs. */
  readonly #limited: number[][] = [];
  /** Where one state serves all keys, they have one spell. */
  readonly #isShared: boolean;

  /** @throws Failure `invalid_definition` */
  constructor(plan: LadderPlan) {
    this.plan = plan;
    this.#rules = plan.rungs.map(({ definition }) => ruleOf(definition));
    this.#isShared = this.#rules[0]!.shared === true;
  }

  /** Decides `n` requests of a key, in unix ms. Times ascend. @param cost of each, for a plan in which nothing passes unseen */
  add(key: number, n: number, ms: number, cost = 1): void {
    this.#limited[key] ??= [];
    const limited = this.#limited[key];
    const spell = this.#spellOf(this.#isShared ? 0 : key, ms);
    const rules = this.#rules;
    const { rungs } = this.plan;
    for (let k = 0; k < n; k += 1) {
      spell.requests += 1;
      while (spell.states.length < rungs.length && spell.requests > rungs[spell.states.length]!.passes)
        spell.states.push(this.#stateAfter(rules[spell.states.length]!, spell.times, ms));
      const { states } = spell;
      for (let rung = 0; rung < states.length; rung += 1)
        if (rules[rung]!.decide(states[rung], ms, cost, 0) === LIMITED) limited[rung] = (limited[rung] ?? 0) + 1;
      if (states.length < rungs.length) spell.times.push(ms);
      else if (spell.times.length > 0) spell.times = [];
    }
    spell.lastMs = ms;
  }

  limitedOf(key: number, rung: number): number {
    return this.#limited[key]?.[rung] ?? 0;
  }

  /** Refused requests by key and rung so far, apart from what follows. */
  soFar(): LimitedOfKeys {
    return this.#limited.map((limited) => limited.slice());
  }

  /** Refused requests by rung, of all keys but some; of those in `of`, by default all so far. */
  limited(except: ReadonlySet<number>, of: LimitedOfKeys = this.#limited): Float64Array {
    const sums = new Float64Array(this.plan.rungs.length);
    of.forEach((limited, key) => {
      if (except.has(key)) return;
      limited.forEach((n, rung) => {
        sums[rung]! += n;
      });
    });
    return sums;
  }

  #spellOf(key: number, ms: number): Spell {
    const spell = this.#spells[key];
    if (spell !== undefined && !this.#isRested(spell, ms)) return spell;
    const fresh: Spell = { lastMs: ms, requests: 0, times: [], states: [] };
    this.#spells[key] = fresh;
    return fresh;
  }

  #isRested({ lastMs, states }: Spell, ms: number): boolean {
    const { restMs } = this.plan;
    if (restMs !== undefined) return ms - lastMs >= restMs;
    return ms - lastMs >= ASKED_MS && states.every((state, rung) => this.#rules[rung]!.forgettable(state, ms));
  }

  #stateAfter(rule: Rule, times: readonly number[], ms: number): unknown {
    const state = rule.fresh(times[0] ?? ms);
    for (const at of times) rule.decide(state, at, 1, 0);
    return state;
  }
}

/** The first rung from which on all keep the share of `requests`; undefined if the last does not. */
export function rungFor(limited: Float64Array, share: number, requests: number): number | undefined {
  const lastMissing = limited.findLastIndex((n) => n > 0 && n >= share * requests);
  return lastMissing + 1 < limited.length ? lastMissing + 1 : undefined;
}
