// How far the answers are from those of a rule. Pure.
//
//   0      each request can be counted within its bounds (evidence.ts) so that the rule gives the observed answers
//   v > 0  some request would have to be counted v ms before its bounds, or after them
//
//   admitted, though the rule refuses      first |--------| last
//                                                         |<-- v -->| the rule would admit from here on
//   limited, though the rule admits        |<-- v -->| first
//                                          the rule refuses up to here
//
// Each request is counted at a fixed share of its bounds, or earlier or later if the rule gives the observed answer only then. That is one
// order of counting: 0 proves that one exists; above 0 there may still be another.

import { LIMITED, NEVER, type Rule } from '../../core/limiter/rule/rule.js';
import { uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { AnswerQueue, Evidence, KeyEvidence } from './evidence.js';
import { type Hypothesis, isInCells, type Structure, windowMsOf } from './structure.js';

/** Start of a limiter's time: edges lie at multiples of their period from 0. */
export const BASE_MS = 2 ** 31;

/** Error of a rule's instants by the steps of its clock and ours. */
export const TOLERANCE_MS = 1.05;

export const NEVER_SO = 1e9;

interface Violation {
  readonly ms: number;
  readonly sentMs: number;
  readonly states: ReadonlyMap<string, unknown>;
}

interface ViolationOptions {
  /** Aborts at a larger violation. Default: never. */
  readonly mostMs?: number | undefined;
  readonly onCounted?: ((tMs: number, admitted: boolean, state: unknown) => void) | undefined;
}

export function violationOf(hypothesis: Hypothesis, evidence: Evidence, options: ViolationOptions = {}): Violation {
  const states = new Map<string, unknown>();
  const { structure, parameters } = hypothesis;
  const ownMs = structure.period?.(parameters) ?? windowMsOf(hypothesis);
  if (ownMs < finestMs(structure, evidence)) return { ms: Infinity, sentMs: -1, states };
  const rule = uncheckedRule(structure.definition(parameters));
  const asked = { ...options, late: new LateAnswers(parameters.isStalled ? evidence.keys : []) };
  let [ms, sentMs] = [0, -1];
  for (const one of evidence.keys) {
    const found = new Replay(rule, hypothesis, evidence, one, asked).run();
    states.set(one.key, found.state);
    if (found.ms > ms) [ms, sentMs] = [found.ms, found.sentMs];
    if (ms > (options.mostMs ?? Infinity)) break;
  }
  return { ms, sentMs, states };
}

/**
 * Shortest window or grid, in ms: a finer one than the uncertainty of the instants would explain everything. A request leaves up to a cell
 * early: a cell must only be longer than the uncertainty of the two instants between which it leaves.
 */
export function finestMs(structure: Structure, { longestMs, shortestMs, slackMs }: Evidence): number {
  const times = isInCells(structure) ? 2 : UNCERTAINTIES;
  return structure.isInFlight ? 0 : Math.min(2 * longestMs, times * (longestMs - shortestMs + slackMs));
}

const UNCERTAINTIES = 4;

/** How late a held answer may be: rules that hold differ by whole steps. */
export function heldLateMs({ structure, parameters }: Hypothesis): number {
  return Math.max(HELD_SLACK_MS, HELD_PART * (structure.family === 'delay' ? parameters.otherMs : parameters.spanMs));
}

const HELD_SLACK_MS = 10;
const HELD_PART = 0.3;

/** A machine that stalls reads some answers later still; of a rule that holds less than the limiter, most answers are late. */
const MOST_LATE = 1 / 8;

/** Answers later than those of a rule: how late is the first of them that is one too many. */
class LateAnswers {
  readonly #most: number;
  /** The latest ones, descending. */
  readonly #latestMs: number[] = [];

  constructor(keys: readonly KeyEvidence[]) {
    this.#most = Math.floor(MOST_LATE * keys.reduce((sum, { admitted }) => sum + admitted.first.length, 0));
  }

  excessMs(ms: number): number {
    const place = this.#latestMs.findIndex((one) => one < ms);
    this.#latestMs.splice(place < 0 ? this.#latestMs.length : place, 0, ms);
    this.#latestMs.length = Math.min(this.#latestMs.length, this.#most + 1);
    return this.#latestMs[this.#most] ?? 0;
  }
}

class Replay {
  readonly #state: unknown;
  readonly #options: ViolationOptions;
  readonly #shiftMs: number;
  readonly #isInFlight: boolean;
  readonly #holds: boolean;
  readonly #grainMs: number;
  readonly #late: LateAnswers;
  #nowMs = 0;
  #ms = 0;
  #sentMs = -1;
  /** Lower bounds: how many the rule would admit, and until when it admits none. */
  #room = 0;
  #notBefore = -Infinity;
  #never = 0;

  constructor(
    readonly rule: Rule,
    readonly hypothesis: Hypothesis,
    readonly evidence: Evidence,
    readonly one: KeyEvidence,
    options: ViolationOptions & { readonly late: LateAnswers },
  ) {
    const { structure, parameters } = hypothesis;
    this.#options = options;
    this.#late = options.late;
    this.#shiftMs = BASE_MS + parameters.shiftMs;
    this.#isInFlight = structure.isInFlight === true;
    this.#holds = structure.holds === true;
    this.#grainMs = structure.grainMs?.(parameters) ?? 0;
    this.#state = rule.fresh(0);
  }

  run(): { readonly ms: number; readonly sentMs: number; readonly state: unknown } {
    const { admitted, limited } = this.one;
    const { mostMs = Infinity } = this.#options;
    const [nA, nR] = [admitted.first.length, limited.first.length];
    const { late = NONE, countedAt } = this.hypothesis.parameters;
    const nominalOf = ({ first, last, sent }: AnswerQueue, k: number) =>
      late.length > 0 && late.includes(sent[k]!)
        ? last[k]!
        : first[k]! + countedAt * Math.min(last[k]! - first[k]!, PROMPT_MS);
    let [i, j] = [0, 0];
    while ((i < nA || j < nR) && this.#ms <= mostMs) {
      const nominal = i < nA ? nominalOf(admitted, i) : Infinity;
      const nominalLimited = j < nR ? nominalOf(limited, j) : Infinity;
      const now = this.#nowMs;
      if (i < nA && nominal <= nominalLimited) {
        const t = Math.max(now, nominal);
        if (this.#admits(t)) this.#admit(t, i++);
        else {
          const at = this.#nextAdmission(t);
          const limitedAt = Math.max(t, nominalLimited);
          if (j < nR && limitedAt < at && limited.first[j]! <= admitted.last[i]!) {
            j += 1;
            this.#limit(limitedAt);
          } else {
            this.#violates(at === NEVER ? NEVER_SO : at - admitted.last[i]!, admitted.sent[i]!);
            if (at === NEVER) i += 1;
            else this.#admit(at, i++);
          }
        }
      } else {
        const t = Math.max(now, nominalLimited);
        const early = Math.max(now, limited.first[j]!);
        if (!this.#admits(t)) {
          j += 1;
          this.#limit(t);
        } else if (early < t && this.#room < 2 && !this.#admittedAt(early)) {
          j += 1;
          this.#limit(early);
        } else {
          const other = i < nA ? Math.max(now, admitted.first[i]!) : Infinity;
          if (other <= limited.last[j]! && this.#admittedAt(other)) this.#admit(other, i++);
          else {
            this.#violates(this.#tooLate(early), limited.sent[j]!);
            j += 1;
          }
        }
      }
    }
    return { ms: this.#ms, sentMs: this.#sentMs, state: this.#state };
  }

  /** Asks the rule only if its last answer leaves it open: room never shrinks by itself, and refusals hasten nothing. */
  #admits(t: number): boolean {
    if (this.#room >= 1) return true;
    if (t < this.#notBefore) return false;
    this.#room = this.rule.remaining(this.#state, t + this.#shiftMs);
    if (this.#room >= 1) return true;
    if (this.rule.hastens === undefined) this.#notBefore = this.#nextAdmission(t);
    return false;
  }

  #admittedAt(t: number): boolean {
    return this.rule.remaining(this.#state, t + this.#shiftMs) >= 1;
  }

  #nextAdmission(t: number): number {
    const at = this.rule.nextAdmission(this.#state, t + this.#shiftMs, 1);
    return at === NEVER ? NEVER : Math.max(t, at - this.#shiftMs);
  }

  #admit(t: number, k: number): void {
    const { sent, answered } = this.one.admitted;
    const { shortestMs, longestMs, isHeld } = this.evidence;
    const heldMs = this.#isInFlight ? Math.max(0, answered[k]! - shortestMs / 2 - t) : 0;
    const delay = this.rule.admit(this.#state, t + this.#shiftMs, 1, heldMs);
    this.#nowMs = t;
    this.#room -= 1;
    this.#options.onCounted?.(t, true, this.#state);
    if (delay === LIMITED || this.#isInFlight) return;
    if (delay > 0) this.#violates(t + delay - answered[k]!, sent[k]!);
    const lateMs = answered[k]! - t - delay - longestMs - heldLateMs(this.hypothesis);
    if (isHeld && this.#holds && lateMs > 0) this.#violates(this.#late.excessMs(lateMs), sent[k]!);
  }

  #limit(t: number): void {
    // If the rule would admit it, that is the violation, and the state stays.
    if (this.rule.admit(this.#state, t + this.#shiftMs, 1, 0) !== LIMITED) this.#room -= 1;
    else this.#room = 0;
    this.#nowMs = t;
    this.#options.onCounted?.(t, false, this.#state);
  }

  #tooLate(early: number): number {
    const at = this.#nextAdmission(this.#nowMs);
    if (at > this.#nowMs) return at === NEVER ? 0 : Math.max(0, early - at);
    // The rule admits as soon as the last request is counted. A view of the state at earlier instants shows by how much.
    const inner = (this.#state as { inner?: unknown }).inner;
    if (
      inner === undefined ||
      this.hypothesis.structure.family.endsWith('count') ||
      this.hypothesis.structure.family.startsWith('segmented')
    )
      return this.#sinceEdge(early);
    const view = { atMs: 0, inner };
    const refusedBefore = (ms: number) => this.rule.remaining({ ...view }, this.#nowMs + this.#shiftMs - ms) < 1;
    // The exact value is irrelevant below the violation so far, and above the maximum.
    const lateMs = early - this.#nowMs;
    if (this.#ms > lateMs && refusedBefore(this.#ms - lateMs)) return 0;
    const mostMs = (this.#options.mostMs ?? Infinity) - lateMs;
    const isGrid = this.hypothesis.structure.period !== undefined;
    if (!isGrid && mostMs < LOOK_BACK_MS && (mostMs < 0 || !refusedBefore(mostMs)))
      return lateMs + Math.max(0, mostMs) + 1;
    let back = 0.25;
    while (back < LOOK_BACK_MS && !refusedBefore(back)) back *= 2;
    if (back >= LOOK_BACK_MS) return this.#sinceEdge(early);
    let low = back / 2;
    for (let k = 0; k < 4; k += 1) {
      const middle = (low + back) / 2;
      if (refusedBefore(middle)) back = middle;
      else low = middle;
    }
    return early - this.#nowMs + back;
  }

  /** For rules without such a view: how much later the last edge of the grid would have to be. */
  #sinceEdge(t: number): number {
    const { structure, parameters } = this.hypothesis;
    const period = structure.period?.(parameters);
    return period === undefined || period < SHORTEST_PERIOD_MS ? NEVER_SO : (t + this.#shiftMs) % period;
  }

  #violates(ms: number, sentMs: number): void {
    if (ms >= NEVER_SO) this.#never += 1;
    const total = ms >= NEVER_SO ? this.#never * NEVER_SO : ms - this.#grainMs;
    if (total <= this.#ms) return;
    this.#ms = total;
    this.#sentMs = sentMs;
  }
}

const SHORTEST_PERIOD_MS = 20;
const NONE: readonly number[] = [];
/** The fixed share applies to at most this part of the bounds. */
export const PROMPT_MS = 20;
const LOOK_BACK_MS = 1_000_000;
