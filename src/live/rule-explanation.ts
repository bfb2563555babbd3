// Whether a limiter of any rule could have given the answers that were seen, when nobody knows the instant at which it counted each
// request. Pure.
//
//   explained   some order of counting, at some phase of the limiter's clock, gives the answers
//   refuted     none does: the limiter differs from the rule
//   undecided   the search was given up, or so much could be explained that the answers say little
//
// The phase is a free parameter of rules that cut time at instants of their own: windows at multiples since 1970 by a clock that is not
// ours, intervals since the start of a process, seconds of a coarse clock. Only which requests lie on which side of an edge matters:
//
//   requests    |-|    |--|        |-|            an edge anywhere in a gap is the same as in the middle of it; within a request
//   edges           ^    ^   ^                    each instant is tried
//
// How much could be explained: a request is decidable if its answer, turned round, can not be explained. Some requests are looked at.
//
// The rolling count is in explanation.ts: its cycles are many requests long, and bounds on counts say more there than a search.
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import { modulo } from '../math/modulo.js';
import { type Counting, countingOf, namesIn } from './counting.js';
import { type Contradiction, searchOrder } from './counting-search.js';
import type { SeenRequest } from './placed-requests.js';

export type RuleExplanation =
  /** `undecided` of the requests `looked` at could have been answered otherwise. */
  | { readonly type: 'explained'; readonly undecided: number; readonly looked: number }
  | { readonly type: 'refuted'; readonly by: Contradiction }
  /** There were too many orders, or the answers depend on what is not seen. */
  | { readonly type: 'unknown'; readonly isSeen: boolean };

export interface RuleExplanationOptions {
  /** How far instants may be off, in ms, at least 0. */
  readonly slackMs: number;
  /** The most time that a request and its answer are under way, beyond what the rule holds the request. Default: any. */
  readonly transportMs?: number | undefined;
  /** How many nodes may be looked at for one phase. Default: 300,000. */
  readonly mostNodes?: number | undefined;
}

const MOST_NODES = 300_000;
/** The most nodes for all phases together, in the same measure. */
const PHASES_SHARE = 4;
/** How many requests are looked at for whether they could have been answered otherwise. */
const LOOKED = 16;

/** @param requests all of one key, in any order */
export function explainRule(
  requests: readonly SeenRequest[],
  definition: RuleDefinition,
  { slackMs, transportMs = Number.POSITIVE_INFINITY, mostNodes = MOST_NODES }: RuleExplanationOptions,
): RuleExplanation {
  const counting = countingOf(definition);
  if (counting === undefined) return { type: 'unknown', isSeen: false };
  const options = { slackMs, transportMs, mostNodes };
  const phases = phasesOf(requests, definition, slackMs);
  if (phases === undefined) return { type: 'unknown', isSeen: true };
  const found = atAnyPhase(requests, counting, phases, options);
  if (found.type !== 'explained') return found;
  const answered = requests.filter(({ decision }) => decision !== 'unknown');
  const looked = spread(answered, LOOKED);
  const undecided = looked.filter((one) => {
    const turned = requests.map((request) => (request === one ? turnedRound(request) : request));
    const other = searchOrder(turned, counting, { ...options, phaseMs: found.phaseMs, mostNodes: mostNodes / 4 });
    return other.type !== 'refuted';
  });
  return { type: 'explained', undecided: undecided.length, looked: looked.length };
}

type AtPhase =
  | { readonly type: 'explained'; readonly phaseMs: number }
  | Extract<RuleExplanation, { type: 'refuted' | 'unknown' }>;

function atAnyPhase(
  requests: readonly SeenRequest[],
  counting: Counting,
  phases: readonly number[],
  options: { slackMs: number; transportMs: number; mostNodes: number },
): AtPhase {
  let [nodes, isGivenUp] = [0, false];
  let furthest: Contradiction | undefined;
  for (const phaseMs of phases) {
    const found = searchOrder(requests, counting, { ...options, phaseMs });
    nodes += found.nodes;
    if (found.type === 'explained') return { type: 'explained', phaseMs };
    if (found.type === 'too many') isGivenUp = true;
    else if (furthest === undefined || found.by.sentMs > furthest.sentMs) furthest = found.by;
    if (nodes > PHASES_SHARE * options.mostNodes) isGivenUp = true;
    if (isGivenUp) break;
  }
  return isGivenUp || furthest === undefined ? { type: 'unknown', isSeen: true } : { type: 'refuted', by: furthest };
}

function turnedRound(request: SeenRequest): SeenRequest {
  return { ...request, decision: request.decision === 'admitted' ? 'limited' : 'admitted' };
}

const MOST_PHASES = 10_000;

/** As many as `n`, over the whole of the list. */
function spread<T>(all: readonly T[], n: number): T[] {
  const step = Math.max(1, all.length / n);
  return Array.from({ length: Math.min(n, all.length) }, (_, k) => all[Math.floor(k * step)]!);
}

/** Periods of edges that lie at instants of the limiter's own, in ms. */
function periodsOf({ primitive, params, clock_resolution_ms, res }: RuleDefinition): number[] {
  const { align, window_ms, per_ms, refill, segments, cycle_ms, even_ms, a, b, of, limits } = params as Own;
  const stepMs = clock_resolution_ms ?? res ?? 0;
  const clock = stepMs > 1 ? [stepMs] : [];
  const isOwn = align === 'epoch' || align === 'construction';
  switch (primitive) {
    case 'fixed_window':
    case 'sliding_counter':
      return [...clock, ...(isOwn ? [window_ms!] : []), ...(even_ms ? [2] : [])];
    case 'token_bucket':
      return [...clock, ...(refill === 'interval' && align !== 'first' ? [per_ms!] : [])];
    case 'segmented_window':
      return [...clock, window_ms! / segments!];
    case 'rolling_count':
      return [...clock, cycle_ms ?? 777];
    case 'or':
    case 'and':
    case 'and_all_charged': {
      const windows = isOwn ? (limits ?? []).map(([, ms]) => ms) : [];
      return [
        ...clock,
        ...windows,
        ...[a, b, ...(of ?? [])].flatMap((one) => (one === undefined ? [] : periodsOf(one))),
      ];
    }
    default:
      return clock;
  }
}

interface Own {
  readonly align?: string;
  readonly window_ms?: number;
  readonly per_ms?: number;
  readonly refill?: string;
  readonly segments?: number;
  readonly cycle_ms?: number;
  readonly even_ms?: boolean;
  readonly a?: RuleDefinition;
  readonly b?: RuleDefinition;
  readonly of?: readonly RuleDefinition[];
  readonly limits?: readonly (readonly [number, number])[];
}

/**
 * The phases that make a difference, those with an edge in the gaps first; undefined for periods of which none divides the next: their
 * edges lie in too many ways to each other.
 */
function phasesOf(
  requests: readonly SeenRequest[],
  definition: RuleDefinition,
  slackMs: number,
): readonly number[] | undefined {
  const periods = [...new Set(periodsOf(definition))].sort((one, other) => one - other);
  const [period, longest] = [periods[0], periods.at(-1)];
  if (period === undefined || longest === undefined) return [0];
  if (periods.some((one, k) => k > 0 && one % periods[k - 1]! !== 0)) return undefined;
  const answered = requests.filter(({ decision }) => decision !== 'unknown');
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
  const lastMs = answered.reduce((most, { answeredMs }) => Math.max(most, answeredMs), fromMs);
  const within = new Set<number>();
  for (const { sentMs, answeredMs } of answered) {
    const to = Math.min(answeredMs + slackMs, sentMs + period) - fromMs + 1;
    for (let ms = Math.floor(sentMs - fromMs - slackMs); ms <= to; ms += 1) within.add(modulo(ms, period));
  }
  if (within.size === 0) return [0];
  const inOrder = [...within].sort((one, other) => one - other);
  const isGraded = namesIn(definition).includes('sliding_counter');
  // What such a rule counts of the window before follows its edge ms by ms.
  if (isGraded && longest > 2)
    return longest > MOST_PHASES ? undefined : Array.from({ length: longest }, (_, ms) => ms);
  const between = inOrder.flatMap((ms, k) => {
    const next = inOrder[k + 1] ?? inOrder[0]! + period;
    return next - ms > 1 ? [modulo(Math.floor((ms + next) / 2), period)] : [];
  });
  // An edge of a longer period is one of the shortest; which one makes a difference while the run lasts.
  const others = Math.min(longest / period, Math.ceil((lastMs - fromMs) / period) + 2);
  return [...between, ...inOrder].flatMap((ms) =>
    Array.from({ length: others }, (_, k) => modulo(-(ms + k * period), longest)),
  );
}
