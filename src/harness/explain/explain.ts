// Decides whether a limiter with a given rule could have given the observed answers, when the instants of counting are unknown. Pure.
//
//   explained   some order of counting, at some phase of the limiter's clock, gives the answers
//   refuted     none does: the limiter differs from the rule
//   unknown     the search was given up, or other answers could be explained as well
//
// Behind a slow network too many answers are explainable. A second pass then assumes that every request spent at least a part of the
// quickest response time on the network. A refutation always uses the full time.
//
//   sent |------------?------------| answered         sent |----?----|   network, both ways   | answered
//
// An answer is ambiguous if the opposite one can be explained as well. A sample of the requests is checked.
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { sampleEvenly } from '../../core/math/sample-evenly.js';
import { countingOf } from './counting-of.js';
import { phasesOf } from './phases.js';
import { type QueueOptions, queuesOf } from './queues.js';
import { type EarlierUse, searchOrder } from './search.js';
import { hasCosts, type Pause, quickestMs, type SeenRequest } from './seen-request.js';

export type Explanation =
  /** Of `sampled` requests, `ambiguous` have two possible answers, with `wayMs` of network time at least. */
  | { readonly type: 'explained'; readonly ambiguous: number; readonly sampled: number; readonly wayMs: number }
  | Refuted
  /** 'not seen': the answers depend on something hidden. 'paused': explained only if the clock stopped in pauses. */
  | { readonly type: 'unknown'; readonly why: 'too many' | 'not seen' | 'paused' };

export interface Refuted {
  readonly type: 'refuted';
  readonly settled: () => Settled;
  /** An answer came before the rule would have released the request, or later than the transport allows. */
  readonly isHeld: boolean;
}

export interface ExplanationOptions extends Omit<QueueOptions, 'transportMs'> {
  /** Default: unbounded. */
  readonly transportMs?: number | undefined;
  /** Limit on search nodes per phase. Default: 300,000, or 200 per request if that is more. */
  readonly mostNodes?: number | undefined;
  /** Default: the limiter was not in use before the first request. */
  readonly earlier?: EarlierUse | undefined;
}

type Given = QueueOptions & { readonly mostNodes: number; readonly earlier?: EarlierUse | undefined };

const DEFAULT_NODES = 300_000;
const NODES_OF_REQUEST = 200;
/** Limit on nodes over all phases, as a multiple of `mostNodes`. */
const PHASES_SHARE = 4;
const RANGES = 32;
const SAMPLED = 16;
/** Shares of the quickest response time to assume as network time, where the answers say too little otherwise. */
const WAY_SHARES = [63 / 64, 7 / 8, 1 / 2];
const TOO_AMBIGUOUS = 0.5;

/** @param requests all of one key @param rules at least one; a refutation is about the first */
export function explain(
  requests: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  { pauses = [], ...given }: ExplanationOptions,
): Explanation {
  const options: Given = { ...searchOptions(requests, given), pauses: [] };
  const { mostNodes } = options;
  const found = explainFor(requests, rules, options, 0);
  if (found.type === 'refuted') {
    const later = laterPauses(requests, pauses);
    const own = { ...options, pauses: later };
    const isRefuted = (some: readonly SeenRequest[], most = mostNodes) =>
      rules.every((rule) => atAnyPhase(some, rule, { ...own, mostNodes: most }).type === 'refuted');
    if (later.length > 0 && !isRefuted(requests)) return { type: 'unknown', why: 'paused' };
    return { ...found, settled: () => settledOf(requests, isRefuted, found.nearMs) };
  }
  if (found.type === 'unknown' && found.why === 'not seen') return found;
  const least = quickestMs(requests);
  let best = found;
  for (const wayMs of WAY_SHARES.map((share) => share * least)) {
    if (saysEnough(best) || wayMs < 1) break;
    const other = explainFor(requests, rules, options, wayMs);
    if (other.type !== 'explained') continue;
    if (best.type !== 'explained' || other.ambiguous < best.ambiguous) best = other;
  }
  return best;
}

/** Whether one of the rules could have given the answers; undefined if the search was given up. */
export function isExplained(
  requests: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: ExplanationOptions,
): boolean | undefined {
  const pauses = laterPauses(requests, options.pauses ?? []);
  const { type } = byAnyRule(requests, rules, searchOptions(requests, { ...options, pauses }));
  return type === 'unknown' ? undefined : type === 'explained';
}

/** Time that the clock lost before the first request is part of its phase. */
function laterPauses(requests: readonly SeenRequest[], pauses: readonly Pause[]): Pause[] {
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
  return pauses.filter(({ toMs }) => toMs > fromMs);
}

function searchOptions(requests: readonly SeenRequest[], given: ExplanationOptions): Given {
  return {
    ...given,
    transportMs: given.transportMs ?? Number.POSITIVE_INFINITY,
    mostNodes: given.mostNodes ?? Math.max(DEFAULT_NODES, NODES_OF_REQUEST * requests.length),
  };
}

export function saysEnough(found: Explanation): boolean {
  return found.type === 'explained' && (found.sampled === 0 || found.ambiguous < TOO_AMBIGUOUS * found.sampled);
}

function explainFor(
  seen: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: Given,
  wayMs: number,
): Exclude<Explanation, Refuted> | Impossible {
  // Splitting network time differently only shifts the limiter's clock phase.
  const requests = seen.map((one) => ({ ...one, answeredMs: one.answeredMs - wayMs }));
  const found = byAnyRule(requests, rules, options);
  if (found.type !== 'explained') return found;
  const answered = requests.filter(({ decision }) => decision !== 'unknown');
  let [ambiguous, sampled] = [0, 0];
  for (const one of sampleEvenly(answered, SAMPLED)) {
    sampled += 1;
    const other = { ...one, decision: one.decision === 'admitted' ? ('limited' as const) : ('admitted' as const) };
    if (found.explains(requests.map((request) => (request === one ? other : request)))) ambiguous += 1;
    if (ambiguous >= TOO_AMBIGUOUS * SAMPLED) break;
  }
  return { type: 'explained', ambiguous, sampled, wayMs };
}

interface Impossible extends Omit<Refuted, 'settled'> {
  readonly nearMs: number;
}

type ByRule =
  /** `explains`: whether other answers are explainable at the same phase, too. */
  | { readonly type: 'explained'; readonly explains: (requests: readonly SeenRequest[]) => boolean }
  | Extract<Explanation, { type: 'unknown' }>
  | Impossible;

function byAnyRule(requests: readonly SeenRequest[], rules: readonly RuleDefinition[], options: Given): ByRule {
  const found: ByRule[] = [];
  for (const rule of rules) {
    const one = atAnyPhase(requests, rule, options);
    if (one.type === 'explained') return one;
    found.push(one);
  }
  return found.find(({ type }) => type === 'unknown') ?? found[0]!;
}

/** Discards a range of phases as a whole if it explains nothing; halves others, down to a single phase. */
function atAnyPhase(requests: readonly SeenRequest[], definition: RuleDefinition, options: Given): ByRule {
  const counting = countingOf(definition, hasCosts(requests));
  if (counting === undefined) return { type: 'unknown', why: 'not seen' };
  const phases = phasesOf(requests, definition, options);
  if (phases === undefined) return { type: 'unknown', why: 'too many' };
  const { mostNodes, earlier } = options;
  const queues = queuesOf(requests, counting.stepMs, options);
  const ranges = counting.isBounded
    ? cut([...phases].sort((a, b) => a.startMs - b.startMs))
    : phases.map((one) => [one]);
  let nodes = 0;
  let furthest: { readonly sentMs: number; readonly isHeld: boolean } | undefined;
  for (let range = ranges.shift(); range !== undefined; range = ranges.shift()) {
    const isOne = range.length === 1;
    const [phase, widthMs] = [range[0]!, range.at(-1)!.startMs - range[0]!.startMs];
    const most = isOne ? mostNodes : mostNodes / 4;
    const found = searchOrder(queues, counting, { ...phase, widthMs, mostNodes: most, earlier });
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

function cut<T>(all: readonly T[]): T[][] {
  const length = Math.ceil(all.length / RANGES);
  return Array.from({ length: Math.ceil(all.length / length) }, (_, k) => all.slice(k * length, (k + 1) * length));
}

// For unexplainable answers: the answer that settled it, and a minimal unexplainable set.
//
//   settled      o  o  x | o  x          no order explains the answers up to here; some order explains all before
//   smallest     .  o  x                 however the other requests were counted and answered
//
// Both searches leave answers out: half of them, then a quarter, down to one.

export interface Settled {
  readonly last: SeenRequest;
  /** In order of time; minimal as far as the search got. Undefined if there are too many answers. */
  readonly set: readonly SeenRequest[] | undefined;
}

const MOST_ANSWERS = 200;

/** Limits of the search for the set: trials, and nodes of each. Large sets are reduced as far as that allows. */
const MOST_TRIALS = 60;
const NODES_OF_TRIAL = 4_000;

/** @param nearMs sending time of a request near the one whose answer settled it */
function settledOf(
  requests: readonly SeenRequest[],
  isRefuted: (requests: readonly SeenRequest[], mostNodes?: number) => boolean,
  nearMs: number,
): Settled {
  const answered = requests
    .filter(({ decision }) => decision !== 'unknown')
    .sort((one, other) => one.answeredMs - other.answeredMs);
  const upTo = ({ answeredMs }: SeenRequest) =>
    requests
      .filter(({ sentMs }) => sentMs <= answeredMs)
      .map((one) =>
        one.answeredMs <= answeredMs ? one : { ...one, decision: 'unknown' as const, answeredMs: Infinity },
      );
  let [open, settled] = [-1, answered.length - 1];
  let place = answered.findIndex(({ sentMs }) => sentMs >= nearMs);
  for (let step = 1; place > open && place < settled; step *= 2) {
    const isSettled = isRefuted(upTo(answered[place]!));
    if (isSettled) settled = place;
    else open = place;
    place += isSettled ? -step : step;
  }
  while (settled - open > 1) {
    const middle = (open + settled) >> 1;
    if (isRefuted(upTo(answered[middle]!))) settled = middle;
    else open = middle;
  }
  const last = answered[settled]!;
  const all = upTo(last);
  let set = new Set(all.filter(({ decision }) => decision !== 'unknown'));
  if (set.size > MOST_ANSWERS) return { last, set: undefined };
  let trials = 0;
  for (let size = 2 ** (31 - Math.clz32(set.size)); size >= 1; size /= 2) {
    const members = [...set];
    for (let from = 0; from < members.length && trials < MOST_TRIALS; from += size) {
      const fewer = new Set(set);
      for (const one of members.slice(from, from + size)) fewer.delete(one);
      trials += 1;
      const some = all.map((one) => (fewer.has(one) ? one : { ...one, decision: 'unknown' as const }));
      if (isRefuted(some, NODES_OF_TRIAL)) set = fewer;
    }
  }
  return { last, set: [...set].sort((one, other) => one.sentMs - other.sentMs) };
}
