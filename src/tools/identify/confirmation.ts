// Tests what explains the answers by a fresh series, before it is named. Pure.
//
//   explanation, with its ranges ─► fresh series ─► explains it within these ranges: confirmed
//                                                   explains it otherwise, or not: a further series, at most three
import type { Range } from '../../core/math/range.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { freshSeries, LEAST_BITS } from './fresh-series.js';
import { sampleOf } from './probe.js';
import type { Choice, InvestigationState } from './probe-choice.js';
import { blurOf, gapOf } from './probes.js';
import { isByToken } from './structure.js';
import { violationOf } from './violation.js';

const MOST_SERIES = 3;
const MOST_SAMPLES = 8;
/** A time may move by this share of itself beyond what explained the answers before: not every value in its range was searched. */
const BEYOND = 0.05;

export class Confirmation {
  readonly #confirmed = new Set<string>();
  /** What the last series is to confirm. */
  #expected: readonly Fitted[] = [];
  #series = 0;
  /** The next series would need more than is left. */
  lacks: 'budget' | 'time' | undefined;

  /** Nothing is left to test, or no further series is possible. */
  isDone(state: Pick<InvestigationState, 'alive' | 'evidence'>): boolean {
    this.#learn(state);
    return this.#series === MOST_SERIES || state.alive.every(({ best }) => this.#confirmed.has(best.structure.id));
  }

  /** The series that tests what is left; undefined if all is confirmed, or no series is possible. */
  next(state: InvestigationState, isFresh: boolean): Choice | undefined {
    this.#learn(state);
    const untested = state.alive.find(({ best }) => !this.#confirmed.has(best.structure.id));
    if (untested === undefined || this.#series === MOST_SERIES) return undefined;
    const { evidence, nowMs, key, left } = state;
    const samples = untested.samples
      .slice(0, MOST_SAMPLES)
      .map((one) => sampleOf(one, isFresh ? undefined : violationOf(one, evidence).states.get(key)));
    const restMs = gapOf(evidence);
    const { probe, bits, lacks } = freshSeries(untested, samples, evidence, nowMs + restMs, left);
    this.lacks = bits < LEAST_BITS ? lacks : undefined;
    if (bits < LEAST_BITS) return undefined;
    this.#series += 1;
    this.#expected = state.alive;
    return { probe, restMs, isFresh };
  }

  /** What is left, if a part of it was confirmed. */
  confirmed(state: Pick<InvestigationState, 'alive' | 'evidence'>): readonly Fitted[] {
    this.#learn(state);
    return state.alive.some(({ best }) => this.#confirmed.has(best.structure.id)) ? state.alive : [];
  }

  #learn({ alive, evidence }: Pick<InvestigationState, 'alive' | 'evidence'>): void {
    for (const now of alive) {
      if (this.#expected.some((before) => isWithin(now, before, evidence))) this.#confirmed.add(now.best.structure.id);
    }
    this.#expected = [];
  }
}

/** A variant of what was expected predicts the same, if its times are the same. */
function isWithin({ best }: Fitted, before: Fitted, evidence: Evidence): boolean {
  const { structure, parameters } = best;
  if (structure.family !== before.best.structure.family) return false;
  const { limit, otherMs } = before.ranges;
  const isLimit = parameters.limit >= limit.least && parameters.limit <= limit.most;
  if (structure.isInFlight) return isLimit;
  const byMs = blurOf(evidence);
  const isIn = (ms: number, { least, most }: Range, by: number) =>
    ms >= (1 - BEYOND) * least - by && ms <= (1 + BEYOND) * most + by;
  const times = isByToken(structure) ? parameters.limit : 1;
  const hasOther = structure.has.includes('otherMs') && before.best.structure.id === structure.id;
  return (
    isLimit &&
    isIn(parameters.spanMs, before.ranges.spanMs, byMs / times) &&
    (!hasOther || isIn(parameters.otherMs, otherMs, byMs))
  );
}
