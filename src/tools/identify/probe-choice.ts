// Chooses the next probe. Pure.

import { log } from '../../core/math/elementary.js';
import { meanOf } from '../../core/math/interval.js';
import { distinguishingProbe, type NextProbe } from './distinguishing-probe.js';
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import {
  lengthOf,
  nextAt,
  type Probe,
  predicted,
  probeRequests,
  sampleAfter,
  sampleOf,
  shifted,
  type Volley,
} from './probe.js';
import { blurOf, confirming, continuing, gapOf, openIn, probesFor } from './probes.js';
import { RESOLUTION } from './ranges.js';
import { isTested } from './tested.js';
import { TOLERANCE_MS, violationOf } from './violation.js';

export interface Choice {
  readonly probe: Probe;
  readonly restMs: number;
  readonly isFresh: boolean;
}

export interface InvestigationState extends NextProbe {
  readonly alive: readonly Fitted[];
  readonly evidence: Evidence;
  readonly key: string;
}

export interface InvestigationOptions {
  readonly budget: number;
  readonly timeMs: number;
  readonly hasKeys: boolean;
}

/** Structures and samples to consider: fewer samples of each if there are many. */
const MOST_STRUCTURES = 8;
const MOST_SAMPLES = 48;
/** Cost of a probe beside its requests and its time, as a share of all. */
const LEAST_COST = 0.01;
/** Worth of a bit about the structure, in bits about its parameters. */
const WORTH = 3;
/** A probe with a lower expected gain says nothing, in bits. */
const LEAST_BITS = 0.05;

/** Number of probes in a row that may change nothing, until one is chosen that is certain to distinguish. */
const PATIENCE = 1;
/** The same until none is chosen, if one family remains. */
const MOST_FRUITLESS = 4;
/** Ranges that shrink by less than this factor are unchanged. */
const NARROWER = 0.9;
const MOST_DISTINGUISHED = 4;
const DISTINGUISHING = 'what distinguishes them';
/** Series that repeat what is expected, until the answers test what explains them. */
const MOST_SERIES = 3;

export class Choices {
  /** Number of probes of each kind that changed nothing. */
  readonly #inVain = new Map<string, number>();
  #asked: string | undefined;
  #fruitless = 0;
  #patience = PATIENCE;
  #last = { ids: '', width: Infinity };
  #spans: ReadonlyMap<string, number> = new Map();
  #distinguished = 0;
  #series = 0;

  constructor(readonly options: InvestigationOptions) {}

  /** The probe that says most for its cost; the resource that prevents one; undefined if no probe says anything. */
  next(state: InvestigationState): Choice | 'budget' | 'time' | undefined {
    this.#learn(state);
    const families = new Set(state.alive.map(({ best }) => best.structure.family)).size;
    if (this.#fruitless >= MOST_FRUITLESS && families === 1) return undefined;
    const sure = this.#patience < 0 ? this.distinguishing(state) : undefined;
    if (sure !== undefined) return sure;
    const chosen = nextProbe(state, this.options, this.#inVain);
    if (typeof chosen === 'object') this.#asked = chosen.probe.words;
    return chosen;
  }

  /** Notes whether the last probe changed the structures that remain, or narrowed or moved their ranges. */
  #learn({ alive, evidence }: InvestigationState): void {
    const ids = alive
      .map(({ best }) => best.structure.id)
      .sort()
      .join();
    const width = alive.reduce(
      (sum, fitted) =>
        openIn(fitted, RESOLUTION, blurOf(evidence)).reduce((all, name) => {
          const { least, most } = fitted.ranges[name];
          return all + (most - least) / fitted.best.parameters[name];
        }, sum),
      0,
    );
    // A refuted best fit may leave a range elsewhere that is as wide as the last.
    const isMoved = alive.some(({ best, ranges }) => {
      const spanMs = this.#spans.get(best.structure.id);
      return spanMs !== undefined && (spanMs < ranges.spanMs.least || spanMs > ranges.spanMs.most);
    });
    this.#spans = new Map(alive.map(({ best }) => [best.structure.id, best.parameters.spanMs]));
    if (ids !== this.#last.ids) this.#series = 0;
    if (isMoved || ids !== this.#last.ids || width < NARROWER * this.#last.width) {
      this.#last = { ids, width };
      this.#fruitless = 0;
      this.#patience = PATIENCE;
      this.#inVain.clear();
    } else if (this.#asked !== undefined) {
      this.#fruitless += 1;
      this.#patience -= 1;
      this.#inVain.set(this.#asked, (this.#inVain.get(this.#asked) ?? 0) + 1);
    }
    this.#asked = undefined;
  }

  /** Repeats expected results: a few answers prove little, and of several rules only one predicts all further answers. */
  confirming(state: InvestigationState): Choice | undefined {
    const { alive, evidence, left } = state;
    // A grid adapts to much by its phase, and of the rare rules one may come near to what is none.
    const isApt = alive.length > 1 || alive.some(({ best: { structure } }) => structure.isFine || structure.period);
    const leastSeries = isApt ? 1 : 0;
    const isEnough = alive.some(({ best }) => isTested(best, evidence));
    if (alive.length === 0 || this.#series >= (isEnough ? leastSeries : MOST_SERIES)) return undefined;
    this.#series += 1;
    const { probe: whole, restMs } = confirming(alive[0]!);
    const edges = isEnough || this.#series === 1 ? 0 : MOST_EDGES;
    const probe = asExpected(whole, restMs, state, this.options.hasKeys, edges);
    this.#asked = probe.words;
    const fits = probeRequests(probe) <= left.requests && restMs + lengthOf(probe) <= left.timeMs;
    return fits ? { probe, restMs, isFresh: this.options.hasKeys } : undefined;
  }

  /** A probe that is certain to distinguish some structures; earlier ones failed because parameters adapted. */
  distinguishing(state: InvestigationState): Choice | undefined {
    this.#patience = PATIENCE;
    const { alive, evidence } = state;
    const found = this.#distinguished < MOST_DISTINGUISHED ? distinguishingProbe(alive, evidence, state) : undefined;
    if (found === undefined) return undefined;
    this.#distinguished += 1;
    this.#asked = DISTINGUISHING;
    const { restMs, volleys } = found;
    return { probe: { words: DISTINGUISHING, volleys }, restMs, isFresh: evidence.keys.length > 1 };
  }
}

const MOST_EDGES = 4;

/**
 * Caps a volley at one request above the rule's limit.
 * @param edges how often, at most, single requests follow before and after the instant at which the best one opens
 */
function asExpected(
  whole: Probe,
  restMs: number,
  { alive, evidence, nowMs, key }: InvestigationState,
  isFresh: boolean,
  edges: number,
): Probe {
  const startMs = nowMs + restMs;
  let samples = alive.map(({ best }) =>
    sampleOf(best, isFresh ? undefined : violationOf(best, evidence).states.get(key)),
  );
  const volleys: Volley[] = [];
  const nexts = (atMs: number) => samples.map((one) => nextAt(one, startMs + atMs, evidence));
  const send = (atMs: number, n: number) => {
    volleys.push({ atMs, n });
    samples = samples.map((one) => sampleAfter(one, startMs + atMs, n, evidence));
  };
  const gapMs = gapOf(evidence);
  let [left, laterMs] = [edges, 0];
  for (const one of whole.volleys) {
    let atMs = one.atMs + laterMs;
    const sendLater = (byMs: number) => {
      atMs += byMs;
      send(atMs, 1);
    };
    send(atMs, Math.min(one.n, Math.max(...nexts(atMs).map(({ room }) => room)) + 1));
    for (; left > 0; left -= 1) {
      const { waitMs } = nexts(atMs)[0]!;
      if (waitMs === 0 || waitMs === Infinity) break;
      if (waitMs > 2 * gapMs) sendLater(waitMs / 2);
      sendLater(nexts(atMs)[0]!.waitMs + Math.max(gapMs, waitMs / 4));
    }
    laterMs = atMs - one.atMs;
  }
  return { ...whole, volleys };
}

function nextProbe(
  { alive, evidence, left, nowMs, key }: InvestigationState,
  { budget, timeMs: mostMs, hasKeys }: InvestigationOptions,
  inVain: ReadonlyMap<string, number>,
): Choice | 'budget' | 'time' | undefined {
  const considered = alive.slice(0, MOST_STRUCTURES);
  const each = Math.ceil(MOST_SAMPLES / (considered.length + 2));
  const samples = considered.map((fitted) =>
    fitted.samples.slice(0, each).map((one) => sampleOf(one, violationOf(one, evidence).states.get(key))),
  );
  const fresh = samples.map((all) => all.map((one) => ({ ...one, state: undefined })));
  const open = considered.map((fitted) => openIn(fitted, RESOLUTION, blurOf(evidence)).length > 0);
  const gapMs = gapOf(evidence);
  const nexts = samples.flat().map((one) => nextAt(one, nowMs + gapMs, evidence));
  const rooms = nexts.map(({ room }) => room).filter(Number.isFinite);
  const planned = [
    ...[...continuing(nexts, gapMs)].map((one) => ({ ...one, isFresh: false })),
    ...[...probesFor(considered, evidence, RESOLUTION, hasKeys, rooms)].map((one) => ({ ...one, isFresh: hasKeys })),
  ].map((one) => {
    const requests = probeRequests(one.probe);
    const timeMs = one.restMs + lengthOf(one.probe);
    const isTooMany = requests > left.requests;
    const isTooLong = !isTooMany && timeMs > left.timeMs;
    const share = Math.min(1, Math.max(requests / left.requests, timeMs / left.timeMs));
    const cost = LEAST_COST + requests / budget + timeMs / mostMs;
    return { ...one, isTooMany, isTooLong, weight: (1 - share) / cost / (1 + (inVain.get(one.probe.words) ?? 0)) };
  });
  const mostBits = bitsOf(
    samples.map((all, k) => all.map((_, j) => [`${k}/${j}`])),
    open,
  );
  let best: { readonly score: number; readonly choice: Choice } | undefined;
  let [isBudget, isTime] = [false, false];
  for (const { probe, restMs, isFresh, weight, isTooMany, isTooLong } of planned.sort((a, b) => b.weight - a.weight)) {
    if (best !== undefined && mostBits * weight <= best.score) break;
    const variants = variantsOf(probe, evidence);
    const bits = bitsOf(
      (isFresh ? fresh : samples).map((all) =>
        all.map((one) => variants.map((late) => outcomeOf(predicted(one, nowMs + restMs, late, evidence)))),
      ),
      open,
    );
    if (bits < LEAST_BITS) continue;
    isBudget ||= isTooMany;
    isTime ||= isTooLong;
    if (!isTooMany && !isTooLong && bits * weight > (best?.score ?? 0))
      best = { score: bits * weight, choice: { probe, restMs, isFresh } };
  }
  return best?.choice ?? (isBudget ? 'budget' : isTime ? 'time' : undefined);
}

const outcomeOf = (volleys: ReturnType<typeof predicted>) =>
  volleys.map(({ admitted, held }) => `${admitted}/${held}`).join();

/** The probe as it may be counted: each volley as early, as late and as usual as instants are known. */
function variantsOf(probe: Probe, { usualWidthMs }: Evidence): readonly Probe[] {
  if (usualWidthMs <= TOLERANCE_MS) return [probe];
  return [0, 1, 2].map((first) => shifted(probe, (place) => (((first + place) % 3) - 1) * (usualWidthMs / 2)));
}

/**
 * Expected information about the structure, and about open parameters, in bits.
 * @param outcomes per structure, sample and variant of the probe
 */
function bitsOf(outcomes: readonly (readonly (readonly string[])[])[], open: readonly boolean[]): number {
  const structures = outcomes.map((own) => {
    const samples = own.map((variants) => mixed(variants.map((one) => new Map([[one, 1]]))));
    return { mixture: mixed(samples), noise: meanOf(samples.map(entropyOf)) };
  });
  const within = structures.map(({ mixture }) => entropyOf(mixture));
  const about = entropyOf(mixed(structures.map(({ mixture }) => mixture))) - meanOf(within);
  return WORTH * about + meanOf(structures.map(({ noise }, k) => (open[k] ? within[k]! - noise : 0)));
}

type Shares = ReadonlyMap<string, number>;

function mixed(all: readonly Shares[]): Shares {
  if (all.length === 1) return all[0]!;
  const mixture = new Map<string, number>();
  for (const one of all)
    for (const [outcome, share] of one) mixture.set(outcome, (mixture.get(outcome) ?? 0) + share / all.length);
  return mixture;
}

const BIT = log(2);

function entropyOf(shares: Shares): number {
  let bits = 0;
  for (const share of shares.values()) bits -= (share * log(share)) / BIT;
  return bits;
}
