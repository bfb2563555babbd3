// Finds a probe that distinguishes the remaining rules. Pure.
//
//   silence, until nothing is remembered | volley |   volley that decides |      one rule admits 10 of it, another 1
//
// Predictions cover all parameters that explain the answers, all phases of a grid unless the probe is the next one, and slightly
// earlier or later requests: a probe distinguishes two rules if their predicted numbers do not overlap.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { lengthOf, predicted, probeRequests, sampleOf, shifted, type Volley } from './probe.js';
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
/** Instants in a cell of a grid at which the next probe may begin. */
const STARTS = 4;
/** Equal costs: this time, or this number of requests. */
const MOST_MS = 300_000;
const MOST_REQUESTS = 500;

/** The probe is sent next, from `nowMs` on: the phases of grids are those of the answers. */
export interface NextProbe {
  readonly nowMs: number;
  readonly left: { readonly requests: number; readonly timeMs: number };
}

/** The cheapest probe that distinguishes most pairs; undefined if none is certain to distinguish any. @param next absent: at any time */
export function distinguishingProbe(
  all: readonly Fitted[],
  evidence: Evidence,
  next?: NextProbe,
): DistinguishingProbe | undefined {
  const alive = all.slice(0, MOST_RULES);
  if (alive.length < 2) return undefined;
  let best: { readonly separated: number; readonly cost: number; readonly found: Predicted } | undefined;
  for (const found of predictedProbes(alive, evidence, next)) {
    const separated = separatedPairs(found.expected);
    const cost = probeRequests(found) / MOST_REQUESTS + lengthOf(found) / MOST_MS;
    const isBetter = best !== undefined && separated === best.separated && cost < best.cost;
    if (separated > (best?.separated ?? 0) || isBetter) best = { separated, cost, found };
  }
  if (best === undefined) return undefined;
  const pairs = (alive.length * (alive.length - 1)) / 2;
  return { ...best.found, distinguishesAll: best.separated === pairs && alive.length === all.length };
}

type Predicted = Omit<DistinguishingProbe, 'distinguishesAll'>;

/** Each probe, ended by each of its volleys, with what each rule admits and holds of that volley. */
function* predictedProbes(
  alive: readonly Fitted[],
  evidence: Evidence,
  next: NextProbe | undefined,
): Generator<Predicted> {
  const hasKeys = evidence.keys.length > 1;
  const { nowMs, left } = next ?? { nowMs: lastOf(evidence), left: { requests: Infinity, timeMs: Infinity } };
  const rests = restsOf(alive, hasKeys, next !== undefined);
  const key = evidence.seen.at(-1)!.key;
  const samples = alive.map((fitted) =>
    fitted.samples
      .slice(0, MOST_SAMPLES)
      .map((one) => sampleOf(one, hasKeys ? undefined : violationOf(one, evidence).states.get(key))),
  );
  const lateMs = Math.max(2 * TOLERANCE_MS, jitterOf(evidence));
  for (const { probe: asked } of probesFor(alive, evidence, 1, true)) {
    const probe = { ...asked, volleys: asked.volleys.map(({ atMs, n }) => ({ atMs: Math.round(atMs), n })) };
    // Transport may move the later volleys towards the first, or away from it; where phases are known, the first, too.
    const variants = [0, -lateMs, lateMs].map((ms) => shifted(probe, (place) => (place === 0 ? 0 : ms)));
    for (const restMs of rests) {
      if (probeRequests(probe) > left.requests || restMs + lengthOf(probe) > left.timeMs) continue;
      const outcomes = samples.map((own) =>
        own.flatMap((sample) =>
          (next === undefined ? phasesOf(sample.hypothesis) : [0, lateMs]).flatMap((ms) =>
            variants.map((one) => predicted(sample, nowMs + restMs + ms, one, evidence)),
          ),
        ),
      );
      for (const decides of probe.volleys.keys()) {
        const volleys = probe.volleys.slice(0, decides + 1);
        for (const counts of ['admitted', 'held'] as const) {
          const expected = outcomes.map((own, k): Expected => {
            const numbers = own.map((one) => one[decides]![counts]);
            const { id, words } = alive[k]!.best.structure;
            return { structure: id, words, least: Math.min(...numbers), most: Math.max(...numbers) };
          });
          yield { restMs, volleys, counts, expected };
        }
      }
    }
  }
}

/** Until nothing is remembered; before the next probe also longer, by parts of a cell of a grid. */
function restsOf(alive: readonly Fitted[], hasKeys: boolean, isNext: boolean): readonly number[] {
  const restMs = hasKeys ? 0 : Math.ceil(RESTED * Math.max(...alive.map(({ best }) => longestMsOf(best))));
  const periods = alive.map(({ best: { structure, parameters } }) => structure.period?.(parameters) ?? 0);
  const period = Math.max(...periods);
  if (!isNext || period === 0) return [restMs];
  return Array.from({ length: STARTS }, (_, k) => restMs + (k / STARTS) * period);
}

/** When the last answer came, in ms. */
function lastOf({ seen }: Evidence): number {
  return seen.reduce((most, one) => Math.max(most, Number.isFinite(one.answeredMs) ? one.answeredMs : one.sentMs), 0);
}

function longestMsOf(hypothesis: Hypothesis): number {
  const { structure, parameters } = hypothesis;
  return Math.max(windowMsOf(hypothesis), structure.has.includes('otherMs') ? parameters.otherMs : 0);
}

function phasesOf({ structure, parameters }: Hypothesis): number[] {
  const period = structure.period?.(parameters);
  return period === undefined ? [0] : Array.from({ length: PHASES }, (_, k) => (k / PHASES) * period);
}

function separatedPairs(expected: readonly Expected[]): number {
  const isApart = (one: Expected, other: Expected) => one.most < other.least || other.most < one.least;
  return expected.reduce((sum, one, k) => sum + expected.slice(k + 1).filter((other) => isApart(one, other)).length, 0);
}
