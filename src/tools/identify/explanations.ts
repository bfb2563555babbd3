// The structures that explain the answers. Pure.
import type { Evidence } from './evidence.js';
import { featuresOf } from './features.js';
import { type Fitted, fitted, fittedFrom } from './fit.js';
import { orderVerdict } from './order-verdict.js';
import { searchByRun } from './parameter-search.js';
import { type Hypothesis, isByTick, isByToken, type Structure, windowMsOf } from './structure.js';
import { structures } from './structures.js';
import { TOLERANCE_MS } from './violation.js';

export interface Investigated {
  readonly evidence: Evidence;
  readonly alive: readonly Fitted[];
  readonly nearest: Fitted | undefined;
  /** What explains the answers, but is not tested by them: refusals by chance may give the same. */
  readonly untested?: readonly Fitted[] | undefined;
  readonly elapsedMs: number;
  /** The limiter was in use: the first answers, not in `evidence`, are explained if it had admitted `admitted` requests before. */
  readonly usedBefore?: { readonly answers: number; readonly admitted: number } | undefined;
  readonly ended: 'settled' | 'budget' | 'time' | 'stopped' | 'never limited';
}

export function isAlive({ violationMs }: Fitted): boolean {
  return violationMs <= TOLERANCE_MS;
}

/** Near misses that explain the answers after all, or of which not every order of counting could be searched. */
export function revivedOf(nearMisses: readonly Fitted[], evidence: Evidence): Fitted[] {
  return nearMisses
    .map((one) => fitted(one.best.structure, evidence, one))
    .filter((one) => {
      if (isAlive(one)) return true;
      return one.violationMs <= TOLERANCE_MS + evidence.widestMs && orderVerdict(one.best, evidence) !== 'refuted';
    });
}

/** Best first. @param before earlier explanations, refitted first @param searched cache of global searches for the same evidence */
export function explanationsOf(
  evidence: Evidence,
  before: readonly Fitted[] = [],
  among: readonly Structure[] = structures,
  isAnew = false,
  searched = new Map<string, Fitted>(),
): Fitted[] {
  const { counts } = featuresOf(evidence);
  const near = isAnew && before.length > 0 ? before.flatMap(({ best }) => spansOf(best)) : undefined;
  const from = new Map(before.map((one) => [one.best.structure.id, one]));
  const fittedAll = (all: readonly Structure[], isStalled?: true) =>
    all.map((structure) => {
      const own = from.get(structure.id);
      const id = `${structure.id} ${isStalled}`;
      const known = own === undefined && near === undefined ? searched.get(id) : undefined;
      if (known !== undefined) return known;
      const found = fitted(structure, evidence, own, own === undefined ? near : spansOf(own.best), isStalled);
      if (own === undefined && near === undefined) searched.set(id, found);
      return found;
    });
  const possible = possibleOf(among, counts);
  const others = possible.filter(({ holds }) => holds === undefined);
  const held = evidence.isHeld ? possible.filter(({ holds }) => holds) : [];
  const prompt = fittedAll(held);
  const holding = prompt.some(isAlive) ? prompt : [...prompt, ...fittedAll(held, true).filter(isAlive)];
  // If a rule explains the delays, rules that do not are excluded.
  const isExplained = holding.some(isAlive);
  const all = isExplained ? holding : [...holding, ...fittedAll(others)];
  return all.sort((a, b) => a.violationMs - b.violationMs);
}

/** Drops buckets of ticks whose refill differs from every observed return. */
function possibleOf(among: readonly Structure[], counts: readonly number[]): Structure[] {
  return among.filter((one) => !isByTick(one) || counts.some((n) => Math.abs(n - (one.part ?? 1)) <= 1));
}

/** Searches structures by how many answers in a row they explain: for some, following the violation leads nowhere. */
export function explanationsByRun(evidence: Evidence, among: readonly Structure[]): Fitted[] {
  const held = among.filter(({ holds }) => evidence.isHeld || holds === undefined);
  return possibleOf(held, featuresOf(evidence).counts).flatMap((structure) => {
    const samples = searchByRun(structure, evidence);
    if (samples.length === 0) return [];
    const found = fittedFrom(samples, structure, evidence);
    return isAlive(found) ? [found] : [];
  });
}

const sameForOne = new Set(['fixed', 'log', 'counter', 'bucket-and-interval', 'bucket-whole', 'bucket-ticks-first/1']);

function spansOf(hypothesis: Hypothesis): number[] {
  const { spanMs, limit } = hypothesis.parameters;
  return [spanMs, isByToken(hypothesis.structure) ? windowMsOf(hypothesis) : spanMs / limit];
}

const ALIKE = 0.5;
const SLOW_MS = 15;

function workMsOf({ seen, limitedMs }: Evidence): number {
  const took = seen.filter(({ decision }) => decision === 'admitted').map((one) => one.answeredMs - one.sentMs);
  return (took.sort((a, b) => a - b)[took.length >> 1] ?? 0) - limitedMs;
}

/** Drops variants that the answers cannot distinguish from a simpler structure, and structures that leave delays unexplained. */
export function preferred(alive: readonly Fitted[], evidence: Evidence): Fitted[] {
  const ids = new Set(alive.map(({ best }) => best.structure.id));
  const bucket = alive.find(({ best }) => best.structure.id === 'bucket');
  const holds = evidence.isHeld && alive.some(({ best }) => best.structure.holds);
  const inFlight = alive.find(({ best }) => best.structure.isInFlight);
  const workMs = inFlight === undefined ? 0 : workMsOf(evidence);
  return alive.filter(({ best, ranges, violationMs }) => {
    // Slots in flight return on answers: a window of about that length would be a coincidence.
    if (workMs > SLOW_MS && !best.structure.isInFlight) {
      const windowMs = windowMsOf(best);
      if (Math.abs(windowMs - workMs) < ALIKE * workMs || violationMs > TOLERANCE_MS) return false;
    }
    if (holds && best.structure.holds === undefined) return false;
    if (bucket !== undefined && best.parameters.limit === 1 && ranges.limit.most === 1) {
      if (sameForOne.has(best.structure.id)) return false;
      // Segments return a request up to a segment early, depending on phase: a bucket that explains as much needs no phase.
      const isFarther = violationMs > TOLERANCE_MS && bucket.violationMs <= TOLERANCE_MS;
      if (isFarther && best.structure.family === 'segmented window') return false;
    }
    if (isByTick(best.structure) && best.parameters.part >= best.parameters.limit) return false;
    // With a block as long as the window, both restart at each refused request.
    if (best.structure.id === 'fixed-rearm' && ids.has('fixed-restart')) return false;
    const base = best.structure.extends;
    if (base === undefined || !ids.has(base)) return true;
    if (best.structure.capacity !== undefined) return false;
    return best.structure.has.includes('otherMs') && ranges.otherMs.least > 0.05 * best.parameters.spanMs;
  });
}
