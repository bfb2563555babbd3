// Which probe is asked next. Pure.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { lengthOf, type Probe, predicted, requestsOf } from './probe.js';
import { isOpen, probesFor } from './probes.js';
import type { Hypothesis } from './structure.js';
import { violationOf } from './violation.js';

export interface Choice {
  readonly probe: Probe;
  readonly restMs: number;
  readonly isFresh: boolean;
}

interface Given {
  readonly alive: readonly Fitted[];
  readonly evidence: Evidence;
  readonly options: {
    readonly budget: number;
    readonly timeMs: number;
    readonly hasKeys: boolean;
    readonly resolution: number;
  };
  readonly left: { readonly requests: number; readonly timeMs: number };
  readonly nowMs: number;
  /** The key of the probes so far. */
  readonly key: string;
  /** How often each kind of probe was asked. */
  readonly asked: ReadonlyMap<string, number>;
}

/** So many structures and samples of each are looked at. */
const MOST_LOOKED = 8;
const MOST_SAMPLES = 6;

/** The probe that separates what is left most for its cost; which limit is in the way of a further one, or undefined where none separates. */
export function nextProbe(given: Given): Choice | 'budget' | 'time' | undefined {
  const { alive, evidence, options, left, nowMs, key, asked } = given;
  const { hasKeys, resolution } = options;
  const looked = alive.slice(0, MOST_LOOKED);
  const samples = looked.map((fitted, k) =>
    fitted.samples.slice(0, k < 2 ? MOST_SAMPLES : 3).map((hypothesis) => ({
      hypothesis,
      state: violationOf(hypothesis, evidence).states.get(key),
    })),
  );
  let best: { score: number; probe: Probe; restMs: number; isFresh: boolean } | undefined;
  let [isBudget, isTime] = [false, false];
  for (const { probe, restMs } of probesFor(looked, evidence, resolution, hasKeys)) {
    const isFresh = hasKeys;
    const requests = requestsOf(probe);
    const timeMs = restMs + lengthOf(probe);
    if (requests > left.requests) isBudget = true;
    else if (timeMs > left.timeMs) isTime = true;
    if (requests > left.requests || timeMs > left.timeMs) continue;
    const startMs = nowMs + restMs;
    const outcomes = samples.map((all) =>
      all.map(({ hypothesis, state }) => predicted(hypothesis, isFresh ? undefined : state, startMs, probe, evidence)),
    );
    const gain = gainOf(outcomes, looked, resolution);
    if (gain <= 0) continue;
    const repeats = asked.get(probe.words) ?? 0;
    const cost = 0.02 + requests / options.budget + timeMs / options.timeMs;
    const score = gain / cost / (1 + repeats);
    if (best === undefined || score > best.score) best = { score, probe, restMs, isFresh };
  }
  if (best === undefined) return isBudget ? 'budget' : isTime ? 'time' : undefined;
  return best;
}

/** How many pairs of structures a probe separates, and how far it narrows parameters that are not known well enough. */
function gainOf(outcomes: readonly (readonly string[])[], alive: readonly Fitted[], resolution: number): number {
  let [separated, pairs] = [0, 0];
  for (let a = 0; a < outcomes.length; a += 1) {
    for (let b = a + 1; b < outcomes.length; b += 1) {
      pairs += 1;
      const other = outcomes[b]!;
      const common = outcomes[a]!.filter((one) => other.includes(one)).length;
      if (common === 0) separated += 1;
      else separated += 0.3 * (1 - common / outcomes[a]!.length);
    }
  }
  let [narrowed, open] = [0, 0];
  outcomes.forEach((all, k) => {
    const { best, samples } = alive[k]!;
    if (!isOpen(alive[k]!, resolution)) return;
    open += 1;
    // What differs by less than is wanted is known well enough.
    const others = all.filter((_, j) => isApart(best, samples[j]!, resolution));
    narrowed +=
      others.filter((one, j) => one !== all[0] && others.indexOf(one) === j).length / Math.max(1, others.length);
  });
  return (pairs === 0 ? 0 : (10 * separated) / pairs) + (open === 0 ? 0 : narrowed / open);
}

function isApart({ parameters: one }: Hypothesis, { parameters: other }: Hypothesis, resolution: number): boolean {
  const isFar = (name: 'spanMs' | 'otherMs') =>
    Math.abs(one[name] - other[name]) > Math.max(resolution * one[name], 0.5);
  return one.limit !== other.limit || isFar('spanMs') || isFar('otherMs');
}
