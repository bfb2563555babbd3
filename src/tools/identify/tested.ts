// How well the answers test a rule that explains them. Pure.
//
//   by chance      each volley would have to refuse as many as the rule does: bits count how unlikely that is, over the whole run
//   a fitted rule  its numbers were chosen by these answers: each costs bits
import { copyOf } from '../../core/limiter/rule/rule.js';
import { uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import { log } from '../../core/math/elementary.js';
import { countedWithin, type Evidence, type Seen, volleysIn } from './evidence.js';
import type { Investigated } from './explanations.js';
import type { Fitted } from './fit.js';
import type { Hypothesis } from './structure.js';
import { BASE_MS, TOLERANCE_MS } from './violation.js';

/** Chance alone explains the answers as well once in 2^12 times. */
const LEAST_BITS = 12;
const BITS_OF_A_NUMBER = 8;

/** Nothing is named unless the answers test a part of what explains them. */
export function onlyTested(
  explaining: readonly Fitted[],
  evidence: Evidence,
): Pick<Investigated, 'alive' | 'untested'> {
  const isOne = explaining.length === 0 || explaining.some(({ best }) => isTested(best, evidence));
  return isOne ? { alive: explaining } : { alive: [], untested: explaining };
}

export function isTested(hypothesis: Hypothesis, evidence: Evidence): boolean {
  return bitsOver(hypothesis, evidence) >= LEAST_BITS;
}

/** How unlikely refusals by chance are answered as the rule predicts, in bits, less what its own numbers explain. */
function bitsOver(hypothesis: Hypothesis, evidence: Evidence): number {
  const decided = evidence.seen.filter(({ decision }) => decision !== 'unknown');
  const share = decided.filter(({ decision }) => decision === 'limited').length / decided.length;
  const { has, isInFlight } = hypothesis.structure;
  let bits = -BITS_OF_A_NUMBER * ((isInFlight ? 1 : 2) + has.length);
  for (const { key } of evidence.keys)
    for (const { n, least, most } of countsOf(
      hypothesis,
      decided.filter((one) => one.key === key),
      evidence,
    ))
      bits -= log(likelihood(n, least, most, share)) / BIT;
  return bits;
}

const BIT = log(2);

/** Of a volley of `n`, how many the rule admits. */
interface Count {
  readonly n: number;
  readonly least: number;
  readonly most: number;
}

function* countsOf({ structure, parameters }: Hypothesis, own: readonly Seen[], evidence: Evidence): Generator<Count> {
  const rule = uncheckedRule(structure.definition(parameters));
  const state = rule.fresh(0);
  const shiftMs = BASE_MS + parameters.shiftMs;
  let nowMs = -Infinity;
  for (const volley of volleysIn([...own].sort((a, b) => a.sentMs - b.sentMs))) {
    const within = volley.map((one) => countedWithin(one, evidence));
    const fromMs = Math.max(nowMs, Math.min(...within.map(([first]) => first)) - TOLERANCE_MS + shiftMs);
    const toMs = Math.max(fromMs, Math.max(...within.map(([, last]) => last)) + TOLERANCE_MS + shiftMs);
    const roomAt = (ms: number) => rule.remaining(copyOf(state), ms);
    const [early, late] = [roomAt(fromMs), roomAt(toMs)];
    const n = volley.length;
    const admitted = volley.filter(({ decision }) => decision === 'admitted');
    const isRefused = admitted.length < n;
    // Within a volley, some may return before the others are counted.
    const rooms = [admitted.length, Math.min(n, early), Math.min(n, late)];
    yield { n, least: Math.min(...rooms), most: Math.max(...rooms) };
    const middleMs = (fromMs + toMs) / 2;
    const room = roomAt(middleMs);
    nowMs = room < admitted.length ? toMs : isRefused && room > admitted.length ? fromMs : middleMs;
    for (const { answeredMs } of admitted)
      rule.decide(state, nowMs, 1, structure.isInFlight ? answeredMs - evidence.shortestMs / 2 + shiftMs - nowMs : 0);
    for (let k = admitted.length; k < n && rule.remaining(state, nowMs) < 1; k += 1) rule.decide(state, nowMs, 1, 0);
  }
}

/** That chance refuses each of `n` with this share, and admits from `least` to `most` of them. */
function likelihood(n: number, least: number, most: number, share: number): number {
  let one = (1 - share) ** n;
  let sum = 0;
  for (let refused = 0; refused <= n - least; refused += 1) {
    if (refused >= n - most) sum += one;
    one *= ((n - refused) / (refused + 1)) * (share / (1 - share));
  }
  return Math.max(1e-300, Math.min(1, sum));
}
