// One rule with many limits, from strict to loose, on the same requests: what each limit would refuse.
//
//   limit       1   2   3   4  …  40  42  44  …  100,000         every limit up to 40, then in steps of 5 %
//   refused    96  80  71  60  …  12   9   7  …  0
//
// Windows that count refused requests have a curve for all thresholds at once (window-counts.ts). Other rules do not, so each rung
// decides separately, in one pass. A rung that admits the first L requests of any key needs no state before request L + 1; its state
// is then built from the times of the earlier requests. A key is dropped once it has rested until all its states equal new ones.
// So work and memory grow with the busy keys: a key costs a state for each rung below its longest busy spell.

import { type Family, families } from '../../core/limiter/products/families.js';
import { definitionOf } from '../../core/limiter/products/products.js';
import { LIMITED, type Rule } from '../../core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { Failure } from '../../core/schema/failure.js';
import { parseAxis, withFields } from '../../harness/scenario/grid.js';

interface Rung {
  readonly value: number | string;
  readonly definition: RuleDefinition;
  /** Number of first requests of a new key that are admitted whenever they come. */
  readonly alwaysAdmitted: number;
}

export interface LadderPlan {
  readonly name: string;
  /** Window length in cycles; null for a rule with none, or several. */
  readonly within: number | null;
  readonly rungs: readonly Rung[];
  /** After a rest of this length, in ms, every state equals a new one; undefined: ask the states. */
  readonly restMs: number | undefined;
}

const MOST_LIMIT = 100_000;
/** No rule takes a time for each request that is shorter than a us. */
const MOST_PER_MS = 1000;
/** Limits up to here are all tried; above, steps are a share of the limit. */
const FIRST_LIMITS = 40;
const STEP = 0.05;

export function familyLadder(name: Family, within: number, cycleMs: number): LadderPlan {
  const rungs: Rung[] = [];
  const most = Math.min(MOST_LIMIT, MOST_PER_MS * within * cycleMs);
  for (let limit = 1; limit <= most; limit += limit < FIRST_LIMITS ? 1 : Math.floor(STEP * limit))
    rungs.push({ value: limit, definition: families[name]({ limit, within, cycleMs }), alwaysAdmitted: limit });
  return { name, within, rungs, restMs: 2 * within * cycleMs };
}

const MOST_VALUES = 200;

/** @param fit as an axis of a sweep: `rate=1r/s..50r/s:1r/s` @throws Failure `wrong_usage`, those of `definitionOf` */
export function fitLadder(limiter: unknown, fit: string, cycleMs: number): LadderPlan {
  const { path, values } = parseAxis(fit);
  if (values.length > MOST_VALUES)
    throw new Failure('wrong_usage', {
      what: `The range ${fit} has ${values.length} values.`,
      why: `Each value is tried, up to ${MOST_VALUES}.`,
      fix: 'For example rate=1r/s..50r/s:1r/s, or burst=1..1000:log30.',
    });
  const { like, primitive } = (limiter ?? {}) as { readonly like?: unknown; readonly primitive?: unknown };
  const field = primitive === undefined || path.startsWith('params.') ? path : `params.${path}`;
  const name = [like ?? primitive ?? 'rule', path].join(' ');
  const rungs = values.map((value) => ({
    value: typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value),
    definition: definitionOf(withFields(limiter, { [field]: value }), cycleMs),
    alwaysAdmitted: 0,
  }));
  return { name, within: null, rungs, restMs: undefined };
}

interface Spell {
  lastMs: number;
  requests: number;
  times: number[];
  states: unknown[];
}

export type LimitedOfKeys = readonly (readonly number[])[];

/** The shortest rest, in ms, after which states are checked for equality with new ones. */
const ASKED_MS = 1000;

export class RuleLadder {
  readonly #rules: readonly Rule[];
  readonly #spells: Spell[] = [];
  readonly #limited: number[][] = [];
  readonly #isShared: boolean;

  constructor(readonly plan: LadderPlan) {
    this.#rules = plan.rungs.map(({ definition }) => ruleOf(definition));
    this.#isShared = this.#rules[0]!.shared === true;
  }

  /** Times (unix ms) ascend. @param cost per request; only for plans whose `alwaysAdmitted` is 0 */
  add(key: number, n: number, ms: number, cost = 1): void {
    this.#limited[key] ??= [];
    const limited = this.#limited[key];
    const spell = this.#spellOf(this.#isShared ? 0 : key, ms);
    const rules = this.#rules;
    const { rungs } = this.plan;
    for (let k = 0; k < n; k += 1) {
      spell.requests += 1;
      while (spell.states.length < rungs.length && spell.requests > rungs[spell.states.length]!.alwaysAdmitted)
        spell.states.push(this.#stateAfter(rules[spell.states.length]!, spell.times, ms));
      const { states } = spell;
      for (let rung = 0; rung < states.length; rung += 1)
        if (rules[rung]!.admit(states[rung], ms, cost, 0) === LIMITED) limited[rung] = (limited[rung] ?? 0) + 1;
      if (states.length < rungs.length) spell.times.push(ms);
      else if (spell.times.length > 0) spell.times = [];
    }
    spell.lastMs = ms;
  }

  limitedOf(key: number, rung: number): number {
    return this.#limited[key]?.[rung] ?? 0;
  }

  soFar(): LimitedOfKeys {
    return this.#limited.map((limited) => limited.slice());
  }

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
    for (const at of times) rule.admit(state, at, 1, 0);
    return state;
  }
}

/** The first rung from which on all keep the share of `requests`; undefined if the last does not. */
export function rungFor(limited: Float64Array, share: number, requests: number): number | undefined {
  const lastMissing = limited.findLastIndex((n) => n > 0 && n >= share * requests);
  return lastMissing + 1 < limited.length ? lastMissing + 1 : undefined;
}
