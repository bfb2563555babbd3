// Whether a limiter of any rule could have given the answers that were seen, when nobody knows the instant at which it counted each
// request. Pure.
//
//   explained   some order of counting, at some phase of the limiter's clock, gives the answers
//   refuted     none does: the limiter differs from the rule
//   undecided   the search was given up, or so much could be explained that the answers say little
//
// Behind a slow network far too much could be explained. Then the answers are looked at once more, each without a part of the time that
// even the quickest of them took. A limiter is accused by the whole time alone.
//
//   sent |------------?------------| answered         sent |----?----|   the way, there and back   | answered
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
import { behindMs, type Pause, quickestMs, type SeenRequest, WAY_SHARES, withoutWay } from './placed-requests.js';

export type RuleExplanation =
  /**
   * `undecided` of the requests `looked` at could have been answered otherwise, if each was under way for at least `wayMs` there and
   * back. 0 is certain; what is refuted is refuted for 0.
   */
  | { readonly type: 'explained'; readonly undecided: number; readonly looked: number; readonly wayMs: number }
  | { readonly type: 'refuted'; readonly by: Contradiction }
  /**
   * There were too many orders, the answers depend on what is not seen, or none explains them unless the clock of the limiter stood still
   * in the pauses.
   */
  | { readonly type: 'unknown'; readonly why: 'too many' | 'not seen' | 'paused' };

export interface RuleExplanationOptions {
  /** How far instants may be off, in ms, at least 0. */
  readonly slackMs: number;
  /** The most time that a request and its answer are under way, beyond what the rule holds the request. Default: any. */
  readonly transportMs?: number | undefined;
  /** In these the limiter may have been stopped, and its clock with it. Default: none. */
  readonly pauses?: readonly Pause[] | undefined;
  /** How many nodes may be looked at for one phase. Default: 300,000. */
  readonly mostNodes?: number | undefined;
}

type Given = { readonly [name in keyof RuleExplanationOptions]-?: Exclude<RuleExplanationOptions[name], undefined> };

const MOST_NODES = 300_000;
/** The most nodes for all phases together, in the same measure. */
const PHASES_SHARE = 4;
/** How many requests are looked at for whether they could have been answered otherwise. */
const LOOKED = 16;
/** From this share of the requests that were looked at on, the answers say too little. */
const TOO_UNCERTAIN = 0.5;

/** @param requests all of one key, in any order */
export function explainRule(
  requests: readonly SeenRequest[],
  definition: RuleDefinition,
  { slackMs, transportMs = Number.POSITIVE_INFINITY, pauses = [], mostNodes = MOST_NODES }: RuleExplanationOptions,
): RuleExplanation {
  const counting = countingOf(definition);
  if (counting === undefined) return { type: 'unknown', why: 'not seen' };
  const options = { slackMs, transportMs, pauses: [], mostNodes };
  const found = explainFor(requests, definition, counting, options, 0);
  if (found.type === 'refuted') {
    // What a clock lost before the first request is a matter of its phase.
    const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
    const later = pauses.filter(({ toMs }) => toMs > fromMs);
    if (later.length === 0) return found;
    const paused = atAnyPhase(requests, definition, counting, { ...options, pauses: later });
    return paused.type === 'refuted' ? paused : { type: 'unknown', why: 'paused' };
  }
  const least = quickestMs(requests);
  let best = found;
  for (const wayMs of WAY_SHARES.map((share) => share * least)) {
    if (saysEnough(best) || wayMs < 1) break;
    const other = explainFor(requests, definition, counting, options, wayMs);
    if (other.type !== 'explained') continue;
    if (best.type !== 'explained' || other.undecided < best.undecided) best = other;
  }
  return best;
}

/** Whether most answers could not have been others. */
export function saysEnough(found: RuleExplanation): boolean {
  return found.type === 'explained' && (found.looked === 0 || found.undecided < TOO_UNCERTAIN * found.looked);
}

function explainFor(
  seen: readonly SeenRequest[],
  definition: RuleDefinition,
  counting: Counting,
  options: Given,
  wayMs: number,
): RuleExplanation {
  const requests = withoutWay(seen, wayMs);
  const found = atAnyPhase(requests, definition, counting, options);
  if (found.type !== 'explained') return found;
  const answered = requests.filter(({ decision }) => decision !== 'unknown');
  let [undecided, looked] = [0, 0];
  for (const one of spread(answered, LOOKED)) {
    looked += 1;
    const turned = requests.map((request) => (request === one ? turnedRound(request) : request));
    const other = searchOrder(turned, counting, { ...options, phaseMs: found.phaseMs });
    if (other.type !== 'refuted') undecided += 1;
    if (undecided >= TOO_UNCERTAIN * LOOKED) break;
  }
  return { type: 'explained', undecided, looked, wayMs };
}

type AtPhase =
  | { readonly type: 'explained'; readonly phaseMs: number }
  | Extract<RuleExplanation, { type: 'refuted' | 'unknown' }>;

function atAnyPhase(
  requests: readonly SeenRequest[],
  definition: RuleDefinition,
  counting: Counting,
  options: Given,
): AtPhase {
  const phases = phasesOf(requests, definition, options);
  if (phases === undefined) return { type: 'unknown', why: 'too many' };
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
  return isGivenUp || furthest === undefined ? { type: 'unknown', why: 'too many' } : { type: 'refuted', by: furthest };
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
  { slackMs, pauses }: Given,
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
    for (let ms = Math.floor(sentMs - behindMs(pauses, sentMs) - fromMs - slackMs); ms <= to; ms += 1)
      within.add(modulo(ms, period));
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
