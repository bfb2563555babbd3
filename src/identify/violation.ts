// How far the answers are from what a rule would have given. Pure.
//
//   0      each request can be counted between its sending and its answer, so that the rule answers as it was seen
//   v > 0  some request would have to be counted v ms before its sending, or after its answer
//
//   admitted, though the rule refuses      sent |--------| answered
//                                                        |<-- v -->| the rule would admit from here on
//   limited, though the rule admits        |<-- v -->| sent
//                                          the rule refuses up to here
//
// A request is counted at a fixed part of the time between sending and answer, and earlier or later where the rule answers as seen only
// then. That is one order of counting: 0 is a proof that there is one; above 0 there may still be another.

import { LIMITED, NEVER, type Rule } from '../limiter/rule/rule.js';
import { uncheckedRule } from '../limiter/rule/rule-definition.js';
import type { Evidence, KeyEvidence, Queue } from './evidence.js';
import type { Hypothesis } from './structure.js';

/** Where time begins for a limiter: edges lie at multiples of their period from 0. */
export const BASE_MS = 2 ** 31;

/** The violation of a request that the rule would never have answered so, in ms. */
const NEVER_SO = 1e9;

export interface Violation {
  readonly ms: number;
  /** When the request was sent that is furthest from the rule; -1 where none is. */
  readonly sentMs: number;
  /** By key. */
  readonly states: ReadonlyMap<string, unknown>;
}

export interface ViolationOptions {
  /** Where a request is counted, as a part of the time between sending and answer. Default: that of the hypothesis. */
  readonly part?: number | undefined;
  /** The search ends at a violation above this, in ms. Default: never. */
  readonly mostMs?: number | undefined;
  /** Called with each request that is counted. */
  readonly onCounted?: ((tMs: number, admitted: boolean, state: unknown) => void) | undefined;
}

export function violationOf(hypothesis: Hypothesis, evidence: Evidence, options: ViolationOptions = {}): Violation {
  const rule = uncheckedRule(hypothesis.structure.definition(hypothesis.parameters));
  const states = new Map<string, unknown>();
  let [ms, sentMs] = [0, -1];
  for (const one of evidence.keys) {
    const found = new Replay(rule, hypothesis, evidence, one, options).run();
    states.set(one.key, found.state);
    if (found.ms > ms) [ms, sentMs] = [found.ms, found.sentMs];
    if (ms > (options.mostMs ?? Infinity)) break;
  }
  return { ms, sentMs, states };
}

class Replay {
  readonly #rule: Rule;
  readonly #state: unknown;
  readonly #options: ViolationOptions;
  readonly #one: KeyEvidence;
  readonly #evidence: Evidence;
  readonly #shiftMs: number;
  readonly #isInFlight: boolean;
  readonly #holds: boolean;
  readonly #countedAt: number;
  #nowMs = 0;
  #ms = 0;
  #sentMs = -1;
  /** Requests that the rule never answers so add up. */
  #never = 0;

  constructor(
    rule: Rule,
    { structure, parameters }: Hypothesis,
    evidence: Evidence,
    one: KeyEvidence,
    options: ViolationOptions,
  ) {
    this.#rule = rule;
    this.#options = options;
    this.#one = one;
    this.#evidence = evidence;
    this.#shiftMs = BASE_MS + parameters.shiftMs;
    this.#isInFlight = structure.isInFlight === true;
    this.#holds = structure.holds === true;
    this.#countedAt = parameters.countedAt;
    this.#state = rule.fresh(0);
  }

  run(): { readonly ms: number; readonly sentMs: number; readonly state: unknown } {
    const { admitted, limited } = this.#one;
    const { part = this.#countedAt, mostMs = Infinity } = this.#options;
    const { longestMs, isHeld } = this.#evidence;
    const most = isHeld && this.#holds ? longestMs : this.#evidence.thereMs;
    const [nA, nR] = [admitted.sent.length, limited.sent.length];
    const due = (k: number) => Math.min(admitted.answered[k]!, admitted.sent[k]! + most);
    // A request is counted on its way there; what an admitted one takes beyond that is what stands behind the limiter, or what it waited for.
    const nominalOf = ({ sent, answered }: Queue, k: number) => {
      const took = answered[k]! - sent[k]!;
      return sent[k]! + part * Math.min(took, part > 0.5 ? most : longestMs);
    };
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
          if (j < nR && limitedAt < at && limited.sent[j]! <= admitted.answered[i]!) this.#limit(limitedAt, j++);
          else {
            this.#violates(at === NEVER ? NEVER_SO : at - due(i), admitted.sent[i]!);
            if (at === NEVER) i += 1;
            else this.#admit(at, i++);
          }
        }
      } else {
        const t = Math.max(now, nominalLimited);
        const early = Math.max(now, limited.sent[j]!);
        if (!this.#admits(t)) this.#limit(t, j++);
        else if (early < t && !this.#admits(early)) this.#limit(early, j++);
        else {
          const other = i < nA ? Math.max(now, admitted.sent[i]!) : Infinity;
          if (other <= limited.answered[j]! && this.#admits(other)) this.#admit(other, i++);
          else {
            this.#violates(this.#tooLate(early), limited.sent[j]!);
            j += 1;
          }
        }
      }
    }
    return { ms: this.#ms, sentMs: this.#sentMs, state: this.#state };
  }

  #admits(t: number): boolean {
    return this.#rule.remaining(this.#state, t + this.#shiftMs) >= 1;
  }

  #nextAdmission(t: number): number {
    const at = this.#rule.nextAdmission(this.#state, t + this.#shiftMs, 1);
    return at === NEVER ? NEVER : Math.max(t, at - this.#shiftMs);
  }

  #admit(t: number, k: number): void {
    const { sent, answered } = this.#one.admitted;
    const { shortestMs, longestMs, isHeld } = this.#evidence;
    const heldMs = this.#isInFlight ? Math.max(0, answered[k]! - shortestMs / 2 - t) : 0;
    const delay = this.#rule.decide(this.#state, t + this.#shiftMs, 1, heldMs);
    this.#nowMs = t;
    this.#options.onCounted?.(t, true, this.#state);
    if (delay === LIMITED || this.#isInFlight) return;
    if (delay > 0) this.#violates(t + delay - answered[k]!, sent[k]!);
    if (isHeld && this.#holds) this.#violates(answered[k]! - t - delay - longestMs - HELD_SLACK_MS, sent[k]!);
  }

  #limit(t: number, _k: number): void {
    this.#rule.decide(this.#state, t + this.#shiftMs, 1, 0);
    this.#nowMs = t;
    this.#options.onCounted?.(t, false, this.#state);
  }

  /** How much earlier than `early` the rule would have refused. */
  #tooLate(early: number): number {
    const at = this.#nextAdmission(this.#nowMs);
    if (at > this.#nowMs) return at === NEVER ? 0 : Math.max(0, early - at);
    // It admits as soon as the last request is counted: by how much, says a look back in time, without the clock that stands still.
    const inner = (this.#state as { inner?: unknown }).inner;
    if (inner === undefined) return NEVER_SO;
    const view = { atMs: 0, inner };
    const refusedBefore = (ms: number) => this.#rule.remaining({ ...view }, this.#nowMs + this.#shiftMs - ms) < 1;
    let back = 0.25;
    while (back < LOOK_BACK_MS && !refusedBefore(back)) back *= 2;
    if (back >= LOOK_BACK_MS) return NEVER_SO;
    let low = back / 2;
    for (let k = 0; k < 4; k += 1) {
      const middle = (low + back) / 2;
      if (refusedBefore(middle)) back = middle;
      else low = middle;
    }
    return early - this.#nowMs + back;
  }

  #violates(ms: number, sentMs: number): void {
    if (ms >= NEVER_SO) this.#never += 1;
    const total = ms >= NEVER_SO ? this.#never * NEVER_SO : ms;
    if (total <= this.#ms) return;
    this.#ms = total;
    this.#sentMs = sentMs;
  }
}

const HELD_SLACK_MS = 10;
const LOOK_BACK_MS = 1_000_000;
