// Finds a probe that distinguishes the remaining rules. Pure.
//
//   silence, until nothing is remembered | volley |   volley that decides |      one rule admits 10 of it, another 1
//
// Predictions cover all parameters that explain the answers, all phases of a grid, and slightly earlier or later requests: a probe
// distinguishes two rules if their predicted numbers do not overlap.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { lengthOf, type Probe, predicted, probeRequests, sampleOf, shifted, type Volley } from './probe.js';
import { jitterOf, probesFor, RESTED } from './probes.js';
import { type Hypothesis, windowMsOf } from './structure.js';
import { TOLERANCE_MS, violationOf } from './violation.js';

export interface DistinguishingProbe {
  readonly restMs: number;
  /** The last one decides. */
  readonly volleys: readonly Volley[];
  readonly counts: 'admitted' | 'held';
  readonly expected: readonly Expected[];
  readonly distinguishesAll: boolean;
}

/** Number of requests of the last volley that one rule predicts. */
export interface Expected {
  readonly structure: string;
  readonly words: string;
  readonly least: number;
  readonly most: number;
}

const MOST_RULES = 8;
const MOST_SAMPLES = 5;
const PHASES = 12;
/** Equal costs: this time, or this number of requests. */
const MOST_MS = 300_000;
const MOST_REQUESTS = 500;

/** The cheapest probe that distinguishes most pairs; undefined if none is certain to distinguish any. @param left budget */
export function distinguishingProbe(
  all: readonly Fitted[],
  evidence: Evidence,
  left: { readonly requests: number; readonly timeMs: number } = { requests: Infinity, timeMs: Infinity },
): DistinguishingProbe | undefined {
  const alive = all.slice(0, MOST_RULES);
  if (alive.length < 2) return undefined;
  const hasKeys = evidence.keys.length > 1;
  const restMs = hasKeys ? 0 : Math.ceil(RESTED * Math.max(...alive.map(({ best }) => longestMsOf(best))));
  const nowMs = evidence.seen.reduce((most, one) => Math.max(most, one.sentMs, finite(one.answeredMs)), 0);
  const key = evidence.seen.at(-1)!.key;
  const samples = alive.map((fitted) =>
    fitted.samples
      .slice(0, MOST_SAMPLES)
      .map((one) => sampleOf(one, hasKeys ? undefined : violationOf(one, evidence).states.get(key))),
  );
  const lateMs = Math.max(2 * TOLERANCE_MS, jitterOf(evidence));
  const pairs = (alive.length * (alive.length - 1)) / 2;
  let best: { separated: number; cost: number; found: DistinguishingProbe } | undefined;
  for (const { probe: asked } of probesFor(alive, evidence, 1, true)) {
    if (probeRequests(asked) > left.requests || restMs + lengthOf(asked) > left.timeMs) continue;
    const probe = { ...asked, volleys: asked.volleys.map(({ atMs, n }) => ({ atMs: Math.round(atMs), n })) };
    // Transport may move the later volleys towards the first, or away from it.
    const variants = [0, -lateMs, lateMs].map((ms) => shifted(probe, (place) => (place === 0 ? 0 : ms)));
    const outcomes = samples.map((own) =>
      own.flatMap((sample) =>
        phasesOf(sample.hypothesis).flatMap((ms) =>
          variants.map((one) => predicted(sample, nowMs + restMs + ms, one, evidence)),
        ),
      ),
    );
    for (const counts of ['admitted', 'held'] as const) {
      for (let decides = 0; decides < probe.volleys.length; decides += 1) {
        const expected = outcomes.map((own, k): Expected => {
          const numbers = own.map((volleys) => volleys[decides]![counts]);
          const { id, words } = alive[k]!.best.structure;
          return { structure: id, words, least: Math.min(...numbers), most: Math.max(...numbers) };
        });
        const separated = separatedPairs(expected);
        const volleys = probe.volleys.slice(0, decides + 1);
        const cost = costOf({ ...probe, volleys });
        const isBetter =
          best === undefined
            ? separated > 0
            : separated > best.separated || (separated === best.separated && cost < best.cost);
        if (!isBetter) continue;
        const distinguishesAll = separated === pairs && alive.length === all.length;
        best = { separated, cost, found: { restMs, volleys, counts, expected, distinguishesAll } };
      }
    }
  }
  return best?.found;
}

function costOf(probe: Probe): number {
  return probeRequests(probe) / MOST_REQUESTS + lengthOf(probe) / MOST_MS;
}

function longestMsOf(hypothesis: Hypothesis): number {
  const { structure, parameters } = hypothesis;
  return Math.max(windowMsOf(hypothesis), structure.has.includes('otherMs') ? parameters.otherMs : 0);
}

const finite = (ms: number) => (Number.isFinite(ms) ? ms : 0);

function phasesOf({ structure, parameters }: Hypothesis): number[] {
  const period = structure.period?.(parameters);
  return period === undefined ? [0] : Array.from({ length: PHASES }, (_, k) => (k / PHASES) * period);
}

function separatedPairs(expected: readonly Expected[]): number {
  const isApart = (one: Expected, other: Expected) => one.most < other.least || other.most < one.least;
  return expected.reduce((sum, one, k) => sum + expected.slice(k + 1).filter((other) => isApart(one, other)).length, 0);
}
