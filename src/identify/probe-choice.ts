// Chooses the next probe. Pure.
import { distinguishingProbe } from './distinguishing-probe.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { lengthOf, type Probe, predicted, probeRequests } from './probe.js';
import { confirming, isOpen, probesFor } from './probes.js';
import type { Hypothesis } from './structure.js';
import { violationOf } from './violation.js';

export interface Choice {
  readonly probe: Probe;
  readonly restMs: number;
  readonly isFresh: boolean;
}

export interface InvestigationState {
  readonly alive: readonly Fitted[];
  readonly evidence: Evidence;
  readonly left: { readonly requests: number; readonly timeMs: number };
  readonly nowMs: number;
  readonly key: string;
}

export interface InvestigationOptions {
  readonly budget: number;
  readonly timeMs: number;
  readonly hasKeys: boolean;
  readonly resolution: number;
}

const MOST_STRUCTURES = 8;
const MOST_SAMPLES = 6;

/** Number of probes in a row that may leave the same structures. */
const PATIENCE = 2;
const MOST_DISTINGUISHED = 4;
/** An explanation of fewer answers is confirmed by this many more probes before it is named. */
const FEW_ANSWERS = 150;
const MOST_CONFIRMED = 3;

export class Choices {
  readonly #options: InvestigationOptions;
  readonly #asked = new Map<string, number>();
  #patience = PATIENCE;
  #last = '';
  #distinguished = 0;
  #confirmed = 0;

  constructor(options: InvestigationOptions) {
    this.#options = options;
  }

  /** The probe that separates most for its cost; the resource that prevents one; undefined if no probe separates. */
  next(state: InvestigationState): Choice | 'budget' | 'time' | undefined {
    const ids = state.alive.map(({ best }) => best.structure.id).sort();
    this.#patience = ids.join() === this.#last ? this.#patience - 1 : PATIENCE;
    this.#last = ids.join();
    const sure = this.#patience < 0 ? this.distinguishing(state) : undefined;
    if (sure !== undefined) return sure;
    const chosen = nextProbe(state, this.#options, this.#asked);
    if (typeof chosen !== 'object') return chosen;
    this.#asked.set(chosen.probe.words, (this.#asked.get(chosen.probe.words) ?? 0) + 1);
    return chosen;
  }

  /** Repeats expected results: a few answers prove little, and of several rules only one predicts all further answers. */
  confirming({ alive, evidence, left }: InvestigationState): Choice | undefined {
    const isEnough = alive.length === 1 && evidence.seen.length >= FEW_ANSWERS;
    if (alive.length === 0 || isEnough || this.#confirmed >= MOST_CONFIRMED) return undefined;
    const { probe, restMs } = confirming(alive[0]!, this.#confirmed);
    this.#confirmed += 1;
    const fits = probeRequests(probe) <= left.requests && restMs + lengthOf(probe) <= left.timeMs;
    return fits ? { probe, restMs, isFresh: this.#options.hasKeys } : undefined;
  }

  /** A probe that is certain to distinguish some structures; earlier ones failed because parameters adapted. */
  distinguishing({ alive, evidence, left }: InvestigationState): Choice | undefined {
    this.#patience = PATIENCE;
    const found = this.#distinguished < MOST_DISTINGUISHED ? distinguishingProbe(alive, evidence, left) : undefined;
    if (found === undefined) return undefined;
    this.#distinguished += 1;
    const { restMs, volleys } = found;
    return { probe: { words: 'what distinguishes them', volleys }, restMs, isFresh: restMs === 0 };
  }
}

function nextProbe(
  { alive, evidence, left, nowMs, key }: InvestigationState,
  { budget, timeMs: mostMs, hasKeys, resolution }: InvestigationOptions,
  asked: ReadonlyMap<string, number>,
): Choice | 'budget' | 'time' | undefined {
  const considered = alive.slice(0, MOST_STRUCTURES);
  const samples = considered.map((fitted, k) =>
    fitted.samples.slice(0, k < 2 ? MOST_SAMPLES : 3).map((hypothesis) => ({
      hypothesis,
      state: violationOf(hypothesis, evidence).states.get(key),
    })),
  );
  let best: { score: number; probe: Probe; restMs: number; isFresh: boolean } | undefined;
  let [isBudget, isTime] = [false, false];
  for (const { probe, restMs } of probesFor(considered, evidence, resolution, hasKeys)) {
    const isFresh = hasKeys;
    const requests = probeRequests(probe);
    const timeMs = restMs + lengthOf(probe);
    if (requests > left.requests) isBudget = true;
    else if (timeMs > left.timeMs) isTime = true;
    if (requests > left.requests || timeMs > left.timeMs) continue;
    const startMs = nowMs + restMs;
    const outcomes = samples.map((all) =>
      all.map(({ hypothesis, state }) =>
        JSON.stringify(predicted(hypothesis, isFresh ? undefined : state, startMs, probe, evidence)),
      ),
    );
    const gain = gainOf(outcomes, considered, resolution);
    if (gain <= 0) continue;
    const repeats = asked.get(probe.words) ?? 0;
    const cost = 0.02 + requests / budget + timeMs / mostMs;
    const share = Math.max(requests / left.requests, timeMs / left.timeMs);
    const score = (gain * (1 - share)) / cost / (1 + repeats);
    if (best === undefined || score > best.score) best = { score, probe, restMs, isFresh };
  }
  if (best === undefined) return isBudget ? 'budget' : isTime ? 'time' : undefined;
  return best;
}

/** Separated pairs of structures, and the narrowing of parameters that are still imprecise. */
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
