// Fits the parameters of a structure to the answers: the best, and the range of each. Pure.
//
//   violation |\                /        a violation is a time, like the parameters: if it is not 0, it says how far to go
//             | \    range     /
//             |  \___|____|___/____ tolerance: the uncertainty of the instants of counting
//             +---------------------  span
import { type Range, rangeOf } from '../../core/math/range.js';
import type { Evidence } from './evidence.js';
import { type Features, featuresOf } from './features.js';
import { orderVerdict } from './order-verdict.js';
import { searchByRun } from './parameter-search.js';
import { isNear, moved, neighboursOf, parametersOf, placeOf, scatteredFrom } from './parameter-steps.js';
import { COUNTED_AT, endOf } from './ranges.js';
import { GRID, LONGEST, nearPartOf, PHASES, startsOf } from './search-starts.js';
import { type Hypothesis, isByToken, type Name, type Parameters, type Structure } from './structure.js';
import { NEVER_SO, TOLERANCE_MS, violationOf } from './violation.js';

export interface Fitted {
  readonly best: Hypothesis;
  readonly violationMs: number;
  readonly ranges: Readonly<Record<Name, Range>>;
  readonly samples: readonly Hypothesis[];
}

const PATTERN_ROUNDS = 24;
const MOST_STEPS = 4;
/** Parameters within this share of the span that no longer explain the answers are searched again. */
const NEARLY = 0.05;
const MOST_SPREAD = 4;
const MOST_TOPS = 6;
/** Spans tried on each side of the best of the coarse grid, if the span is the time of a token. */
const FINE = 16;
const SCATTERED = 120;
const MOST_NODES = 5_000;

/**
 * @param from an earlier fit to refine; undefined: global search
 * @param near spans to search near, in ms
 * @param isStalled some held answers may have been read later than they came
 */
export function fitted(
  structure: Structure,
  evidence: Evidence,
  from?: Fitted | undefined,
  near?: readonly number[] | undefined,
  isStalled?: true | undefined,
): Fitted {
  const fitting = new Fitting(structure, evidence, from, isStalled);
  if (from !== undefined) fitting.improve(from.samples);
  if (!fitting.isExplained && (from === undefined || fitting.isNearly))
    fitting.search(near, from?.best.parameters.otherMs);
  if (!fitting.isExplained && from !== undefined && from.violationMs <= TOLERANCE_MS)
    fitting.improve(searchByRun(structure, evidence));
  return fitting.result();
}

export function fittedFrom(samples: readonly Hypothesis[], structure: Structure, evidence: Evidence): Fitted {
  const fitting = new Fitting(structure, evidence);
  fitting.improve(samples);
  return fitting.result();
}

const SPREAD = 24;

/** Adds parameters from all over the ranges that explain the answers: the next probe is chosen by what they predict differently. */
export function spreadOut(found: Fitted, evidence: Evidence): Fitted {
  const { structure } = found.best;
  const mostMs = Math.max(TOLERANCE_MS, found.violationMs);
  const { fromMs, toMs } = featuresOf(evidence);
  const open = (['spanMs', 'otherMs', 'shiftMs', 'limit'] as const).filter(
    (name) => found.ranges[name].most > found.ranges[name].least,
  );
  const samples = [...found.samples];
  for (let k = 0; k < SPREAD && open.length > 0; k += 1) {
    const name = open[k % open.length]!;
    const { least, most } = found.ranges[name];
    const value = least + placeOf(k + 1) * (most - least);
    const { parameters: from } = samples[k % samples.length]!;
    const anchorMs = fromMs + placeOf(k + 1, 2) * (toMs - fromMs);
    const parameters = moved(structure, from, name, name === 'limit' ? Math.round(value) : value, anchorMs);
    if (violationOf({ structure, parameters }, evidence, { mostMs }).ms <= mostMs)
      samples.push({ structure, parameters });
  }
  return { ...found, samples };
}

interface Top {
  readonly ms: number;
  readonly parameters: Parameters;
}

class Fitting {
  readonly #features: Features;
  #best: Parameters | undefined;
  #bestMs = Infinity;
  readonly #spread: Parameters[] = [];

  constructor(
    readonly structure: Structure,
    readonly evidence: Evidence,
    readonly before?: Fitted,
    readonly isStalled?: true,
  ) {
    this.#features = featuresOf(evidence);
  }

  get isExplained(): boolean {
    return this.#bestMs <= TOLERANCE_MS;
  }

  get isNearly(): boolean {
    const nearMs = Math.max(10 * TOLERANCE_MS, NEARLY * (this.#best?.spanMs ?? 0));
    return this.#bestMs <= nearMs || this.structure.has.includes('otherMs');
  }

  improve(samples: readonly Hypothesis[]): void {
    const near: Top[] = [];
    for (const one of samples) {
      const parameters = this.#asRead(one.parameters);
      const ms = this.#violation(parameters, Infinity);
      near.push({ ms, parameters });
      this.#take(parameters, ms);
    }
    near.sort((a, b) => a.ms - b.ms);
    for (const { parameters } of near) {
      // One wrong order leads far away: others are tried at any distance.
      for (const countedAt of COUNTED_AT) {
        if (this.isExplained) return;
        const other = { ...parameters, countedAt };
        this.#take(other, this.#violation(other, this.#bestMs));
      }
    }
    for (const one of near.slice(0, 3)) if (!this.isExplained && one.ms < NEVER_SO) this.#descendFrom(one);
    for (const parameters of new Set([near[0]?.parameters, this.#best])) {
      if (this.isExplained || parameters === undefined) return;
      const hypothesis = { structure: this.structure, parameters };
      if (orderVerdict(hypothesis, this.evidence, MOST_NODES) === 'explained') this.#take(parameters, 0);
    }
  }

  search(near?: readonly number[] | undefined, otherMs?: number | undefined): void {
    const tops: Top[] = [];
    for (const one of startsOf(this.structure, this.evidence, this.#features, { near, known: otherMs })) {
      const start = this.#asRead(one);
      const nearMs = Math.max(nearPartOf(this.structure, start) * start.spanMs, 10 * TOLERANCE_MS);
      const mostMs = Math.min(nearMs, tops[MOST_TOPS - 1]?.ms ?? Infinity);
      const ms = this.#violation(start, mostMs);
      if (ms > mostMs) continue;
      const same = tops.findIndex((top) => isNear(top.parameters, start) && top.parameters.limit === start.limit);
      if (same >= 0 && tops[same]!.ms <= ms) continue;
      if (same >= 0) tops.splice(same, 1);
      const place = tops.findIndex((top) => top.ms > ms);
      tops.splice(place < 0 ? tops.length : place, 0, { ms, parameters: start });
      tops.length = Math.min(tops.length, MOST_TOPS);
    }
    for (const { ms, parameters } of tops.filter((one) => one.ms < NEVER_SO))
      this.#descendFrom(this.#atBestSpan(this.#atBestPhase(parameters, ms)));
    this.#scatter();
  }

  /** Moves several parameters at once: tries points around the best, within its violation, and continues from improvements. */
  #scatter(): void {
    for (let k = 1; k <= SCATTERED && this.#best !== undefined && !this.isExplained; k += 1) {
      const from = this.#best;
      if (this.#bestMs > NEARLY * from.spanMs) return;
      const [anchorMs = 0] = this.#anchors();
      const one = scatteredFrom(this.structure, from, (1.5 * this.#bestMs) / from.spanMs, k, anchorMs);
      this.#take(one, this.#violation(one, this.#bestMs));
    }
  }

  #descendFrom({ parameters, ms }: Top): void {
    const [best, bestMs] = [this.#best, this.#bestMs];
    [this.#best, this.#bestMs] = [parameters, ms];
    this.#descend();
    if (this.isExplained) this.#keep(this.#best!);
    if (best !== undefined && bestMs <= this.#bestMs) [this.#best, this.#bestMs] = [best, bestMs];
  }

  #atBestPhase(start: Parameters, firstMs: number): Top {
    let [ms, parameters] = [firstMs, start];
    if (!this.structure.has.includes('shiftMs')) return { ms, parameters };
    const period = this.structure.period?.(start) ?? start.spanMs;
    for (let step = period / (2 * PHASES); step > TOLERANCE_MS / 2 && step > period / 60; step /= 2) {
      for (const by of [-step, step]) {
        const other = moved(this.structure, parameters, 'shiftMs', parameters.shiftMs + by, 0);
        const otherMs = this.#violation(other, ms);
        if (otherMs < ms) [ms, parameters] = [otherMs, other];
      }
    }
    return { ms, parameters };
  }

  /** With many tokens the coarse grid may step over the time of a token. */
  #atBestSpan(start: Top): Top {
    if (!isByToken(this.structure) || start.ms <= TOLERANCE_MS) return start;
    let best = start;
    for (let k = -FINE; k <= FINE; k += 1) {
      const one = moved(this.structure, start.parameters, 'spanMs', start.parameters.spanMs * GRID ** (k / FINE), 0);
      const ms = this.#violation(one, best.ms);
      if (ms < best.ms) best = { ms, parameters: one };
    }
    return best;
  }

  result(): Fitted {
    const parameters = this.#best ?? parametersOf(this.structure, 1, 1_000);
    const ends: Parameters[] = [];
    const ranges = {} as Record<Name, Range>;
    for (const name of ['limit', 'part', 'spanMs', 'otherMs', 'shiftMs'] as const) {
      const isFree = name === 'limit' || name === 'spanMs' || this.structure.has.includes(name);
      const found = isFree && this.isExplained ? [this.#end(parameters, name, -1), this.#end(parameters, name, 1)] : [];
      ends.push(...found);
      const others = name === 'spanMs' ? [...this.#spread, ...ends] : [];
      const values = [parameters, ...found, ...others].map((one) => one[name]);
      ranges[name] = rangeOf(values);
    }
    ends.push(...this.#spread.filter((one) => !isNear(one, parameters)));
    const hypothesis = (one: Parameters): Hypothesis => ({ structure: this.structure, parameters: one });
    const texts = new Set([JSON.stringify(parameters)]);
    const others = ends.filter((one) => texts.size < texts.add(JSON.stringify(one)).size);
    return {
      best: hypothesis(parameters),
      violationMs: this.#bestMs,
      ranges,
      samples: [parameters, ...others].map(hypothesis),
    };
  }

  #asRead(parameters: Parameters): Parameters {
    return this.isStalled ? { ...parameters, isStalled: true } : parameters;
  }

  #violation(parameters: Parameters, mostMs: number): number {
    return violationOf({ structure: this.structure, parameters }, this.evidence, { mostMs }).ms;
  }

  #take(given: Parameters, givenMs: number): boolean {
    let [ms, parameters] = [givenMs, given];
    // This close, the instants of counting matter.
    const isWorth = ms <= this.#bestMs;
    if (isWorth && ms > TOLERANCE_MS && ms <= TOLERANCE_MS + this.evidence.widestMs) {
      for (const countedAt of COUNTED_AT) {
        const other = { ...given, countedAt };
        const otherMs = this.#violation(other, Math.min(ms, this.#bestMs));
        if (otherMs < ms) [ms, parameters] = [otherMs, other];
      }
    }
    if (isWorth && ms > TOLERANCE_MS && ms <= TOLERANCE_MS + this.evidence.widestMs) {
      for (const sentMs of this.evidence.slow) {
        const { late = [] } = parameters;
        const other = {
          ...parameters,
          late: late.includes(sentMs) ? late.filter((one) => one !== sentMs) : [...late, sentMs],
        };
        const otherMs = this.#violation(other, Math.min(ms, this.#bestMs));
        if (otherMs < ms) [ms, parameters] = [otherMs, other];
        if (ms <= TOLERANCE_MS) break;
      }
    }
    if (ms <= TOLERANCE_MS && this.#spread.length < MOST_SPREAD) this.#keep(parameters);
    if (ms >= this.#bestMs) return false;
    this.#bestMs = ms;
    this.#best = parameters;
    return true;
  }

  #end(best: Parameters, name: Name, direction: -1 | 1): Parameters {
    const isKnown = name !== 'shiftMs' && (this.before?.violationMs ?? Infinity) <= TOLERANCE_MS;
    const known = isKnown ? this.before?.ranges[name] : undefined;
    return endOf({ structure: this.structure, parameters: best }, name, direction, {
      explains: (one) => this.#violation(one, TOLERANCE_MS) <= TOLERANCE_MS,
      anchors: this.#anchors(),
      known: direction < 0 ? known?.least : known?.most,
      longestMs: LONGEST * (this.#features.toMs - this.#features.fromMs),
    });
  }

  #keep(parameters: Parameters): void {
    if (!this.#spread.some((one) => isNear(one, parameters))) this.#spread.push(parameters);
  }

  #anchors(): number[] {
    const { fromMs, toMs, recoveries } = this.#features;
    if (this.structure.period === undefined) return [0];
    return [recoveries[0] ?? fromMs, recoveries.at(-1) ?? toMs];
  }

  /** Pattern search: steps along each parameter, halved when none improves. */
  #descend(): void {
    const structure = this.structure;
    let step = Math.min(0.1, Math.max(1e-4, this.#bestMs / Math.max(1, this.#best?.spanMs ?? 1)));
    const { fromMs, toMs } = this.#features;
    let isBetter = true;
    for (let round = 0; round < PATTERN_ROUNDS && step > 1e-5 && !this.isExplained; round += 1) {
      const from = this.#best;
      // A step moves an instant by at most this share of the observed time.
      if (from === undefined || this.#bestMs > MOST_STEPS * step * (toMs - fromMs)) return;
      const isMoved = isBetter;
      isBetter = false;
      const tries = neighboursOf(structure, from, step, this.#anchors(), isMoved);
      for (const one of tries) isBetter = this.#take(one, this.#violation(one, this.#bestMs)) || isBetter;
      if (!isBetter) step /= 2;
    }
  }
}
