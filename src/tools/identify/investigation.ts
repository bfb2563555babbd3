// Chooses probe after probe until one structure is left or no probe would help. Pure: a generator that yields probes and receives answers.
//
//   burst, twice as large each time ─► polls, farther apart each time ─► what fits ─► the probe that splits it most for its cost ─┐
//                                                                         ▲                                                      │
//                                                                         └──────────────────────────────────────────────────────┘

import { roundest } from '../../core/math/roundest.js';
import { type Evidence, evidenceOf, type Seen } from './evidence.js';
import { explanationsByRun, explanationsOf, type Investigated, isAlive, preferred, revivedOf } from './explanations.js';
import { type Fitted, fittedFrom, spreadOut } from './fit.js';
import { admittedBefore } from './order-verdict.js';
import type { Probe, Volley } from './probe.js';
import { Choices, type InvestigationOptions, type InvestigationState } from './probe-choice.js';
import { atSomePhase } from './ranges.js';
import { type Hypothesis, type Parameters, type Structure, windowMsOf } from './structure.js';
import { fine, simple, structures } from './structures.js';
import { onlyTested } from './tested.js';
import { TOLERANCE_MS, violationOf } from './violation.js';

/** Without a volley, only the time is asked. */
export interface Ask {
  readonly probe: Probe;
  readonly restMs: number;
  readonly key: string;
}

/** `isOver`: no further probe is allowed. */
export interface Answered {
  readonly seen: readonly Seen[];
  /** When the last answer came; if the time was asked, when the next probe can be sent. */
  readonly nowMs: number;
  readonly isOver?: boolean | undefined;
}

export type InvestigationSteps = Generator<Ask, Investigated, Answered>;

export function* investigate(options: InvestigationOptions): InvestigationSteps {
  const investigation = new Investigation(options);
  yield* investigation.findLimit();
  if (!investigation.isLimited) return investigation.result(investigation.isOver ? 'stopped' : 'never limited');
  yield* investigation.findRecovery();
  return yield* investigation.narrow();
}

const BURST_SHARE = 0.5;
const SOONER = 0.2;
const LATER = 4;
const LEAST_REST_MS = 10_000;
const MOST_SEARCHES = 3;
/** Time kept for the search after the last probe, as a multiple of the longest before. */
const RESERVED = 2;

/** The roundest period of a grid is looked for so near: after a rest several periods explain the answers, each with a phase of its own. */
const NEAR = 0.03;

/** As it fits best, and with the roundest time. */
function usesOf({ best, ranges: { spanMs } }: Fitted, whole: Evidence): Hypothesis[] {
  const { structure, parameters } = best;
  const margin = structure.period === undefined ? 0 : NEAR;
  const round = roundest(spanMs.least * (1 - margin), spanMs.most * (1 + margin), parameters.spanMs);
  if (structure.period === undefined) return [best, { structure, parameters: { ...parameters, spanMs: round } }];
  const free = withoutUse(whole, best);
  const violation = (one: Parameters, mostMs: number) =>
    violationOf({ structure, parameters: one }, free, { mostMs }).ms;
  const found = atSomePhase(structure, { ...parameters, spanMs: round }, violation, TOLERANCE_MS);
  return found === undefined ? [best] : [best, { structure, parameters: found }];
}

/** Ignores refusals caused by earlier traffic. */
function withoutUse(whole: Evidence, best: Hypothesis): Evidence {
  const windows = best.structure.window?.isEstimate ? 2 : 1;
  const untilMs = whole.seen[0]!.sentMs + windows * windowMsOf(best);
  const seen = whole.seen.filter(({ decision, sentMs }) => decision === 'admitted' || sentMs > untilMs);
  return evidenceOf(seen, whole);
}

class Investigation {
  readonly #seen: Seen[] = [];
  #fitted: Fitted[] = [];
  #alive: Fitted[] = [];
  #evidence: Evidence = evidenceOf([]);
  #nowMs = 0;
  #fromMs: number | undefined;
  #keys = 0;
  #first = 0;
  /** The longest search between two probes. */
  #searchMs = 0;
  isOver = false;
  readonly #searched = new Map<string, Fitted>();
  /** Former explanations that are now near misses: another order of counting may explain the answers. */
  readonly #nearMisses = new Map<string, Fitted>();
  readonly #choices: Choices;
  /** Numbers of answers at which `explanationsByRun` searched all structures. */
  readonly #runSearchesAt: number[] = [];
  /** Number of answers at which `#repeat` rested. */
  #repeatedAt: number | undefined;
  #leftOut: readonly Seen[] = [];
  #nearestToAll: Fitted | undefined;

  constructor(readonly options: InvestigationOptions) {
    this.#choices = new Choices(options);
  }

  get isLimited(): boolean {
    return this.#seen.some(({ decision }) => decision === 'limited');
  }

  *findLimit(): Generator<Ask, void, Answered> {
    let sent = 0;
    for (let n = 1; !this.isOver && !this.isLimited; n = Math.min(2 * n, 512)) {
      const left = Math.floor(this.options.budget * BURST_SHARE) - sent;
      if (left <= 0) return;
      const size = Math.min(n, left);
      sent += size;
      yield* this.#ask({ words: 'a burst, for the limit', volleys: [{ atMs: 0, n: size }] }, 0);
    }
    this.#first = this.#seen.filter(({ decision }) => decision === 'admitted').length;
  }

  /** Polls until one is admitted, bursts for what has come back, and polls again: the second recovery takes a whole period. */
  *findRecovery(): Generator<Ask, void, Answered> {
    const recoveredMs = yield* this.#poll(0);
    if (recoveredMs === undefined) return;
    for (const n of [1, 2, 4]) {
      if (this.isOver || this.#left().requests <= 3 * n) break;
      yield* this.#ask({ words: 'a burst, for what has come back', volleys: [{ atMs: 0, n }] }, 0);
      if (this.#seen.slice(-n).some(({ decision }) => decision === 'limited')) break;
    }
    // The second recovery takes about as long as the first, or less.
    if (!this.isOver) yield* this.#poll(SOONER * recoveredMs);
  }

  /** @returns time until one was admitted, in ms; undefined if none was */
  *#poll(fromMs: number): Generator<Ask, number | undefined, Answered> {
    const { requests, timeMs } = this.#left();
    const { length: before } = this.#seen;
    const volleys: Volley[] = [];
    const firstMs = Math.max(4, evidenceOf(this.#seen).shortestMs / 2, fromMs);
    for (let atMs = firstMs; atMs < timeMs / 3 && volleys.length < requests / 3; atMs *= 2)
      volleys.push({ atMs, n: 1 });
    if (volleys.length === 0) return undefined;
    yield* this.#ask({ words: 'polls, for when it admits again', volleys, until: 'admitted' }, 0);
    const last = this.#seen.at(-1);
    return last?.decision === 'limited' ? undefined : last!.sentMs - this.#seen[before]!.sentMs;
  }

  /** Simple structures first; before an answer, all are fitted to all answers. */
  *narrow(): Generator<Ask, Investigated, Answered> {
    let among: readonly Structure[] = simple;
    let searches = 0;
    let isComplete = false;
    for (;;) {
      if (!isComplete) this.#refit(among);
      yield* this.#lookAtClock();
      if (this.isOver) return this.result('stopped');
      if (this.#left().timeMs <= 0) return this.result('time');
      const next = this.#alive.length === 0 ? undefined : this.#choices.next(this.#state);
      if (typeof next === 'object') {
        isComplete = false;
        yield* this.#ask(next.probe, next.restMs, next.isFresh);
        continue;
      }
      if (isComplete || searches === MOST_SEARCHES) {
        // Revived structures are probed again: the order of counting that excluded them may be wrong.
        isComplete = (!isComplete && this.#revive()) || this.#hasFoundMore();
        if (isComplete) continue;
        yield* this.#lookAtClock();
        const last = this.#choices.distinguishing(this.#state) ?? this.#choices.confirming(this.#state);
        searches = Math.min(searches, MOST_SEARCHES - 1);
        if (last !== undefined) yield* this.#ask(last.probe, last.restMs, last.isFresh);
        else if (this.#isOdd() && this.#repeatedAt === undefined) yield* this.#repeat();
        else if (this.#alive.length === 0 && this.#leaveOut()) {
          among = simple;
          searches = 0;
          if (!this.isLimited) yield* this.findLimit();
          if (this.isLimited && this.#seen.at(-1)!.decision === 'limited') yield* this.findRecovery();
        } else return this.result(next ?? 'settled');
        continue;
      }
      searches += 1;
      isComplete = true;
      among = structures;
      this.#refit(structures, true);
      this.#revive();
    }
  }

  /** Nothing explains the answers, or only rules that are rare: the limiter may have been in use. */
  #isOdd(): boolean {
    return this.#alive.every(({ best }) => best.structure.isFine);
  }

  *#repeat(): Generator<Ask, void, Answered> {
    this.#repeatedAt = this.#seen.length;
    const { requests, timeMs } = this.#left();
    const laterMs = this.#alive.length === 0 ? LATER * (this.#nowMs - this.#fromMs!) : 0;
    const restMs = Math.min(timeMs / 4, Math.max(LEAST_REST_MS, laterMs));
    const n = Math.min(this.#first + 1, requests);
    if (n > 0) yield* this.#ask({ words: 'a burst, much later', volleys: [{ atMs: 0, n }] }, restMs);
    yield* this.findRecovery();
  }

  /** Leaves out the answers before the rest of `#repeat`: the limiter may have been in use before them, and as new after it. */
  #leaveOut(): boolean {
    if (this.#leftOut.length > 0 || this.#repeatedAt === this.#seen.length) return false;
    this.#leftOut = this.#seen.splice(0, this.#repeatedAt);
    this.#nearestToAll = this.#fitted[0];
    this.#evidence = evidenceOf([]);
    this.#nearMisses.clear();
    this.#runSearchesAt.length = 0;
    return true;
  }

  /** Searches further explanations with `explanationsByRun`: following the violation found none. */
  #hasFoundMore(): boolean {
    const most = this.#alive.length === 0 ? MOST_SEARCHES : 1;
    if (this.#runSearchesAt.length >= most || this.#runSearchesAt.at(-1) === this.#seen.length) return false;
    this.#runSearchesAt.push(this.#seen.length);
    const before = new Set(this.#alive.map(({ best }) => best.structure));
    const found = explanationsByRun(
      this.#evidence,
      structures.filter((one) => !before.has(one)),
    );
    this.#alive = preferred([...this.#alive, ...found], this.#evidence);
    return this.#alive.some(({ best }) => !before.has(best.structure));
  }

  #revived(): Fitted[] {
    const alive = new Set(this.#alive.map(({ best }) => best.structure.id));
    const nearMisses = [...this.#nearMisses.values()].filter(({ best }) => !alive.has(best.structure.id));
    return revivedOf(nearMisses, evidenceOf(this.#seen));
  }

  #revive(): boolean {
    const revived = this.#revived();
    for (const { best } of revived) this.#nearMisses.delete(best.structure.id);
    if (revived.length > 0) this.#alive = preferred([...this.#alive, ...revived], this.#evidence);
    return revived.length > 0;
  }

  result(ended: Investigated['ended']): Investigated {
    const found = this.#explained(ended);
    return { ...found, ...onlyTested(found.alive, found.evidence) };
  }

  #explained(ended: Investigated['ended']): Investigated {
    const evidence = evidenceOf(this.#seen);
    const alive = preferred([...this.#alive, ...this.#revived()], evidence);
    const elapsedMs = this.#nowMs - (this.#fromMs ?? this.#nowMs);
    const found = { evidence, alive, nearest: this.#fitted[0], elapsedMs, ended };
    if (this.#leftOut.length === 0) return found;
    const whole = evidenceOf([...this.#leftOut, ...this.#seen]);
    const among = alive.map(({ best }) => best.structure);
    const ofAll = explanationsOf(whole, [], among).filter(isAlive);
    if (ofAll.length > 0) return { ...found, evidence: whole, alive: preferred(ofAll, whole) };
    const used = alive.flatMap((one) => {
      const explaining = usesOf(one, whole).flatMap((use) => {
        const admitted = admittedBefore(use, whole);
        const fit = use === one.best ? one : fittedFrom([use], use.structure, evidence);
        return admitted === undefined || !isAlive(fit) ? [] : [{ one: fit, admitted }];
      });
      return explaining.slice(0, 1);
    });
    if (used.length === 0) return { ...found, evidence: whole, alive: [], nearest: this.#nearestToAll };
    const usedBefore = { answers: this.#leftOut.length, admitted: used[0]!.admitted };
    return { ...found, alive: used.map(({ one }) => one), usedBefore };
  }

  get #key(): string {
    return `weir-${this.#keys}`;
  }

  #left(): { readonly requests: number; readonly timeMs: number } {
    const { budget, timeMs } = this.options;
    return {
      requests: budget - this.#leftOut.length - this.#seen.length,
      timeMs: timeMs - (this.#nowMs - (this.#fromMs ?? this.#nowMs)) - RESERVED * this.#searchMs,
    };
  }

  *#ask(probe: Probe, restMs: number, isFresh = false): Generator<Ask, void, Answered> {
    if (isFresh) this.#keys += 1;
    const { seen, nowMs, isOver = false } = yield { probe, restMs, key: this.#key };
    this.#fromMs ??= seen[0]?.sentMs ?? nowMs;
    this.#seen.push(...seen);
    this.#nowMs = nowMs;
    this.isOver ||= isOver;
  }

  /** A search takes seconds on a busy machine: the next probe is planned from its end on. */
  *#lookAtClock(): Generator<Ask, void, Answered> {
    const fromMs = this.#nowMs;
    yield* this.#ask({ words: 'the time', volleys: [] }, 0);
    this.#searchMs = Math.max(this.#searchMs, this.#nowMs - fromMs);
  }

  /** Refits the former explanations; all structures if none of them explains the answers now. */
  #refit(among: readonly Structure[], isAnew = false): void {
    let candidates = isAnew ? [] : this.#alive.map(({ best }) => best.structure);
    if (this.#evidence.seen.length !== this.#seen.length) {
      const { isHeld } = this.#evidence;
      this.#evidence = evidenceOf([...this.#seen]);
      this.#searched.clear();
      // Rules that hold requests were not considered, or were given up because too few were held.
      if (this.#evidence.isHeld && !isHeld) candidates = [];
    }
    const nearMs = TOLERANCE_MS + this.#evidence.widestMs;
    const before = new Set(this.#alive.map(({ best }) => best.structure.id));
    const attempt = (structures_: readonly Structure[]) => {
      this.#fitted = explanationsOf(this.#evidence, this.#alive, structures_, isAnew, this.#searched);
      for (const one of this.#fitted) {
        const { id } = one.best.structure;
        if (before.has(id) && !isAlive(one) && one.violationMs <= nearMs) this.#nearMisses.set(id, one);
      }
      return preferred(this.#fitted.filter(isAlive), this.#evidence);
    };
    const alive = candidates.length === 0 ? [] : attempt(candidates);
    this.#alive = alive.length > 0 ? alive : attempt(among);
    const others = among === structures ? [] : [...new Set(fine.map(({ family }) => family))];
    for (const family of others) {
      if (this.#alive.length > 0) break;
      this.#alive = attempt(fine.filter((one) => one.family === family));
    }
    this.#alive = this.#alive.map((one) => spreadOut(one, this.#evidence));
  }

  get #state(): InvestigationState {
    const [alive, evidence, left, nowMs, key] = [this.#alive, this.#evidence, this.#left(), this.#nowMs, this.#key];
    return { alive, evidence, left, nowMs, key };
  }
}
