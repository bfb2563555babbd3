// The parameters with which a structure explains the answers: the best, and how far each can be moved. Pure.
//
//   violation |\                /        a violation is a time, as the parameters are: where it is not 0, it says how far to go
//             | \    range     /
//             |  \___|____|___/____ tolerance: what is not known of the instants at which requests were counted
//             +---------------------  span
import type { Evidence } from './evidence.js';
import type { Features, Stage } from './features.js';
import { LONGEST, moved, PHASES, parametersOf, startsOf } from './starts.js';
import type { Hypothesis, Name, Parameters, Structure } from './structure.js';
import { violationOf } from './violation.js';

export interface Range {
  readonly least: number;
  readonly most: number;
}

export interface Fitted {
  readonly best: Hypothesis;
  readonly violationMs: number;
  /** What each parameter may be, as far as the answers show. */
  readonly ranges: Readonly<Record<Name, Range>>;
  /** The best, and those at the ends of the ranges. */
  readonly samples: readonly Hypothesis[];
}

const PATTERN_ROUNDS = 30;
/** A start that is further from the answers, as a part of its span, leads nowhere. */
const NEAR = 0.4;
/** Parameters that explain the answers and lie apart by more than this factor are kept, each for itself. */
const APART = 1.3;
const MOST_SPREAD = 5;
const COUNTED_AT = [0.05, 0.3, 0.7, 0.95];
const MOST_TOPS = 8;

/** Parameters are looked for everywhere in so many requests at most. */
const MOST_SEARCHED = 220;

/**
 * The structure with the parameters that explain the answers best; `from` are parameters that explained what was seen before,
 * and with `near` others are looked for, too, of about these spans in ms.
 */
export function fitted(
  structure: Structure,
  stages: readonly Stage[],
  toleranceMs: number,
  from?: Fitted | undefined,
  near?: readonly number[] | undefined,
): Fitted {
  const last = stages.at(-1)!;
  if (from !== undefined && near === undefined) {
    const fitting = new Fitting(structure, last, toleranceMs);
    fitting.improve(from.samples);
    if (fitting.isExplained) return fitting.result();
  }
  let found: Fitted | undefined;
  for (const stage of stages) {
    const fitting = new Fitting(structure, stage, toleranceMs, near);
    const known = [...(found?.samples ?? []), ...(stage === last ? (from?.samples ?? []) : [])];
    if (known.length > 0) fitting.improve(known);
    if (!fitting.isExplained && (found === undefined || stage.evidence.seen.length <= MOST_SEARCHED)) fitting.search();
    found = fitting.result();
    if (!fitting.isExplained && from === undefined) break;
  }
  return found!;
}

class Fitting {
  readonly #structure: Structure;
  readonly #evidence: Evidence;
  readonly #features: Features;
  readonly #toleranceMs: number;
  readonly #near: readonly number[] | undefined;
  #best: Parameters | undefined;
  #bestMs = Infinity;
  readonly #spread: Parameters[] = [];

  constructor(structure: Structure, { evidence, features }: Stage, toleranceMs: number, near?: readonly number[]) {
    this.#near = near;
    this.#structure = structure;
    this.#evidence = evidence;
    this.#features = features;
    this.#toleranceMs = toleranceMs;
  }

  get isExplained(): boolean {
    return this.#bestMs <= this.#toleranceMs;
  }

  improve(samples: readonly Hypothesis[]): void {
    for (const { parameters } of samples) this.#try(parameters);
    if (!this.isExplained) this.#descend();
  }

  /** From everywhere; then downhill from the best of those that lie apart. */
  search(): void {
    const tops: { ms: number; parameters: Parameters }[] = [];
    for (const start of startsOf(this.#structure, this.#evidence, this.#features, this.#near)) {
      const mostMs = Math.min(
        Math.max(NEAR * start.spanMs, 10 * this.#toleranceMs),
        tops[MOST_TOPS - 1]?.ms ?? Infinity,
      );
      const first = this.#violation(start, mostMs);
      if (first > mostMs) continue;
      const { ms, parameters } = this.#atBestPhase(start, first);
      const same = tops.findIndex((top) => isNear(top.parameters, start));
      if (same >= 0 && tops[same]!.ms <= ms) continue;
      if (same >= 0) tops.splice(same, 1);
      const place = tops.findIndex((top) => top.ms > ms);
      tops.splice(place < 0 ? tops.length : place, 0, { ms, parameters });
      tops.length = Math.min(tops.length, MOST_TOPS);
    }
    for (const { parameters, ms } of tops) {
      const [best, bestMs] = [this.#best, this.#bestMs];
      [this.#best, this.#bestMs] = [parameters, ms];
      this.#descend();
      if (this.isExplained) this.#keep(this.#best!);
      if (best !== undefined && bestMs <= this.#bestMs) [this.#best, this.#bestMs] = [best, bestMs];
    }
  }

  /** The same span, with the phase moved by halves of halves to where it explains most. */
  #atBestPhase(start: Parameters, firstMs: number): { readonly ms: number; readonly parameters: Parameters } {
    let [ms, parameters] = [firstMs, start];
    if (!this.#structure.has.includes('shiftMs')) return { ms, parameters };
    const period = this.#structure.period?.(start) ?? start.spanMs;
    for (let step = period / (2 * PHASES); step > this.#toleranceMs / 2 && step > period / 200; step /= 2) {
      for (const by of [-step, step]) {
        const other = moved(this.#structure, parameters, 'shiftMs', parameters.shiftMs + by, 0);
        const otherMs = this.#violation(other, ms);
        if (otherMs < ms) [ms, parameters] = [otherMs, other];
      }
    }
    return { ms, parameters };
  }

  result(): Fitted {
    const parameters = this.#best ?? parametersOf(this.#structure, 1, 1_000);
    const ends: Parameters[] = [];
    const ranges = {} as Record<Name, Range>;
    for (const name of ['limit', 'part', 'spanMs', 'otherMs', 'shiftMs'] as const) {
      const isFree = name === 'limit' || name === 'spanMs' || this.#structure.has.includes(name);
      const found = isFree && this.isExplained ? [this.#end(parameters, name, -1), this.#end(parameters, name, 1)] : [];
      ends.push(...found);
      const others = name === 'spanMs' ? this.#spread : [];
      const values = [parameters, ...found, ...others].map((one) => one[name]);
      ranges[name] = { least: Math.min(...values), most: Math.max(...values) };
    }
    ends.push(...this.#spread.filter((one) => !isNear(one, parameters)));
    const hypothesis = (one: Parameters): Hypothesis => ({ structure: this.#structure, parameters: one });
    const isOther = (one: Parameters) => JSON.stringify(one) !== JSON.stringify(parameters);
    return {
      best: hypothesis(parameters),
      violationMs: this.#bestMs,
      ranges,
      samples: [parameters, ...ends.filter(isOther)].map(hypothesis),
    };
  }

  #violation(parameters: Parameters, mostMs: number): number {
    const hypothesis = { structure: this.#structure, parameters };
    return violationOf(hypothesis, this.#evidence, { mostMs }).ms;
  }

  #try(given: Parameters): boolean {
    let parameters = given;
    let ms = this.#violation(given, this.#bestMs);
    // A request that took long may have been counted at once or at the end: what is that near may be explained so.
    if (ms > this.#toleranceMs && ms <= this.#evidence.slowestMs) {
      for (const countedAt of COUNTED_AT) {
        const other = { ...given, countedAt };
        const otherMs = this.#violation(other, Math.min(ms, this.#bestMs));
        if (otherMs < ms) [ms, parameters] = [otherMs, other];
      }
    }
    if (ms <= this.#toleranceMs && this.#spread.length < MOST_SPREAD) this.#keep(parameters);
    if (ms >= this.#bestMs) return false;
    this.#bestMs = ms;
    this.#best = parameters;
    return true;
  }

  #keep(parameters: Parameters): void {
    if (!this.#spread.some((one) => isNear(one, parameters))) this.#spread.push(parameters);
  }

  #anchors(): number[] {
    const { fromMs, toMs, recoveries } = this.#features;
    if (this.#structure.period === undefined) return [0];
    return [recoveries[0] ?? fromMs, recoveries.at(-1) ?? toMs];
  }

  /** Steps along each parameter, the shorter the less they help. */
  #descend(): void {
    const structure = this.#structure;
    let step = 0.1;
    for (let round = 0; round < PATTERN_ROUNDS && step > 1e-5 && !this.isExplained; round += 1) {
      const from = this.#best;
      if (from === undefined) return;
      let isBetter = false;
      const tries: Parameters[] = [];
      for (const anchorMs of this.#anchors()) {
        for (const factor of [1 - step, 1 + step])
          tries.push(moved(this.#structure, from, 'spanMs', from.spanMs * factor, anchorMs));
      }
      for (const by of [-1, 1, -2, 2]) if (from.limit + by >= 1) tries.push({ ...from, limit: from.limit + by });
      if (structure.has.includes('otherMs'))
        for (const factor of [1 - step, 1 + step]) tries.push({ ...from, otherMs: from.otherMs * factor });
      if (structure.has.includes('shiftMs')) {
        const period = structure.period?.(from) ?? from.spanMs;
        for (const by of [-step, step])
          tries.push(moved(this.#structure, from, 'shiftMs', from.shiftMs + by * period, 0));
      }
      // A limit and a span that compensate each other.
      for (const by of [-1, 1])
        if (from.limit + by >= 1)
          tries.push({ ...from, limit: from.limit + by, spanMs: (from.spanMs * (from.limit + by)) / from.limit });
      for (const one of tries) isBetter = this.#try(one) || isBetter;
      if (!isBetter) step /= 2;
    }
  }

  /** How far one parameter can be moved, the others as they are or along with the grid. */
  #end(best: Parameters, name: Name, direction: -1 | 1): Parameters {
    let inside = best;
    let outside: number | undefined;
    const isInteger = name === 'limit';
    const period = this.#structure.period?.(best) ?? best.spanMs;
    const start = isInteger
      ? 1
      : name === 'shiftMs'
        ? Math.max(this.#toleranceMs / 4, period * 1e-4)
        : Math.max(best[name] * 5e-4, 0.05);
    let by = start;
    const probe = (value: number): Parameters | undefined => {
      for (const anchorMs of this.#anchors()) {
        const one = moved(this.#structure, inside, name, value, anchorMs);
        if (this.#violation(one, this.#toleranceMs) <= this.#toleranceMs) return one;
      }
      return undefined;
    };
    for (let k = 0; k < 24; k += 1) {
      const value = inside[name] + direction * by;
      const least = isInteger ? 1 : name === 'shiftMs' ? -Infinity : 0.01;
      if (value < least) break;
      if (name === 'spanMs' && value > LONGEST * (this.#features.toMs - this.#features.fromMs)) break;
      if (name === 'shiftMs' && Math.abs(value - best.shiftMs) > period / 2) break;
      const found = probe(value);
      if (found === undefined) {
        outside = value;
        break;
      }
      inside = found;
      if (!isInteger) by *= 2;
    }
    if (outside === undefined || isInteger) return inside;
    for (let k = 0; k < 4; k += 1) {
      const middle: number = (inside[name] + outside!) / 2;
      const found = probe(middle);
      if (found === undefined) outside = middle;
      else inside = found;
    }
    return inside;
  }
}

/** Whether a parameter is not yet known as exactly as it is wanted. */
export function isOpen({ ranges, best }: Fitted, resolution: number): boolean {
  const isWide = (name: 'spanMs' | 'otherMs') =>
    ranges[name].most - ranges[name].least > Math.max(2 * resolution * best.parameters[name], 1);
  return isWide('spanMs') || isWide('otherMs') || ranges.limit.most > ranges.limit.least;
}

function isNear(one: Parameters, other: Parameters): boolean {
  return Math.max(one.spanMs, other.spanMs) < APART * Math.min(one.spanMs, other.spanMs);
}
