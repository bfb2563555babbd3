// Fits laws of waits to gaps: every structure is fitted, and the simplest one without a loss in likelihood is kept.

import { exp, log } from '../../../core/math/elementary.js';
import type { RandomStream } from '../../../core/math/random.js';
import { type Range, rangeOf } from '../../../core/math/range.js';
import { type Edges, edgesBy, thinned } from './gap-edges.js';
import { type PosteriorSamples, posterior } from './posterior.js';
import { otherShareOf, roundestOf, roundFactors, roundShares } from './round-values.js';
import {
  type Gap,
  type Lateness,
  logLikelihood,
  showsGrowth,
  type TimerLateness,
  type WaitParameters,
  type WaitStructure,
  waitLaw,
} from './wait-law.js';

export interface WaitFit {
  readonly structure: WaitStructure;
  /** Each the roundest number that explains the gaps as well. */
  readonly parameters: WaitParameters;
  /** Nominal coverage: 95 %. */
  readonly intervals: Readonly<Record<keyof WaitParameters, Range>>;
  /** Given the rounded values of the parameters fixed before. */
  readonly narrower: Readonly<Record<keyof WaitParameters, Range>>;
  readonly first: Lateness;
  readonly later: Lateness;
  /** Randomness up to this may be lateness, in ms. */
  readonly hiddenMs: number;
  /** Log-likelihood, minus log(number of gaps) for each unusual parameter. */
  readonly score: number;
}

const plain: WaitStructure = { growth: 'exponential', skipsFirst: false, jitter: 'none', capsJitter: false };
const structures: readonly WaitStructure[] = [
  { ...plain, growth: 'none' },
  plain,
  { ...plain, growth: 'linear' },
  { ...plain, skipsFirst: true },
  { ...plain, jitter: 'share' },
  { ...plain, jitter: 'share', capsJitter: true },
  { ...plain, jitter: 'share', growth: 'linear' },
  { ...plain, jitter: 'share', skipsFirst: true },
  { ...plain, jitter: 'plus' },
  { ...plain, jitter: 'plus', growth: 'linear' },
  { ...plain, jitter: 'plus', skipsFirst: true },
  { ...plain, jitter: 'decorrelated' },
];

/** A law is rejected if its log-likelihood is lower by this. */
const CLEARLY = 5;
/** Steps of the chains: screening, fitting, and near a known point; `doubt` multiplies the tolerance of the screening. */
const STEPS = { look: 80, fit: 400, near: 80, doubt: 2 };
const STARTS = { far: 16, near: 4 };
/** Log-likelihood a round value may cost, half of chi-squared at 1 %: for the first parameter, and for each further one. `usual`: prior of a usual value. */
const ROUNDING = { one: 3, further: 1.5, usual: 4 };

/** A share of a wait that is indistinguishable from lateness. */
const NEGLIGIBLE = 0.03;
/** Clocks may be off by this share of a wait. */
const CLOCK = 0.01;
/** Randomness up to this multiple of the spread of lateness, or of how late timers often are, may be lateness: a gap has up to three wake-ups. */
const HIDDEN = 3;

const order = ['capMs', 'factor', 'low', 'baseMs', 'plusMs', 'capMs'] as const;
type Name = (typeof order)[number];
const usual: WaitParameters = { baseMs: 0, factor: 2, low: 1, plusMs: 0, capMs: Infinity };
const noises = ['offsetMs', 'spreadMs', 'firstOffsetMs', 'firstSpreadMs'] as const;
type Variable = Name | (typeof noises)[number];
type Values = Readonly<Record<Variable, number>>;

const scales: ReadonlySet<Variable> = new Set(['baseMs', 'plusMs', 'capMs', 'spreadMs', 'firstSpreadMs']);

const room: Readonly<Record<Variable, readonly [least: number, most: number]>> = {
  baseMs: [2, 3.6e6],
  factor: [1, 12],
  low: [0, 1],
  plusMs: [8, 3.6e6],
  capMs: [2, 1e8],
  offsetMs: [-1, 60],
  spreadMs: [0.3, 2_000],
  firstOffsetMs: [-1, 600],
  firstSpreadMs: [0.3, 2_000],
};

/** Log-prior of lateness: a few ms beyond the delay of timers, for the first gap tens of ms. */
function logPrior({ offsetMs, spreadMs, firstOffsetMs, firstSpreadMs }: Values, lateMs: number): number {
  const decades = (ms: number, usualMs: number) => log(ms / usualMs) ** 2 / 2;
  const [usualMs, firstMs] = [3 + lateMs, 15 + lateMs];
  return (
    -offsetMs / usualMs - decades(spreadMs, usualMs) - firstOffsetMs / (3 * firstMs) - decades(firstSpreadMs, firstMs)
  );
}

/** @returns the best first; the others are not clearly worse */
export function fitWaits(all: readonly Gap[], timers: TimerLateness, draw: RandomStream): WaitFit[] {
  const gaps = thinned(all, ENOUGH);
  const sampled = sampledFrom(gaps, timers.averageMs, draw);
  const own = gaps.filter(({ knownMs }) => knownMs === undefined);
  const lastK = Math.max(...own.map(({ k }) => k));
  const fixedIn = (structure: WaitStructure): Fixed => (showsGrowth(structure, lastK) ? {} : { factor: 1 });
  const possible = structures.filter(
    ({ growth, skipsFirst, jitter }) =>
      // Structures that differ only in retries that were not observed are left out.
      (growth !== 'linear' || lastK > 2) && (!skipsFirst || lastK > 1) && (jitter !== 'decorrelated' || lastK > 1),
  );
  const farthest = CLEARLY + 3 * log(gaps.length);
  const looking = sampledFrom(thinned(gaps, ENOUGH_TO_LOOK), timers.averageMs, draw);
  const looked = possible.map((structure) => looking(structure, fixedIn(structure), STEPS.look));
  const promising = atMost(farthest * STEPS.doubt, looked);
  const likely = atMost(
    farthest,
    promising.map(({ structure }) => sampled(structure, fixedIn(structure), STEPS.fit)),
  );
  const simplestOf = (one: Fitted) => simplest(gaps.length, one, sampled, timers);
  const refitted = (structure: WaitStructure, fixed: Fixed) =>
    simplestOf(sampled(structure, { ...fixedIn(structure), ...fixed }, STEPS.fit));
  const simplified = likely.flatMap((one) => {
    const found = simplestOf(one);
    const near = found.parameters.factor === 1 ? undefined : constantFrom(one, lastK, sampled);
    const constant = near === undefined ? [] : [simplestOf(near)];
    return [found, ...constant.filter(({ parameters }) => parameters.factor === 1)];
  });
  const rounded = simplified.flatMap((found) => {
    const { structure } = found;
    const { jitter, capsJitter } = structure;
    // Without a cap both variants are the same law.
    if (capsJitter && found.parameters.capMs === Infinity) return [];
    const other = otherForm(found, timers);
    if (other !== undefined) {
      const fit = refitted(structure, { low: other.low });
      return [found, other.isBlurred ? { ...fit, score: found.score } : fit];
    }
    if (jitter !== 'plus' || found.parameters.capMs === Infinity) return [found];
    return [found, refitted({ ...structure, capsJitter: true }, {})];
  });
  const sorted = rounded.sort((a, b) => b.score - a.score);
  // A fit whose jitter may be lateness is not named first, but not excluded.
  const [hidden, visible] = [true, false].map((is) => sorted.filter((fit) => isHidden(fit, own) === is));
  return [...visible!, ...hidden!].filter(({ score }) => score > visible![0]!.score - CLEARLY);
}

/** The same without growth, if a cap hides it or only two waits show it: no chain goes from such a growth to none. */
function constantFrom(
  { structure, variables, best, fixed }: Fitted,
  lastK: number,
  sampled: Sampled,
): Fitted | undefined {
  if (structure.jitter !== 'share' || structure.capsJitter || !variables.includes('factor')) return undefined;
  const values = valuesOf(variables, best, fixed);
  if (lastK > 2 && values.baseMs * values.factor < values.capMs) return undefined;
  const baseMs = Math.min(values.capMs, (values.baseMs * (1 + values.factor)) / 2);
  return sampled(structure, fixed, STEPS.near, { ...values, baseMs, factor: 1, capMs: room.capMs[1] });
}

/** Shorter by 25 %, or longer by 30 %? The share of the other form, and whether late timers blur the difference. */
function otherForm(
  { structure, parameters, intervals }: WaitFit,
  { averageMs }: TimerLateness,
): { readonly low: number; readonly isBlurred: boolean } | undefined {
  if (structure.jitter !== 'share') return undefined;
  const low = otherShareOf(parameters.low);
  const isBlurred = Math.abs(low - parameters.low) <= (2 * averageMs) / parameters.baseMs;
  const { least, most } = intervals.low;
  return isBlurred || (low >= least && low <= most) ? { low, isBlurred } : undefined;
}

const ENOUGH = 200;
const ENOUGH_TO_LOOK = 70;

function isHidden({ structure, parameters, hiddenMs }: WaitFit, own: readonly Gap[]): boolean {
  if (structure.jitter === 'none') return false;
  return own.every((gap) => {
    const pieces = waitLaw(structure, parameters, gap);
    const [fromMs, toMs] = [pieces[0]!.fromMs, pieces.at(-1)!.toMs];
    return toMs - fromMs < Math.max(hiddenMs, structure.jitter === 'share' ? CLOCK * toMs : 0);
  });
}

/** Keeps fits without jitter: their jitter may be hidden in lateness. */
function atMost(far: number, fitted: readonly Fitted[]): Fitted[] {
  const best = Math.max(...fitted.map(({ bestLogL }) => bestLogL));
  return fitted.filter(({ bestLogL, structure }) => bestLogL > best - far || structure.jitter === 'none');
}

type Fixed = Partial<Record<Variable, number>>;

interface Fitted extends PosteriorSamples {
  readonly structure: WaitStructure;
  readonly variables: readonly Variable[];
  readonly fixed: Fixed;
}

function variablesOf(structure: WaitStructure, fixed: Fixed): Variable[] {
  const used: Variable[] = [...noises];
  if (structure.growth !== 'none') used.push('baseMs', 'capMs');
  if (structure.growth === 'none') return used;
  if (structure.jitter !== 'decorrelated' && structure.growth === 'exponential') used.push('factor');
  if (structure.jitter === 'share') used.push('low');
  if (structure.jitter === 'plus') used.push('plusMs');
  return used.filter((name) => fixed[name] === undefined);
}

function valuesOf(variables: readonly Variable[], x: readonly number[], fixed: Fixed): Values {
  const values: Record<string, number> = { ...usual, ...fixed };
  variables.forEach((name, i) => {
    values[name] = scales.has(name) ? exp(x[i]!) : x[i]!;
  });
  return values as Values;
}

type Sampled = (structure: WaitStructure, fixed: Fixed, steps: number, near?: Values) => Fitted;

const sampledFrom =
  (gaps: readonly Gap[], lateMs: number, draw: RandomStream): Sampled =>
  (structure, fixed, steps, near) => {
    const variables = variablesOf(structure, fixed);
    const values = { ...usual, ...fixed } as Record<Variable, number>;
    const bounds = variables.map((name) => ({ name, isScale: scales.has(name), range: room[name] }));
    const logL = (x: readonly number[]) => {
      for (let i = 0; i < x.length; i += 1) {
        const { name, isScale, range } = bounds[i]!;
        const value = isScale ? exp(x[i]!) : x[i]!;
        if (!(value >= range[0] && value <= range[1])) return -Infinity;
        values[name] = value;
      }
      if (values.baseMs > values.capMs) return -Infinity;
      const { offsetMs, spreadMs, firstOffsetMs, firstSpreadMs } = values;
      const first = { offsetMs: firstOffsetMs, spreadMs: firstSpreadMs };
      return logLikelihood(gaps, structure, values, first, { offsetMs, spreadMs }) + logPrior(values, lateMs);
    };
    let starts = 0;
    const edges = edgesBy(gaps, structure);
    const first = () => {
      starts += 1;
      const guess = starts === 1 && near !== undefined ? near : guessed(edges, structure, draw, near);
      return variables.map((name) => {
        const [least, most] = room[name];
        const value = Math.min(most, Math.max(least, guess[name]));
        return scales.has(name) ? log(value) : value;
      });
    };
    return {
      structure,
      variables,
      fixed,
      ...posterior(first, logL, { steps, starts: near === undefined ? STARTS.far : STARTS.near }, draw),
    };
  };

function guessed(
  edges: (draw: RandomStream) => Edges,
  { skipsFirst, growth, jitter }: WaitStructure,
  draw: RandomStream,
  near?: Values,
): Values {
  const late = {
    offsetMs: 3 * draw.uniform(),
    spreadMs: 1 + 10 * draw.uniform(),
    firstOffsetMs: 20 * draw.uniform(),
    firstSpreadMs: 1 + 20 * draw.uniform(),
  };
  if (near !== undefined) {
    const blurred = Object.entries(near).map(([name, value]) => [name, value * (1 + 0.02 * (draw.uniform() - 0.5))]);
    return { ...(Object.fromEntries(blurred) as Values), ...(draw.uniform() < 0.5 ? late : {}) };
  }
  // Two show the growth, and a third one a cap that they are below.
  const [a, b, c] = [edges(draw), edges(draw), edges(draw)];
  const most = Math.max(a.mostMs, b.mostMs, c.mostMs);
  const isLow = draw.uniform() < 0.5;
  const low = isLow
    ? Math.min(1, (a.leastMs / a.mostMs) * (1 + 0.1 * (draw.uniform() - 0.5)))
    : [0, 0.5, 1][draw.integer(0, 2)]!;
  const w = ({ leastMs, mostMs }: Edges) =>
    jitter === 'share' && low < 1 ? mostMs : Math.max(1, leastMs - late.offsetMs);
  const n = (k: number) => (skipsFirst ? k - 1 : k);
  const ratio = a.k === b.k ? 2 : exp(log(w(b) / w(a)) / (b.k - a.k));
  const factor = draw.uniform() < 0.2 ? 2 : Math.min(10, Math.max(1, ratio));
  return {
    baseMs: growth === 'linear' ? w(a) / n(a.k) : w(a) / exp(log(factor) * (n(a.k) - 1)),
    factor,
    low,
    plusMs: Math.max(9, (a.mostMs - a.leastMs) * (1 + 0.2 * (draw.uniform() - 0.5))),
    capMs: [w(c), most * (0.8 + 0.3 * draw.uniform()), most * (1 + 1e3 * draw.uniform())][draw.integer(0, 2)]!,
    ...late,
  };
}

function simplest(gaps: number, free: Fitted, sampled: Sampled, { oftenMs }: TimerLateness): WaitFit {
  const { structure } = free;
  let at = free;
  let likeliest = free.bestLogL;
  const ranges: { [Which in Name]?: Range } = {};
  for (const [step, name] of order.entries()) {
    if (!at.variables.includes(name)) continue;
    const range = intervalOf(at, name);
    const leastLogL = likeliest - ROUNDING.one - ROUNDING.further * Object.keys(at.fixed).length;
    if (step > 0) ranges[name] ??= range;
    const values = valuesOf(at.variables, at.best, at.fixed);
    for (const value of roundestOf(step === 0 ? 'noCap' : name, range, values[name])) {
      const fixed = { ...at.fixed, [name]: value };
      // The second wait stays, or the chains would begin far from the base of another factor.
      const baseMs = name === 'factor' ? (values.baseMs * values.factor) / value : values.baseMs;
      const tried = sampled(structure, fixed, STEPS.near, { ...values, baseMs });
      const isUsual = (name === 'factor' ? roundFactors : roundShares).includes(value);
      const isFull =
        name === 'low' && value === 0 && values.low < Math.max(NEGLIGIBLE, values.spreadMs / values.baseMs / 2);
      // Timers that are late by a share of a wait seem to grow by more.
      const isAlike = isFull || (name === 'factor' && isUsual && Math.abs(values.factor / value - 1) < CLOCK);
      if (tried.bestLogL < leastLogL - (isUsual ? ROUNDING.usual : 0) && !isAlike) continue;
      at = tried;
      if (isAlike) likeliest = Math.min(likeliest, tried.bestLogL);
      break;
    }
  }
  const values = valuesOf(at.variables, at.best, at.fixed);
  const { offsetMs, spreadMs, firstOffsetMs, firstSpreadMs, ...parameters } = values;
  const around = (rangesOf: (name: Name) => readonly (Range | undefined)[]) =>
    Object.fromEntries(
      order.map((name) => {
        const ends = rangesOf(name).flatMap((one) => (one === undefined ? [] : [one.least, one.most]));
        return [name, rangeOf([values[name], ...ends])];
      }),
    ) as WaitFit['intervals'];
  const intervals = around((name) => [intervalOf(free, name, oftenMs), ranges[name]]);
  const narrower = around((name) => [ranges[name] ?? intervalOf(free, name)]);
  return {
    structure,
    parameters,
    intervals,
    narrower,
    first: { offsetMs: firstOffsetMs, spreadMs: firstSpreadMs },
    later: { offsetMs, spreadMs },
    hiddenMs: HIDDEN * Math.max(spreadMs, oftenMs),
    score: at.bestLogL - log(gaps) * oddities(structure, parameters),
  };
}

function oddities({ growth, skipsFirst, jitter, capsJitter }: WaitStructure, p: WaitParameters): number {
  return (
    Number(growth === 'linear') / 2 +
    2 * Number(skipsFirst) +
    Number(jitter === 'plus' || jitter === 'decorrelated') +
    Number(capsJitter) / 2 +
    Number(![1, 2].includes(p.factor)) / (roundFactors.includes(p.factor) ? 2 : 1) +
    Number(jitter === 'share' && ![0, 0.5].includes(p.low)) +
    Number(p.capMs !== Infinity)
  );
}

/** @param lateMs how late timers often are: a law of lateness that changed meanwhile may have hidden as much */
function intervalOf({ variables, samples, fixed, best }: Fitted, name: Name, lateMs = 0): Range {
  const i = variables.indexOf(name);
  if (i < 0) return { least: fixed[name] ?? usual[name], most: fixed[name] ?? usual[name] };
  const sorted = new Float64Array(samples.map((x) => x[i]!)).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))]!;
  const wide = ({ least, most }: Range, ms: number) => ({
    least: Math.max(room[name][0], least * (1 - CLOCK) - ms),
    most: Math.min(room[name][1], most * (1 + CLOCK) + ms),
  });
  const [least, most] = [at(OUTER), at(1 - OUTER)];
  if (scales.has(name)) return wide({ least: exp(least), most: exp(most) }, TIMER_MS + lateMs);
  return wide({ least, most }, name === 'factor' ? lateMs / exp(best[variables.indexOf('baseMs')]!) : 0);
}

/** Quantile of the samples at each end. Wide, because the model of lateness is not exact for any machine. */
const OUTER = 0.005;
const TIMER_MS = 2;
