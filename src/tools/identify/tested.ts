// How well the answers test a rule that explains them. Pure.
//
//   bits           how unlikely it is that a stranger answers each volley as the rule predicts, over the whole run
//   strangers      refuse by chance   each request with the same probability
//                  open and close     admit all until one is refused, refuse all until one is admitted; when is by chance
//                  are divided        keep a share of the limit in each of several places, of which a request meets one by chance
//   a fitted rule  its numbers were chosen by these answers, and it was chosen among many: both cost bits
//
// A rule of which the nearest stranger would give the same answers claims more than was seen.
import { copyOf } from '../../core/limiter/rule/rule.js';
import { uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import { exp, log } from '../../core/math/elementary.js';
import { countedWithin, type Evidence, type Seen, volleysIn } from './evidence.js';
import type { Investigated } from './explanations.js';
import type { Fitted } from './fit.js';
import type { Hypothesis } from './structure.js';
import { BASE_MS, TOLERANCE_MS } from './violation.js';

/** A stranger answers so once in 2^13 times, for each of the 2^7 rules. */
const LEAST_BITS = 20;
const BITS_OF_A_NUMBER = 8;
/** One that is divided has the numbers of the rule: only its chance speaks against it. */
const LEAST_UNDIVIDED = 8;

/** Nothing is named unless the answers test a part of what explains them. */
export function onlyTested(
  explaining: readonly Fitted[],
  evidence: Evidence,
): Pick<Investigated, 'alive' | 'untested'> {
  const isOne = explaining.length === 0 || explaining.some(({ best }) => isTested(best, evidence));
  return isOne ? { alive: explaining } : { alive: [], untested: explaining };
}

export function isTested(hypothesis: Hypothesis, evidence: Evidence): boolean {
  const { has, isInFlight, isFine, holds } = hypothesis.structure;
  // There are many rare rules: which one it is costs as a number does. A stranger that serves one after the other has the rate, too.
  const numbers = (isInFlight || holds ? 1 : 2) + has.length + (isFine ? 1 : 0);
  const decided = evidence.seen.filter(({ decision }) => decision !== 'unknown');
  const counts = evidence.keys.flatMap(({ key }) => [
    ...countsOf(
      hypothesis,
      decided.filter((one) => one.key === key),
      evidence,
    ),
  ]);
  const least = LEAST_BITS + BITS_OF_A_NUMBER * numbers;
  if ([byChance(counts), openingAndClosing(counts)].some((stranger) => bitsOver(counts, stranger) < least))
    return false;
  const parts = isInFlight || holds ? undefined : PARTS.find((k) => hypothesis.parameters.limit % k === 0);
  return parts === undefined || bitsOver(counts, divided(hypothesis.parameters.limit, parts)) >= LEAST_UNDIVIDED;
}

/** How unlikely a stranger answers as the rule predicts, in bits. */
function bitsOver(counts: readonly Count[], stranger: Stranger): number {
  return counts.reduce((sum, count) => sum - log(likelihood(count, stranger)) / BIT, 0);
}

const BIT = log(2);

/** Of a volley of `n`, how many were admitted, and how many the rule admits. */
interface Count {
  readonly n: number;
  readonly admitted: number;
  readonly least: number;
  readonly most: number;
  /** What the rule has left, in the middle of the volley. */
  readonly room: number;
  /** The volley before ended with a refusal. */
  readonly isClosed: boolean;
}

/** The probability that it admits this many of a volley. */
type Stranger = (count: Count, admitted: number) => number;

/** Half a case more of each kind: nothing is certain. */
const shareOf = (some: number, all: number) => (some + 0.5) / (all + 1);

function byChance(counts: readonly Count[]): Stranger {
  const sum = (of: (count: Count) => number) => counts.reduce((all, count) => all + of(count), 0);
  const share = shareOf(
    sum(({ admitted }) => admitted),
    sum(({ n }) => n),
  );
  return ({ n }, admitted) => binomial(n, admitted, share);
}

function binomial(n: number, k: number, share: number): number {
  let logarithm = k * log(share) + (n - k) * log(1 - share);
  for (let i = 1; i <= Math.min(k, n - k); i += 1) logarithm += log((n - i + 1) / i);
  return exp(logarithm);
}

/** In more parts it would refuse earlier: the fewest come nearest. */
const PARTS = [2, 3];

/** One part beside the others together. What is used is divided among them by chance, as far as it fits. */
function divided(limit: number, parts: number): Stranger {
  const share = 1 / parts;
  const mostOfOne = limit / parts;
  const mostOfOthers = limit - mostOfOne;
  return ({ n, room }, admitted) => {
    const used = Math.min(limit, Math.max(0, limit - Math.floor(room)));
    const intoOne = Array.from({ length: n + 1 }, (_, k) => binomial(n, k, share));
    let [sum, all] = [0, 0];
    for (let inOne = Math.max(0, used - mostOfOthers); inOne <= Math.min(used, mostOfOne); inOne += 1) {
      const weight = binomial(used, inOne, share);
      const [left, leftOfOthers] = [mostOfOne - inOne, mostOfOthers - (used - inOne)];
      const fitting = intoOne.reduce(
        (some, one, k) => (Math.min(k, left) + Math.min(n - k, leftOfOthers) === admitted ? some + one : some),
        0,
      );
      all += weight;
      sum += weight * fitting;
    }
    return sum / all;
  };
}

/** Which part of a volley it admits before it closes is by chance, too. */
function openingAndClosing(counts: readonly Count[]): Stranger {
  const share = (of: (count: Count) => boolean, is: (count: Count) => boolean) => {
    const all = counts.filter(of);
    return shareOf(all.filter(is).length, all.length);
  };
  const isWhole = ({ n, admitted }: Count) => admitted === n;
  const open = share(({ isClosed }) => !isClosed, isWhole);
  const closed = share(({ isClosed }) => isClosed, isWhole);
  const none = share(
    (one) => one.n > 1 && !isWhole(one),
    ({ admitted }) => admitted === 0,
  );
  return ({ n, isClosed }, admitted) => {
    const whole = isClosed ? closed : open;
    if (admitted === n) return whole;
    return (1 - whole) * (n === 1 ? 1 : admitted === 0 ? none : (1 - none) / (n - 1));
  };
}

function likelihood(count: Count, stranger: Stranger): number {
  let sum = 0;
  for (let admitted = count.least; admitted <= count.most; admitted += 1) sum += stranger(count, admitted);
  return Math.max(1e-300, Math.min(1, sum));
}

function* countsOf({ structure, parameters }: Hypothesis, own: readonly Seen[], evidence: Evidence): Generator<Count> {
  const rule = uncheckedRule(structure.definition(parameters));
  const state = rule.fresh(0);
  const shiftMs = BASE_MS + parameters.shiftMs;
  const returnedMs = ({ answeredMs }: Seen) => answeredMs - evidence.shortestMs / 2 + shiftMs;
  let [nowMs, isClosed] = [-Infinity, false];
  for (const volley of volleysIn([...own].sort((a, b) => a.sentMs - b.sentMs))) {
    const n = volley.length;
    const admitted = volley.filter(({ decision }) => decision === 'admitted');
    const isRefused = admitted.length < n;
    // What is in flight takes as long as its work: only a refusal says until when.
    const prompt = volley.filter(({ decision }) => !structure.isInFlight || !isRefused || decision === 'limited');
    const within = prompt.map((one) => countedWithin(one, evidence));
    const fromMs = Math.max(nowMs, Math.min(...within.map(([first]) => first)) - TOLERANCE_MS + shiftMs);
    const toMs = Math.max(fromMs, Math.max(...within.map(([, last]) => last)) + TOLERANCE_MS + shiftMs);
    const roomAt = (ms: number) => rule.remaining(copyOf(state), ms);
    const [early, late] = [roomAt(fromMs), roomAt(toMs)];
    // Within a volley, some may return before the others are counted.
    const isBack = structure.isInFlight && admitted.some((one) => returnedMs(one) <= toMs);
    const rooms = [admitted.length, ...[early, isBack ? n : late].map((room) => Math.min(n, room))];
    const middleMs = (fromMs + toMs) / 2;
    const room = roomAt(middleMs);
    yield { n, admitted: admitted.length, least: Math.min(...rooms), most: Math.max(...rooms), room, isClosed };
    isClosed = isRefused;
    nowMs = room < admitted.length ? toMs : isRefused && room > admitted.length ? fromMs : middleMs;
    for (const one of admitted) rule.admit(state, nowMs, 1, structure.isInFlight ? returnedMs(one) - nowMs : 0);
    for (let k = admitted.length; k < n && rule.remaining(state, nowMs) < 1; k += 1) rule.admit(state, nowMs, 1, 0);
  }
}
