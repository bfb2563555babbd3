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
// How much could be explained: a request is decidable if its answer, turned round, can not be explained. Some requests are looked at.
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import { countingOf } from './counting-of.js';
import { phasesOf } from './phases.js';
import { queuesOf } from './queues.js';
import { searchOrder } from './search.js';
import { hasCosts, type Pause, quickestMs, type SeenRequest, WAY_SHARES, withoutWay } from './seen-request.js';
import { type Settled, settledOf } from './smallest-set.js';

export type Explanation =
  /**
   * `undecided` of the requests `looked` at could have been answered otherwise, if each was under way for at least `wayMs` there and
   * back. 0 is certain; what is refuted is refuted for 0.
   */
  | { readonly type: 'explained'; readonly undecided: number; readonly looked: number; readonly wayMs: number }
  | Refuted
  /**
   * There were too many orders, the answers depend on what is not seen, or none explains them unless the clock of the limiter stood still
   * in the pauses.
   */
  | { readonly type: 'unknown'; readonly why: 'too many' | 'not seen' | 'paused' };

export interface Refuted {
  readonly type: 'refuted';
  /** Looks for the answer that settled it, and for the smallest set of answers that no order explains. */
  readonly settled: () => Settled;
  /** An answer came before the rule would have released its request, or later than the transport allows. */
  readonly isHeld: boolean;
}

interface ExplanationOptions {
  /** How far instants may be off, in ms, at least 0. */
  readonly slackMs: number;
  /** The most time that a request and its answer are under way, beyond what the rule holds the request. Default: any. */
  readonly transportMs?: number | undefined;
  /** In these the limiter may have been stopped, and its clock with it. Default: none. */
  readonly pauses?: readonly Pause[] | undefined;
  /** How many nodes may be looked at for one phase. Default: 300,000, or 200 a request where that is more. */
  readonly mostNodes?: number | undefined;
}

type Given = { readonly [name in keyof ExplanationOptions]-?: Exclude<ExplanationOptions[name], undefined> };

const MOST_NODES = 300_000;
const NODES_OF_REQUEST = 200;
/** The most nodes for all phases together, in the same measure. */
const PHASES_SHARE = 4;
/** Phases are searched in so many ranges at first. */
const RANGES = 32;
/** How many requests are looked at for whether they could have been answered otherwise. */
const LOOKED = 16;
/** From this share of the requests that were looked at on, the answers say too little. */
const TOO_UNCERTAIN = 0.5;

/**
 * Whether a limiter of one of the rules could have given the answers.
 * @param requests all of one key, in any order
 * @param rules at least one; a refutation is that of the first
 */
export function explain(
  requests: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  { slackMs, transportMs = Number.POSITIVE_INFINITY, pauses = [], ...given }: ExplanationOptions,
): Explanation {
  const mostNodes = given.mostNodes ?? Math.max(MOST_NODES, NODES_OF_REQUEST * requests.length);
  const options = { slackMs, transportMs, pauses: [], mostNodes };
  const found = explainFor(requests, rules, options, 0);
  if (found.type === 'refuted') {
    // What a clock lost before the first request is a matter of its phase.
    const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
    const later = pauses.filter(({ toMs }) => toMs > fromMs);
    const own = { ...options, pauses: later };
    if (later.length > 0 && byAnyRule(requests, rules, own).type !== 'refuted')
      return { type: 'unknown', why: 'paused' };
    const isRefuted = (some: readonly SeenRequest[], most = mostNodes) =>
      byAnyRule(some, rules, { ...own, mostNodes: most }).type === 'refuted';
    return { ...found, settled: () => settledOf(requests, isRefuted, found.nearMs) };
  }
  if (found.type === 'unknown' && found.why === 'not seen') return found;
  const least = quickestMs(requests);
  let best = found;
  for (const wayMs of WAY_SHARES.map((share) => share * least)) {
    if (saysEnough(best) || wayMs < 1) break;
    const other = explainFor(requests, rules, options, wayMs);
    if (other.type !== 'explained') continue;
    if (best.type !== 'explained' || other.undecided < best.undecided) best = other;
  }
  return best;
}

/** Whether most answers could not have been others. */
export function saysEnough(found: Explanation): boolean {
  return found.type === 'explained' && (found.looked === 0 || found.undecided < TOO_UNCERTAIN * found.looked);
}

function explainFor(
  seen: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: Given,
  wayMs: number,
): Exclude<Explanation, Refuted> | Impossible {
  const requests = withoutWay(seen, wayMs);
  const found = byAnyRule(requests, rules, options);
  if (found.type !== 'explained') return found;
  const answered = requests.filter(({ decision }) => decision !== 'unknown');
  let [undecided, looked] = [0, 0];
  for (const one of spread(answered, LOOKED)) {
    looked += 1;
    if (found.explains(requests.map((request) => (request === one ? turnedRound(request) : request)))) undecided += 1;
    if (undecided >= TOO_UNCERTAIN * LOOKED) break;
  }
  return { type: 'explained', undecided, looked, wayMs };
}

/** No order of counting explains the answers. */
interface Impossible extends Omit<Refuted, 'settled'> {
  /** When a request was sent that the search came to last. */
  readonly nearMs: number;
}

type ByRule =
  /** `explains`: whether other answers may be explained as well, at the same phase. */
  | { readonly type: 'explained'; readonly explains: (requests: readonly SeenRequest[]) => boolean }
  | Extract<Explanation, { type: 'unknown' }>
  | Impossible;

/** The first rule that explains the answers; else the first one that may, or the refutation of the first. */
function byAnyRule(requests: readonly SeenRequest[], rules: readonly RuleDefinition[], options: Given): ByRule {
  const found: ByRule[] = [];
  for (const rule of rules) {
    const one = atAnyPhase(requests, rule, options);
    if (one.type === 'explained') return one;
    found.push(one);
  }
  return found.find(({ type }) => type === 'unknown') ?? found[0]!;
}

/** Ranges of phases that do not explain the answers are given up as one; others are halved, down to a single phase. */
function atAnyPhase(requests: readonly SeenRequest[], definition: RuleDefinition, options: Given): ByRule {
  const counting = countingOf(definition, hasCosts(requests));
  if (counting === undefined) return { type: 'unknown', why: 'not seen' };
  const phases = phasesOf(requests, definition, options);
  if (phases === undefined) return { type: 'unknown', why: 'too many' };
  const { mostNodes } = options;
  const queues = queuesOf(requests, counting.stepMs, options);
  const ranges = counting.isBounded
    ? cut([...phases].sort((a, b) => a.startMs - b.startMs))
    : phases.map((one) => [one]);
  let nodes = 0;
  let furthest: { readonly sentMs: number; readonly isHeld: boolean } | undefined;
  for (let range = ranges.shift(); range !== undefined; range = ranges.shift()) {
    const isOne = range.length === 1;
    const [phase, widthMs] = [range[0]!, range.at(-1)!.startMs - range[0]!.startMs];
    const found = searchOrder(queues, counting, { ...phase, widthMs, mostNodes: isOne ? mostNodes : mostNodes / 4 });
    nodes += found.nodes;
    if (found.type === 'explained' && isOne) {
      const explains = (other: readonly SeenRequest[]) => {
        const turned = queuesOf(other, counting.stepMs, options);
        return searchOrder(turned, counting, { ...phase, mostNodes, near: found }).type !== 'refuted';
      };
      return { type: 'explained', explains };
    }
    if (found.type === 'refuted') {
      if (furthest === undefined || found.by.sentMs > furthest.sentMs) furthest = found.by;
    } else if (isOne) return { type: 'unknown', why: 'too many' };
    else ranges.unshift(range.slice(0, range.length >> 1), range.slice(range.length >> 1));
    if (nodes > PHASES_SHARE * mostNodes) return { type: 'unknown', why: 'too many' };
  }
  return { type: 'refuted', isHeld: furthest!.isHeld, nearMs: furthest!.sentMs };
}

/** Into as many ranges as there are at most at first. */
function cut<T>(all: readonly T[]): T[][] {
  const length = Math.ceil(all.length / RANGES);
  return Array.from({ length: Math.ceil(all.length / length) }, (_, k) => all.slice(k * length, (k + 1) * length));
}

function turnedRound(request: SeenRequest): SeenRequest {
  return { ...request, decision: request.decision === 'admitted' ? 'limited' : 'admitted' };
}

/** As many as `n`, over the whole of the list. */
function spread<T>(all: readonly T[], n: number): T[] {
  const step = Math.max(1, all.length / n);
  return Array.from({ length: Math.min(n, all.length) }, (_, k) => all[Math.floor(k * step)]!);
}
