// Whether a limiter of a given rule could have given the answers that were seen, when nobody knows the instant at which it counted each
// request. Pure.
//
//   a request     sent |-----------?-----------| answered        counted once, somewhere in between
//   without answer  sent |-----------?--------------------- ...   counted later, or never
//   cycles      |    7    |    8    |    9    |                   of the limiter; their phase is not known either
//
// Variables are the requests counted by the end of each cycle, admitted and limited ones apart; each is known within bounds. A rule
// gives the load of a cycle, that is what its admitted requests and all before them take of the limit. From there bounds are
// narrowed in turn:
//
//   something admitted in the cycle:  load <= limit
//   something limited in the cycle:   load >= limit
//
// Where no value is left, no order of counting explains the answers. Every step only removes what cannot be, so a limiter of the rule
// is never found to differ. The reverse does not hold: where values are left there may still be no order.
//
// The phase is searched by halves: a range of phases that is not refuted is cut in two, down to a small part of a cycle.
import type { Counted, CycleRule, Range } from './cycle-rule.js';
import { type Placed, placedIn, quickestMs, type SeenRequest, WAY_SHARES, withoutWay } from './placed-requests.js';

export type Explanation =
  /**
   * `undecided`: how many requests could have been admitted or limited alike, as far as what was counted is known, if each was under way
   * for at least `wayMs` there and back. 0 is certain; what is refuted is refuted for 0.
   */
  | { readonly type: 'explained'; readonly undecided: number; readonly wayMs: number }
  | { readonly type: 'refuted'; readonly by: Refutation };

/** The cycle in which no order of counting is left. */
export interface Refutation {
  /** When the first request was sent that may have been counted in it. */
  readonly sentMs: number;
  /** How many of the requests admitted can have been counted in it. */
  readonly admitted: Range;
  /** What the rule admits. */
  readonly room: Range;
}

/** Phases are distinguished down to this part of a cycle. */
const FINEST = 1 / 64;

/**
 * Whether one of the rules could have given the answers.
 * @param rules at least one; a refutation is that of the first, in cycles that begin at multiples of their length
 * @param slackMs how far instants may be off, in ms, at least 0
 */
export function explain(requests: readonly SeenRequest[], rules: readonly CycleRule[], slackMs: number): Explanation {
  let best = explainFor(requests, rules, slackMs, 0);
  const least = quickestMs(requests);
  for (const wayMs of WAY_SHARES.map((share) => share * least)) {
    if (best.type === 'refuted' || saysEnough(best, requests) || wayMs < 1) break;
    const found = explainFor(requests, rules, slackMs, wayMs);
    if (found.type === 'explained' && found.undecided < best.undecided) best = found;
  }
  return best;
}

/** From this share of the requests on, what could have been decided either way is as much as what is known. */
const TOO_UNCERTAIN = 0.5;

/** Whether most requests could not have been decided otherwise. */
export function saysEnough(found: Explanation, requests: readonly SeenRequest[]): boolean {
  return found.type === 'explained' && (requests.length === 0 || found.undecided < requests.length * TOO_UNCERTAIN);
}

function explainFor(
  seen: readonly SeenRequest[],
  rules: readonly CycleRule[],
  slackMs: number,
  wayMs: number,
): Explanation {
  const requests = withoutWay(seen, wayMs);
  for (const rule of rules) {
    const found = search(requests, rule, slackMs, 0, rule.isByCycle ? 1 : 0);
    if (found.type === 'explained') return { ...found, wayMs };
  }
  return new Bounds(requests, rules[0]!, slackMs, 0, 0).narrow();
}

/** Phases in [from, to), as parts of a cycle. */
function search(
  requests: readonly SeenRequest[],
  rule: CycleRule,
  slackMs: number,
  from: number,
  to: number,
): Explanation {
  const found = new Bounds(requests, rule, slackMs, from, to).narrow();
  if (found.type === 'refuted' || !rule.isByCycle || to - from <= FINEST) return found;
  const middle = (from + to) / 2;
  const first = search(requests, rule, slackMs, from, middle);
  return first.type === 'explained' ? first : search(requests, rule, slackMs, middle, to);
}

/** Requests counted by the end of each cycle; index 0 is the cycle before the first. */
interface Cumulative {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

const MOST_ROUNDS = 200;

class Bounds implements Counted {
  readonly #rule: CycleRule;
  readonly #before: number;
  readonly #cycles: number;
  readonly #placed: readonly Placed[];
  readonly #admitted: Cumulative;
  readonly #limited: Cumulative;
  /** Requests without an answer that may have been counted by the end of a cycle. */
  readonly #unknown: Float64Array;
  #isChanged = false;
  #refuted: Refutation | undefined;

  constructor(requests: readonly SeenRequest[], rule: CycleRule, slackMs: number, from: number, to: number) {
    this.#rule = rule;
    const placed = placedIn(rule, requests, slackMs, from, to);
    this.#placed = placed;
    this.#before = placed.reduce((least, { earliest }) => Math.min(least, earliest), Number.POSITIVE_INFINITY) - 1;
    const last = placed.reduce(
      (most, { earliest, latest }) => Math.max(most, earliest, Number.isFinite(latest) ? latest : earliest),
      this.#before,
    );
    this.#cycles = last - this.#before;
    this.#admitted = this.#cumulative(placed, 'admitted');
    this.#limited = this.#cumulative(placed, 'limited');
    this.#unknown = this.#cumulative(placed, 'unknown').most;
  }

  admitted(from: number, to: number): Range {
    const { least, most } = this.#between(this.#admitted, from, to);
    return { least, most: most + this.#unknown[this.#index(to)]! };
  }

  limited(from: number, to: number): Range {
    return this.#between(this.#limited, from, to);
  }

  narrow(): Explanation {
    let rounds = 0;
    do {
      this.#isChanged = false;
      this.#keepAscending(this.#admitted);
      this.#keepAscending(this.#limited);
      for (let index = 1; index <= this.#cycles && this.#refuted === undefined; index += 1) this.#applyRule(index);
      if (this.#refuted !== undefined) return { type: 'refuted', by: this.#refuted };
      rounds += 1;
    } while (this.#isChanged && rounds < MOST_ROUNDS);
    return { type: 'explained', undecided: this.#undecided(), wayMs: 0 };
  }

  /** The two conditions of the head of this file, for one cycle. */
  #applyRule(index: number): void {
    const { limit } = this.#rule;
    const [admitted, limited] = [this.#admitted, this.#limited];
    const before = index - 1;
    const load = this.#load(index, index);
    const room = this.#room(index);
    if (load.least > limit) {
      this.#atMost(admitted, index, admitted.most[before]!);
      this.#atLeast(admitted, before, admitted.least[index]!);
    }
    if (load.least <= limit) this.#atMost(admitted, index, Math.max(admitted.most[before]!, this.#mostWithin(index)));
    this.#atMost(admitted, index, admitted.most[before]! + room.most);
    this.#atLeast(admitted, before, admitted.least[index]! - room.most);
    if (load.most < limit) {
      this.#atMost(limited, index, limited.most[before]!);
      this.#atLeast(limited, before, limited.least[index]!);
    } else if (limited.least[index]! > limited.most[before]!) {
      const lost = this.#unknown[index]!;
      this.#atLeast(admitted, index, this.#leastReaching(index));
      this.#atLeast(admitted, index, admitted.least[before]! + room.least - lost);
      this.#atMost(admitted, before, admitted.most[index]! - room.least + lost);
    }
  }

  /** The most that can be admitted by the end of the cycle so that its load is within the limit. */
  #mostWithin(index: number): number {
    const { least, most } = this.#admitted;
    const known = least[index]!;
    let [fits, end] = [known, most[index]!];
    while (fits < end) {
      const tried = Math.ceil((fits + end) / 2);
      least[index] = tried;
      if (this.#load(index, index).least <= this.#rule.limit) fits = tried;
      else end = tried - 1;
    }
    least[index] = known;
    return fits;
  }

  /** The least that must be admitted by the end of the cycle so that its load can reach the limit. */
  #leastReaching(index: number): number {
    const { least, most } = this.#admitted;
    const known = most[index]!;
    let [start, reaches] = [least[index]!, known];
    while (start < reaches) {
      const tried = Math.floor((start + reaches) / 2);
      most[index] = tried;
      if (this.#load(index, index).most >= this.#rule.limit) reaches = tried;
      else start = tried + 1;
    }
    most[index] = known;
    return reaches;
  }

  #load(index: number, admittedTo: number): Range {
    return this.#rule.load(this.#before + index, this.#before + admittedTo, this);
  }

  /** How many requests the cycle can admit. */
  #room(index: number): Range {
    const { least, most } = this.#load(index, index - 1);
    return { least: Math.max(0, this.#rule.limit - most), most: Math.max(0, this.#rule.limit - least) };
  }

  #atMost({ least, most }: Cumulative, index: number, value: number): void {
    if (most[index]! <= value) return;
    most[index] = value;
    this.#isChanged = true;
    if (least[index]! > value) this.#refute(Math.max(1, index));
  }

  #atLeast({ least, most }: Cumulative, index: number, value: number): void {
    if (least[index]! >= value) return;
    least[index] = value;
    this.#isChanged = true;
    if (most[index]! < value) this.#refute(Math.max(1, index));
  }

  #refute(index: number): void {
    if (this.#refuted !== undefined) return;
    const cycle = this.#before + index;
    let [least, most, sentMs] = [0, 0, Number.POSITIVE_INFINITY];
    for (const { request, earliest, latest } of this.#placed) {
      if (earliest > cycle || latest < cycle || request.decision === 'unknown') continue;
      sentMs = Math.min(sentMs, request.sentMs);
      if (request.decision !== 'admitted') continue;
      most += 1;
      if (earliest === latest) least += 1;
    }
    this.#refuted = { sentMs, admitted: { least, most }, room: this.#room(index) };
  }

  #undecided(): number {
    let undecided = 0;
    for (let index = 1; index <= this.#cycles; index += 1) {
      const cycle = this.#before + index;
      const n = this.admitted(cycle, cycle).most + this.limited(cycle, cycle).most;
      if (n === 0) continue;
      const { least, most } = this.#room(index);
      undecided += Math.min(most, n) - Math.min(least, n);
    }
    return undecided;
  }

  #keepAscending({ least, most }: Cumulative): void {
    for (let index = 1; index <= this.#cycles; index += 1) {
      if (least[index]! < least[index - 1]!) least[index] = least[index - 1]!;
    }
    for (let index = this.#cycles; index > 0; index -= 1) {
      if (most[index - 1]! > most[index]!) most[index - 1] = most[index]!;
    }
    const broken = least.findIndex((value, index) => value > most[index]!);
    if (broken >= 0) this.#refute(Math.max(1, broken));
  }

  #between({ least, most }: Cumulative, from: number, to: number): Range {
    if (to < from) return { least: 0, most: 0 };
    const [a, b] = [this.#index(from - 1), this.#index(to)];
    return { least: Math.max(0, least[b]! - most[a]!), most: most[b]! - least[a]! };
  }

  #index(cycle: number): number {
    return Math.max(0, Math.min(this.#cycles, cycle - this.#before));
  }

  #cumulative(placed: readonly Placed[], decision: SeenRequest['decision']): Cumulative {
    const least = new Float64Array(this.#cycles + 1);
    const most = new Float64Array(this.#cycles + 1);
    for (const { request, earliest, latest } of placed) {
      if (request.decision !== decision) continue;
      most[earliest - this.#before]! += 1;
      if (latest - this.#before <= this.#cycles) least[Math.max(1, latest - this.#before)]! += 1;
    }
    for (let index = 1; index <= this.#cycles; index += 1) {
      least[index]! += least[index - 1]!;
      most[index]! += most[index - 1]!;
    }
    return { least, most };
  }
}
