// Which rule, at which phase of its windows, explains the answers of a log: those that would have refused fewest of what passed.
//
//   period   |....|....|..oo|oo..|....|....|     a coarse grid of phases; those with fewest contradictions are cut again
import { membersOf, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { isRefused, type JudgingOptions, type LoggedAnswer } from './stretch-search.js';
import { judgeKey, type RulesAtPhase } from './whose-refusals.js';

export interface PhaseFound extends RulesAtPhase {
  readonly least: number;
  readonly most: number;
}

const FIRST_CUT = 48;
const NEXT_CUT = 6;
const MOST_PHASES = 144;
const FINEST_MS = 10;
const SAMPLED = 4_000;

/** @param each alternatives, of which each has a rule for every place of the count @param isAnyClock windows of the epoch, too, may be off */
export function phasesThatExplain(
  keys: readonly (readonly LoggedAnswer[])[],
  each: readonly (readonly RuleDefinition[])[],
  options: JudgingOptions,
  isAnyClock: boolean,
): RulesAtPhase[] {
  let phases = each.flatMap((rules) => {
    const periods = [...new Set(rules.flatMap((rule) => periodsOf(rule, isAnyClock)))];
    const [n, longest] = periods.length === 0 ? [1, 0] : [FIRST_CUT, Math.max(...periods)];
    return cut({ rules, periods, phaseMs: 0, widthMs: longest }, n);
  });
  if (phases.length === 1) return phases;
  const sample = sampleOf(keys);
  const nodes = { left: options.nodes.left / 2 };
  for (;;) {
    const against = phases.map((phase) =>
      sample.reduce((sum, key) => sum + judgeKey(key, phase, { ...options, nodes }).letThrough.size, 0),
    );
    const fewest = Math.min(...against);
    phases = phases.filter((_, k) => against[k] === fewest);
    const finer = phases.flatMap((phase) => (phase.widthMs > FINEST_MS ? cut(phase, NEXT_CUT) : [phase]));
    if (finer.length === phases.length || finer.length > MOST_PHASES) return phases;
    phases = finer;
  }
}

function cut(phase: RulesAtPhase, n: number): RulesAtPhase[] {
  const widthMs = phase.widthMs / n;
  return Array.from({ length: n }, (_, k) => ({ ...phase, phaseMs: phase.phaseMs + k * widthMs, widthMs }));
}

interface Windowed {
  readonly align?: string;
  readonly window_ms?: number;
  readonly per_ms?: number;
}

function periodsOf(rule: RuleDefinition, isAnyClock: boolean): number[] {
  const { align, window_ms = 0, per_ms = window_ms } = rule.params as Windowed;
  const isUnknown = align === 'construction' || (isAnyClock && align === 'epoch');
  return [...(isUnknown ? [per_ms] : []), ...membersOf(rule).flatMap((member) => periodsOf(member, isAnyClock))];
}

/** Keys with most refusals first. */
function sampleOf(keys: readonly (readonly LoggedAnswer[])[]): (readonly LoggedAnswer[])[] {
  const refusals = (key: readonly LoggedAnswer[]) => key.reduce((n, one) => n + (isRefused(one) ? 1 : 0), 0);
  let left = SAMPLED;
  const sorted = keys.map((key) => ({ key, n: refusals(key) })).sort((a, b) => b.n - a.n);
  return sorted.flatMap(({ key }) => {
    if (left <= 0) return [];
    const some = key.slice(0, left);
    left -= some.length;
    return [some];
  });
}
