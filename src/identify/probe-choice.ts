// Which probe is asked next. Pure.

import { tellingProbe } from './distinguishing-probe.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import { moved } from './parameter-steps.js';
import { lengthOf, type Probe, predicted, requestsOf } from './probe.js';
import { confirming, openIn, probesFor } from './probes.js';
import type { Hypothesis, Name } from './structure.js';
import { violationOf } from './violation.js';

export interface Choice {
  readonly probe: Probe;
  readonly restMs: number;
  readonly isFresh: boolean;
}

/** What is left, and what may still be asked. */
export interface Standing {
  readonly alive: readonly Fitted[];
  readonly evidence: Evidence;
  readonly left: { readonly requests: number; readonly timeMs: number };
  readonly nowMs: number;
  /** The key of the probes so far. */
  readonly key: string;
}

export interface InvestigationOptions {
  readonly budget: number;
  /** The most time, in ms. */
  readonly timeMs: number;
  /** Each probe may use a key that was never used. */
  readonly hasKeys: boolean;
  /** How exact spans are wanted, as a part of their length. */
  readonly resolution: number;
}

/** So many structures and samples of each are looked at. */
const MOST_LOOKED = 8;
const MOST_SAMPLES = 6;
/** What a probe costs without its requests and its time, as a part of all. */
const LEAST_COST = 0.02;
/** Ranges are cut once so few structures are left; so many values of each are looked at. */
const FEW = 3;
const ACROSS = 8;

/** So many probes in a row may leave the same structures. */
const PATIENCE = 1;
const MOST_TOLD = 4;
/** What fewer answers show is asked for again before it is named: once, or more often where several are left. */
const FEW_ANSWERS = 100;
const MOST_CONFIRMED = { one: 1, several: 3 };

export class Choices {
  readonly #options: InvestigationOptions;
  readonly #asked = new Map<string, number>();
  /** So many more probes may leave the structures of `#last`. */
  #patience = PATIENCE;
  #last = '';
  #told = 0;
  #confirmed = 0;

  constructor(options: InvestigationOptions) {
    this.#options = options;
  }

  /** The probe that separates what is left most for its cost; which limit is in the way of a further one, or undefined where none separates. */
  next(standing: Standing): Choice | 'budget' | 'time' | undefined {
    const ids = standing.alive.map(({ best }) => best.structure.id).sort();
    this.#patience = ids.join() === this.#last ? this.#patience - 1 : PATIENCE;
    this.#last = ids.join();
    const sure = this.#patience < 0 ? this.telling(standing) : undefined;
    if (sure !== undefined) return sure;
    const chosen = nextProbe(standing, this.#options, this.#asked);
    if (typeof chosen !== 'object') return chosen;
    this.#asked.set(chosen.probe.words, (this.#asked.get(chosen.probe.words) ?? 0) + 1);
    return chosen;
  }

  /** What is expected, asked for once more: few answers show little, and of several rules only one follows from whatever is asked. */
  confirming({ alive, evidence, left }: Standing): Choice | undefined {
    const isEnough = alive.length === 1 && evidence.seen.length >= FEW_ANSWERS;
    const most = MOST_CONFIRMED[alive.length === 1 ? 'one' : 'several'];
    if (alive.length === 0 || isEnough || this.#confirmed >= most) return undefined;
    const { probe, restMs } = confirming(alive[0]!, this.#confirmed);
    this.#confirmed += 1;
    const fits = requestsOf(probe) <= left.requests && restMs + lengthOf(probe) <= left.timeMs;
    return fits ? { probe, restMs, isFresh: this.#options.hasKeys } : undefined;
  }

  /** The probe that is sure to tell what is left, or some of it: the others were not, as parameters gave way. */
  telling({ alive, evidence, left }: Standing): Choice | undefined {
    this.#patience = PATIENCE;
    const telling = this.#told < MOST_TOLD ? tellingProbe(alive, evidence, left) : undefined;
    if (telling === undefined) return undefined;
    this.#told += 1;
    const { restMs, volleys } = telling;
    return { probe: { words: 'what distinguishes them', volleys }, restMs, isFresh: restMs === 0 };
  }
}

function nextProbe(
  { alive, evidence, left, nowMs, key }: Standing,
  { budget, timeMs: mostMs, hasKeys, resolution }: InvestigationOptions,
  asked: ReadonlyMap<string, number>,
): Choice | 'budget' | 'time' | undefined {
  const looked = alive.slice(0, MOST_LOOKED);
  const stateOf = (hypothesis: Hypothesis) => ({
    hypothesis,
    state: violationOf(hypothesis, evidence).states.get(key),
  });
  const samples = looked.map(({ samples: all }, k) => all.slice(0, k < 2 ? MOST_SAMPLES : 3).map(stateOf));
  const within =
    looked.length > FEW
      ? []
      : looked.map((fitted) => acrossRanges(fitted, openIn(fitted, resolution), nowMs).map(stateOf));
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
    const outcomeOf = ({ hypothesis, state }: { hypothesis: Hypothesis; state: unknown }) =>
      JSON.stringify(predicted(hypothesis, isFresh ? undefined : state, startMs, probe, evidence));
    const outcomes = samples.map((all) => all.map(outcomeOf));
    const gain = gainOf(outcomes) + narrowedBy(within.map((all) => all.map(outcomeOf)));
    if (gain <= 0) continue;
    const repeats = asked.get(probe.words) ?? 0;
    const cost = LEAST_COST + requests / budget + timeMs / mostMs;
    // What takes most of what is left leaves nothing for another.
    const share = Math.max(requests / left.requests, timeMs / left.timeMs);
    const score = (gain * (1 - share)) / cost / (1 + repeats);
    if (best === undefined || score > best.score) best = { score, probe, restMs, isFresh };
  }
  if (best === undefined) return isBudget ? 'budget' : isTime ? 'time' : undefined;
  return best;
}

/** How many pairs of structures a probe separates. */
function gainOf(outcomes: readonly (readonly string[])[]): number {
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
  return pairs === 0 ? 0 : (10 * separated) / pairs;
}

/** The part of the ranges that a probe leaves out, as it is expected: each outcome leaves the values that give it. */
function narrowedBy(outcomes: readonly (readonly string[])[]): number {
  const open = outcomes.filter(({ length }) => length > 0);
  const left = open.map(
    (all) => all.reduce((sum, one) => sum + all.filter((other) => other === one).length, 0) / all.length ** 2,
  );
  return left.reduce((sum, part) => sum + (1 - part) / left.length, 0);
}

/** Values all over ranges. @param anchorMs about when an edge of a grid is known */
function acrossRanges(
  { best: { structure, parameters }, ranges }: Fitted,
  names: readonly Name[],
  anchorMs: number,
): Hypothesis[] {
  return names.flatMap((name) => {
    const { least, most } = ranges[name];
    return Array.from({ length: ACROSS }, (_, k) => {
      const at = least + ((k + 0.5) / ACROSS) * (most - least);
      const value = name === 'limit' ? Math.round(at) : at;
      return { structure, parameters: moved(structure, parameters, name, value, anchorMs) };
    });
  });
}
