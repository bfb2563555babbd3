// Which refusals of a log are those of a limit, and which cannot be: every counting order within the precision of the times is tried.
//
//   passed    o    admitted by the limit
//   refused   x    by the limit, or behind it: then it was admitted and counted
//
// A refused request that no counting order refuses is not the limit's; one that none admits is.
import { planRule } from '../../core/limiter/planned-rule.js';
import { startsBound } from '../../core/limiter/rule/most-starts.js';
import { membersOf, type RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { firstIndex } from '../../core/math/first-index.js';
import type { RuleCounting } from './counting.js';
import { countingOf } from './counting-of.js';
import {
  isRefused,
  type JudgedKey,
  type JudgingOptions,
  type LoggedAnswer,
  type Possible,
  type StretchOptions,
  StretchSearch,
} from './stretch-search.js';

/** A rule for each place that shares the count; edges lie at `phaseMs`, or up to `widthMs` later, of each of the periods. */
interface RulesAtPhase {
  readonly rules: readonly RuleDefinition[];
  readonly phaseMs: number;
  readonly widthMs: number;
  readonly periods: readonly number[];
}

/** Shares of the time that the limit remembers. */
const SLICES = [1 / 2, 1 / 8];

/** @param answers all of one key, in order of `fromMs` */
export function judgeKey(
  answers: readonly LoggedAnswer[],
  { rules, phaseMs, widthMs, periods }: RulesAtPhase,
  options: JudgingOptions,
): JudgedKey {
  const possible: Possible[] = answers.map(() => ({ admitted: true, refused: true }));
  const letThrough = new Set<number>();
  const most = Math.min(...rules.map((rule) => planRule(rule).most));
  const countings = rules.map((rule) => countingOf(rule));
  let bounds = { least: 0, most: 0 };
  const atPhase = (one: LoggedAnswer): LoggedAnswer => {
    const [fromMs, toMs] = [one.fromMs - phaseMs, one.toMs - phaseMs];
    const before = widthMs === 0 ? [] : periods.map((period) => Math.floor(toMs / period) * period);
    const edges = before.filter((edge) => fromMs <= edge + widthMs);
    return { ...one, fromMs: Math.min(fromMs, ...edges.map((edge) => edge - 1)), toMs };
  };
  for (const [from, to] of stretchesOf(answers, options.memoryMs)) {
    const own = answers.slice(from, to);
    const refused = own.filter(isRefused).length;
    if (refused === 0 && own.length <= most) continue;
    const isUsed = own[0]!.fromMs < options.startMs + options.memoryMs;
    const { nodes, memoryMs } = options;
    const given = { isUsed, most, period: Math.max(0, ...periods), nodes, memoryMs };
    const found = countings.includes(undefined)
      ? undefined
      : sliced(own.map(atPhase), countings as RuleCounting[], given);
    const isExplained = found === undefined || found.letThrough.size === 0;
    const least = Math.max(found?.least ?? 0, isExplained ? refused - roomIn(own, rules) : 0);
    bounds = { least: bounds.least + least, most: bounds.most + (found?.most ?? refused) };
    for (const place of found?.letThrough ?? []) letThrough.add(from + place);
    if (found === undefined && rules.every(isOfRecent)) judgeByRecent(own, most, options, possible, from);
    found?.possible.forEach((one, k) => {
      possible[from + k] = one;
    });
  }
  return { possible, letThrough, ...bounds };
}

/**
 * What one search leaves open a finer one may not: the instant of counting is cut into slices, and what was counted in one of them is not
 * taken to be counted in another.
 */
function sliced(
  answers: readonly LoggedAnswer[],
  countings: readonly RuleCounting[],
  options: Omit<StretchOptions, 'sliceMs'>,
): JudgedKey | undefined {
  let best: JudgedKey | undefined;
  const longestMs = answers.reduce((most, { fromMs, toMs }) => Math.max(most, toMs - fromMs), 0);
  for (const sliceMs of [Number.POSITIVE_INFINITY, ...SLICES.map((share) => Math.ceil(share * options.memoryMs))]) {
    if (
      best !== undefined &&
      (sliceMs >= longestMs || !best.possible.some(({ admitted, refused }) => admitted && refused))
    )
      break;
    const found = new StretchSearch(answers, countings, { ...options, sliceMs }).run();
    if (found === undefined) break;
    best = best === undefined || found.letThrough.size > 0 ? found : both(best, found);
  }
  return best;
}

const both = (one: JudgedKey, other: JudgedKey): JudgedKey => ({
  possible: one.possible.map(({ admitted, refused }, k) => ({
    admitted: admitted && other.possible[k]!.admitted,
    refused: refused && other.possible[k]!.refused,
  })),
  letThrough: one.letThrough,
  least: Math.max(one.least, other.least),
  most: Math.min(one.most, other.most),
});

/** Whether it decides by what was counted within its memory, however long it has been in use. */
const isOfRecent = ({ primitive, params }: RuleDefinition) =>
  primitive === 'sliding_counter' && !('block_until_window_end' in (params as object));

/** Where the search gives up: no refusal is the limit's before which it cannot have counted more than it admits. */
function judgeByRecent(
  answers: readonly LoggedAnswer[],
  most: number,
  { startMs, memoryMs }: JudgingOptions,
  possible: Possible[],
  from: number,
): void {
  const ends = Float64Array.from(answers, ({ toMs }) => toMs).sort();
  answers.forEach(({ fromMs, toMs }, k) => {
    if (fromMs < startMs + memoryMs || !isRefused(answers[k]!)) return;
    const begun = firstIndex(answers.length, (at) => answers[at]!.fromMs > toMs);
    const forgotten = firstIndex(ends.length, (at) => ends[at]! >= fromMs - memoryMs);
    if (begun - forgotten <= most) possible[from + k] = { admitted: true, refused: false };
  });
}

/** How many of the refused the limit may have admitted: what it admits in that time at most, without those that passed. */
function roomIn(answers: readonly LoggedAnswer[], rules: readonly RuleDefinition[]): number {
  const toMs = answers.reduce((last, one) => Math.max(last, one.toMs), 0);
  const lengthMs = toMs + 2 - answers[0]!.fromMs;
  // How long nginx holds a request does not matter here.
  const all = rules.map((rule) => {
    const own = rule.primitive === 'nginx_limit_req' ? { nodelay: true } : {};
    return startsBound({ ...rule, params: Object.assign({}, rule.params, own) }, lengthMs);
  });
  const passed = answers.filter(({ kind }) => kind === 'passed').length;
  return Math.max(0, Math.max(...all.map((n = Number.POSITIVE_INFINITY) => n)) - passed);
}

/** Cut where the limit has forgotten all that was before. */
function stretchesOf(answers: readonly LoggedAnswer[], memoryMs: number): (readonly [from: number, to: number])[] {
  const starts = [0];
  let lastMs = Number.NEGATIVE_INFINITY;
  answers.forEach(({ fromMs, toMs }, k) => {
    if (k > 0 && fromMs > lastMs + memoryMs + 2) starts.push(k);
    lastMs = Math.max(lastMs, toMs);
  });
  return starts.map((from, k) => [from, starts[k + 1] ?? answers.length]);
}

// Which rule, at which phase of its windows, explains the answers of a log: those that would have refused fewest of what passed.
//
//   period   |....|....|..oo|oo..|....|....|     a coarse grid of phases; those with fewest contradictions are cut again

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
