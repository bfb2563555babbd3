// Whether the answers of a run fit rules near the given one as well, and a load that would distinguish them. Pure.
//
//   6 in 60 s, 20/s for 8 s      6 admitted, the others refused     5 and 7 do not fit; 6 in 63 s does: no window was over
//   6 in 60 s, 36/min for 72 s   after 60 s one is admitted         6 in 63 s would refuse it
import { planRule } from '../../core/limiter/planned-rule.js';
import { delaysOf, LIMITED } from '../../core/limiter/rule/rule.js';
import { type RuleDefinition, ratePerMs, uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import { countingOf } from '../explain/counting-of.js';
import { type ExplanationOptions, explain, isExplained } from '../explain/explain.js';
import { quickestMs, type SeenRequest, slowestMs } from '../explain/seen-request.js';
import { memoryMs, type NearRules, nearRulesOf, seconds } from './near-rules.js';

const NODES = 5_000;
const NODES_OF_REQUEST = 5;
/** A longer run ends at once, and says nothing of neighbours. */
const MOST_SEEN = 5_000;
const MOST_SENT = 1_200;
/** Multiples of the rate of the limit, and of the time that it remembers. */
const RATES = [0.95, 1.05, 1.5, 2, 5, 20];
const LENGTHS = [0.3, 1.2, 2.5];
const LEAST_MS = 1_000;
/** Equal costs: this time, or this number of requests. */
const COST_MS = 300_000;
const COST_SENT = 500;
const MOST_VERIFIED = 2;
/** A load may begin anywhere in a window that begins by another clock. */
const BEGIN_MS = 2 ** 40;
const STARTS = [0, 0.37, 0.71];
/** Answers that are held for so much longer differ. */
const HELD_MS = 50;
const MOST_NAMED = 4;

/** @param each the answers of each key */
export function neighbourWords(
  each: readonly (readonly SeenRequest[])[],
  rules: readonly RuleDefinition[],
  options: ExplanationOptions,
): string | undefined {
  const all = each.flat();
  // For other rules each neighbour would take a search of seconds.
  const isQuick = rules.every((rule) => countingOf(rule)?.isBounded) && all.length <= MOST_SEEN;
  if (all.length === 0 || !isQuick) return undefined;
  const near = nearRulesOf(rules).filter((one) => each.every((seen) => explains(one.rules, seen, options) === true));
  if (near.length === 0) return undefined;
  const isNever = (decision: SeenRequest['decision']) => all.every((one) => one.decision !== decision);
  const why = isNever('limited') ? ': no request was refused' : isNever('admitted') ? ': no request was admitted' : '';
  const load = distinguishingLoad(rules, near, options, 2 * quickestMs(all));
  const which = load?.near.length === near.length ? 'them' : load && listed(load.near);
  const better = load === undefined ? '' : `; --rate ${load.rate} --for ${load.duration} would distinguish ${which}`;
  return `These answers agree with ${listed(near)} as well${why}${better}.`;
}

/** Of what the limit remembers: answers that come sooner leave little open. */
const PROMPT = 0.1;

/** Why a load that tests a limit did not: none was refused, or late answers alone agree, which those of many limits might. */
export function untestedWords(
  seen: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: ExplanationOptions,
): string | undefined {
  if (seen.every(({ decision }) => decision !== 'limited'))
    return `None of ${seen.length} requests was refused, as without any limit: a window may have ended among them.`;
  const promptMs = PROMPT * memoryMs(rules[0]!);
  if (slowestMs(seen) <= promptMs) return undefined;
  const sentMs = seen.map((one) => one.sentMs);
  const holds = rules.some((rule) => slowestMs(answersOf(rule, sentMs, 0)) > 0);
  const prompt = seen.map((one) => {
    const answeredMs = Math.min(one.answeredMs, one.sentMs + promptMs);
    return holds && one.decision === 'admitted' ? one : { ...one, answeredMs };
  });
  if (explain(prompt, rules, options).type !== 'refuted') return undefined;
  return `Answers took up to ${seconds(slowestMs(seen))}: they agree only if requests were counted more than ${seconds(promptMs)} after they were sent.`;
}

export interface Load {
  readonly rate: string;
  readonly duration: string;
  /** Those that it distinguishes. */
  readonly near: readonly NearRules[];
}

/** The cheapest load whose answers the rule and most near rules do not both explain, from wherever in their windows it begins. */
export function distinguishingLoad(
  rules: readonly RuleDefinition[],
  near: readonly NearRules[],
  options: ExplanationOptions,
  latencyMs: number,
): Load | undefined {
  const spanMs = memoryMs(rules[0]!);
  const tried = loadsFor(rules[0]!, spanMs).map(({ atMs, ...load }) => {
    const starts = STARTS.map((share) => atMs.map((ms) => BEGIN_MS + share * spanMs + ms));
    const pairsWith = (one: NearRules) =>
      starts.flatMap((instants) =>
        rules.map((rule, k) => {
          const answersBy = (definition: RuleDefinition) => answersOf(definition, instants, latencyMs);
          return { own: answersBy(rule), theirs: answersBy(one.rules[k]!) };
        }),
      );
    const apart = near.map((one) => ({ one, pairs: pairsWith(one) }));
    return { ...load, apart: apart.filter(({ pairs }) => pairs.every(({ own, theirs }) => isApart(own, theirs))) };
  });
  let best: Load | undefined;
  // Sorting is stable: the cheapest first of those that distinguish most where requests are counted as they are sent.
  const most = tried.sort((a, b) => b.apart.length - a.apart.length).slice(0, MOST_VERIFIED);
  for (const { rate, duration, apart } of most) {
    if (apart.length <= (best?.near.length ?? 0)) break;
    const sure = apart.filter(({ one, pairs }) =>
      pairs.every(
        ({ own, theirs }) => explains(one.rules, own, options) === false && explains(rules, theirs, options) === false,
      ),
    );
    if (sure.length > (best?.near.length ?? 0)) best = { rate, duration, near: sure.map(({ one }) => one) };
  }
  return best;
}

/** The answers of a new limiter to requests that are counted at these instants. */
export function answersOf(definition: RuleDefinition, atMs: readonly number[], latencyMs: number): SeenRequest[] {
  const delays = delaysOf(uncheckedRule(definition), 0, atMs, definition.hold_ms);
  return atMs.map((ms, k): SeenRequest => {
    const delayMs = delays[k]!;
    const [sentMs, answeredMs] = [ms - latencyMs / 2, ms + latencyMs / 2 + Math.max(0, delayMs)];
    return { sentMs, answeredMs, decision: delayMs === LIMITED ? 'limited' : 'admitted' };
  });
}

function explains(rules: readonly RuleDefinition[], requests: readonly SeenRequest[], options: ExplanationOptions) {
  return isExplained(requests, rules, { ...options, mostNodes: NODES + NODES_OF_REQUEST * requests.length });
}

/** Cheapest first. */
function loadsFor(rule: RuleDefinition, spanMs: number) {
  const perMs = ratePerMs(rule) ?? planRule(rule).most / spanMs;
  // A bucket is empty, and a queue full, after its span by the excess of the rate.
  const lengthsAt = (times: number) => [...LENGTHS, 1.3 / Math.abs(times - 1)];
  return RATES.flatMap((times) => lengthsAt(times).map((length) => loadOf(times * perMs, length * spanMs)))
    .filter(({ atMs: { length } }) => length > 1 && length <= MOST_SENT)
    .sort((a, b) => a.cost - b.cost);
}

function loadOf(perMs: number, lengthMs: number) {
  const [unitMs, unit] = perMs >= 1e-3 ? [1_000, 's'] : perMs >= 1 / 60_000 ? [60_000, 'min'] : [3_600_000, 'h'];
  const rate = Number((perMs * unitMs).toPrecision(2));
  const seconds = Math.ceil(Math.max(LEAST_MS, lengthMs) / 1_000);
  const n = Math.floor((seconds * 1_000 * rate) / unitMs) || 0;
  const atMs = Array.from({ length: Math.min(n, MOST_SENT + 1) }, (_, k) => ((k + 0.5) * unitMs) / rate);
  const cost = n / COST_SENT + (seconds * 1_000) / COST_MS;
  return { rate: `${rate}/${unit}`, duration: `${seconds}s`, atMs, cost };
}

function isApart(one: readonly SeenRequest[], other: readonly SeenRequest[]): boolean {
  return one.some(
    ({ decision, answeredMs }, k) =>
      decision !== other[k]!.decision || Math.abs(answeredMs - other[k]!.answeredMs) > HELD_MS,
  );
}

function listed(near: readonly NearRules[]): string {
  const words = near.slice(0, MOST_NAMED).map((one) => one.words);
  const all = near.length > MOST_NAMED ? [...words, `${near.length - MOST_NAMED} others`] : words;
  return new Intl.ListFormat('en-GB').format(all);
}
