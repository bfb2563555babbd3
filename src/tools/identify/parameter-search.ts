// Finds parameters by the number of answers in a row that they explain. Pure.
//
//   span 2,790   ────────────x              the later the first unexplained answer, the nearer the parameters
//   span 2,812   ─────────────────────────►
//   span 2,830   ───────────────x
//
// Where refused requests count, or early quota is spent at once, one wrong answer makes all later ones wrong: the violation then says
// nothing about the error of the parameters. The number of answers before it does.
//
//   span 2,790   ────────────x              limited, and the rule admits
//   span 2,830   ────────────x              admitted, and the rule refuses: in between there may be spans that give both answers
import type { Evidence } from './evidence.js';
import { featuresOf } from './features.js';
import { isNear, scatteredFrom } from './parameter-steps.js';
import { startsOf } from './search-starts.js';
import type { Hypothesis, Parameters, Structure } from './structure.js';
import { TOLERANCE_MS, violationOf } from './violation.js';

interface Candidate {
  readonly parameters: Parameters;
  /** Sending time of the first unexplained request; Infinity if all are explained. */
  readonly untilMs: number;
  readonly ms: number;
  /** The rule refuses the first unexplained request. */
  readonly isTooStrict: boolean;
}

/** Candidates kept per round, and of these with similar spans: one that explains a few answers more may be a dead end. */
const KEPT = 48;
const KEPT_NEAR = 8;
const SCATTERED = 16;
/** Width of the search around candidates, as a share of the span: halved each round. */
const FIRST_WIDTH = 0.04;
const LAST_WIDTH = 2e-4;
const ALIKE = 0.1;
/** Halvings between two spans whose first unexplained answers are of different kinds. */
const HALVINGS = 12;
/** Rounds in a row without a longer run: a narrower search then finds none either. */
const MOST_STALLED = 2;

export function searchByRun(structure: Structure, evidence: Evidence, mostMs = TOLERANCE_MS): Hypothesis[] {
  const features = featuresOf(evidence);
  const [anchorMs = features.fromMs] = features.recoveries;
  const admitted = new Set(evidence.seen.filter(({ decision }) => decision === 'admitted').map(({ sentMs }) => sentMs));
  const candidateOf = (parameters: Parameters): Candidate => {
    const { ms, sentMs } = violationOf({ structure, parameters }, evidence, { mostMs });
    return { parameters, untilMs: ms <= mostMs ? Infinity : sentMs, ms, isTooStrict: admitted.has(sentMs) };
  };
  const kept: Candidate[] = [];
  const take = (one: Candidate, width = FIRST_WIDTH) => {
    const { parameters } = one;
    if (kept.length === KEPT && !isBetter(one, kept.at(-1)!)) return;
    const same = kept.find((other) => isAlike(other.parameters, parameters, ALIKE * width));
    const near = kept.filter((other) => isNear(other.parameters, parameters));
    const last = same ?? (near.length < KEPT_NEAR ? undefined : near.at(-1));
    if (last !== undefined && !isBetter(one, last)) return;
    if (last !== undefined) kept.splice(kept.indexOf(last), 1);
    const place = kept.findIndex((other) => isBetter(one, other));
    kept.splice(place < 0 ? kept.length : place, 0, one);
    kept.length = Math.min(kept.length, KEPT);
  };
  const starts = [...startsOf(structure, evidence, features, { isWide: true })].map(candidateOf);
  const explaining = starts.filter(({ untilMs }) => untilMs === Infinity);
  if (explaining.length > 0) return explaining.map(({ parameters }) => ({ structure, parameters }));
  for (const one of starts) take(one);
  if (structure.has.length === 0) for (const one of betweenKinds(starts, candidateOf)) take(one);
  let stalled = 0;
  for (let width = FIRST_WIDTH; width > LAST_WIDTH && stalled < MOST_STALLED; width /= 2) {
    const before = kept[0]?.untilMs;
    if (before === undefined || before === Infinity) break;
    for (const { parameters } of [...kept]) {
      for (let k = 1; k <= SCATTERED; k += 1)
        take(candidateOf(scatteredFrom(structure, parameters, width, k, anchorMs)), width);
    }
    stalled = kept[0]!.untilMs > before ? 0 : stalled + 1;
  }
  return kept
    .filter(({ untilMs }) => untilMs === kept[0]!.untilMs)
    .map(({ parameters }) => ({ structure, parameters }));
}

/** Candidates between neighbours in span of which one is too strict and the other is not. */
function* betweenKinds(
  starts: readonly Candidate[],
  candidateOf: (parameters: Parameters) => Candidate,
): Generator<Candidate> {
  const ascending = [...starts].sort(
    ({ parameters: a }, { parameters: b }) => a.limit - b.limit || a.spanMs - b.spanMs,
  );
  for (const [k, start] of ascending.entries()) {
    let [low, high] = [start, ascending[k + 1]];
    if (high?.parameters.limit !== low.parameters.limit || high.isTooStrict === low.isTooStrict) continue;
    for (let n = 0; n < HALVINGS && Math.max(low.untilMs, high.untilMs) < Infinity; n += 1) {
      const spanMs = (low.parameters.spanMs + high.parameters.spanMs) / 2;
      const middle = candidateOf({ ...low.parameters, spanMs });
      yield middle;
      if (middle.isTooStrict === low.isTooStrict) low = middle;
      else high = middle;
    }
  }
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.untilMs > other.untilMs || (one.untilMs === other.untilMs && one.ms < other.ms);
}

function isAlike(one: Parameters, other: Parameters, width: number): boolean {
  const isSame = (name: 'spanMs' | 'otherMs' | 'shiftMs') => Math.abs(one[name] - other[name]) <= width * one.spanMs;
  return one.limit === other.limit && isSame('spanMs') && isSame('otherMs') && isSame('shiftMs');
}
