// Several rules on the same requests, in one pass: each decides every request for itself.
//
//   requests   |||  | ||||   |
//   rule a     ||.  | |||.   |       limited 2, most in a second 3, longest closure 0.2 s
//   rule b     |||  | ||..   |       newly refused 1, newly admitted 1
import { type RuleDefinition, ruleOf } from '../limiter/rule/definition.js';
import { LIMITED, type Rule } from '../limiter/rule/rule.js';
import { type RefusalsOverTime, RefusalTimeline } from './refusal-timeline.js';

export interface Candidate {
  readonly name: string;
  readonly definition: RuleDefinition;
}

/** What a rule did. */
export interface ComparedRule {
  readonly name: string;
  readonly rule: RuleDefinition;
  readonly requests: number;
  readonly admitted: number;
  readonly limited: number;
  readonly limited_share: number;
  readonly keys_limited: number;
  /** The most requests of one key that started in any second of the log. */
  readonly worst_burst_1s: number;
  /** Jain's index over the admitted shares of the keys: 1 where all have the same, 1 / keys where one has everything. */
  readonly fairness: number;
  /** Refused requests of keys that were closed already: work of the client and of the gateway for nothing. */
  readonly wasted: number;
  /** The longest time from a refused request of a key until one would be admitted, as far as its requests show it. */
  readonly longest_closure_ms: number;
}

/** A key whose requests two rules decide differently. */
export interface ChangedKey {
  readonly key: string;
  readonly requests: number;
  readonly newly_refused: number;
  readonly newly_admitted: number;
}

const SECOND_MS = 1000;

/** One key under one rule. */
class Subject {
  admitted = 0;
  longestMs = 0;
  mostInSecond = 0;
  wasted = 0;
  readonly #state: unknown;
  readonly #rule: Rule;
  /** The first refused request since the last admitted one. */
  #closedMs = Number.NaN;
  /** When a request would be admitted, after the last refused one. */
  #opensMs = 0;
  /** Starts of the last second: times, and how many. */
  readonly #times: number[] = [];
  readonly #counts: number[] = [];
  #inSecond = 0;

  constructor(rule: Rule, state: unknown) {
    this.#rule = rule;
    this.#state = state;
  }

  /** @returns how many of `n` requests at `ms` are admitted: the first */
  decide(ms: number, n: number): number {
    let admitted = 0;
    for (let k = 0; k < n; k += 1) {
      const delay = this.#rule.decide(this.#state, ms, 1, 0);
      if (delay === LIMITED) continue;
      admitted += 1;
      this.#start(ms + delay);
    }
    this.admitted += admitted;
    if (admitted > 0) {
      this.#extend(Math.min(ms, this.#opensMs));
      this.#closedMs = Number.NaN;
    }
    if (admitted < n) {
      this.wasted += n - admitted - (Number.isNaN(this.#closedMs) ? 1 : 0);
      if (Number.isNaN(this.#closedMs)) this.#closedMs = ms;
      this.#opensMs = this.#rule.nextAdmission(this.#state, ms, 1);
      this.#extend(ms);
    }
    return admitted;
  }

  #extend(ms: number): void {
    if (!Number.isNaN(this.#closedMs)) this.longestMs = Math.max(this.longestMs, ms - this.#closedMs);
  }

  #start(ms: number): void {
    if (this.#times.at(-1) === ms) this.#counts[this.#counts.length - 1]! += 1;
    else {
      this.#times.push(ms);
      this.#counts.push(1);
    }
    this.#inSecond += 1;
    while (this.#times[0]! <= ms - SECOND_MS) {
      this.#times.shift();
      this.#inSecond -= this.#counts.shift()!;
    }
    this.mostInSecond = Math.max(this.mostInSecond, this.#inSecond);
  }
}

export class SideBySide {
  readonly #candidates: readonly Candidate[];
  readonly #rules: readonly Rule[];
  /** By key, then candidate. */
  readonly #subjects: Subject[][] = [];
  readonly #requestsOf: number[] = [];
  readonly #timeline: RefusalTimeline;
  /** By key: what the second candidate refuses or admits and the first does not. */
  readonly #changes = new Map<number, { refused: number; admitted: number }>();

  /** @throws Failure `invalid_definition` */
  constructor(candidates: readonly Candidate[]) {
    this.#candidates = candidates;
    this.#rules = candidates.map(({ definition }) => ruleOf(definition));
    this.#timeline = new RefusalTimeline(candidates.length);
  }

  /** Decides `n` requests of a key. Times ascend. */
  add(key: number, n: number, ms: number): void {
    this.#subjects[key] ??= this.#rules.map((rule) => new Subject(rule, rule.fresh(ms)));
    this.#requestsOf[key] = (this.#requestsOf[key] ?? 0) + n;
    const admitted = this.#subjects[key].map((subject) => subject.decide(ms, n));
    this.#timeline.add(ms, n, admitted);
    const [before = 0, after = before] = admitted;
    if (before === after) return;
    const change = this.#changes.get(key) ?? { refused: 0, admitted: 0 };
    change.refused += Math.max(0, before - after);
    change.admitted += Math.max(0, after - before);
    this.#changes.set(key, change);
  }

  compared(): ComparedRule[] {
    const requests = this.#requestsOf.reduce((sum, n) => sum + n, 0);
    return this.#candidates.map(({ name, definition }, index) => {
      const subjects = this.#subjects.map((each) => each[index]!);
      const shares = subjects.map(({ admitted }, key) => admitted / this.#requestsOf[key]!);
      const admitted = subjects.reduce((sum, subject) => sum + subject.admitted, 0);
      const most = (of: (subject: Subject) => number) => subjects.reduce((top, one) => Math.max(top, of(one)), 0);
      return {
        name,
        rule: definition,
        requests,
        admitted,
        limited: requests - admitted,
        limited_share: requests === 0 ? 0 : (requests - admitted) / requests,
        keys_limited: shares.filter((share) => share < 1).length,
        worst_burst_1s: most(({ mostInSecond }) => mostInSecond),
        fairness: jainIndex(shares),
        wasted: subjects.reduce((sum, subject) => sum + subject.wasted, 0),
        longest_closure_ms: most(({ longestMs }) => longestMs),
      };
    });
  }

  /** Where time is divided into up to 48 parts of equal length. */
  timeline(): RefusalsOverTime {
    return this.#timeline.over();
  }

  /** Keys that the second candidate decides differently from the first, those newly refused first. */
  changed(names: readonly string[]): ChangedKey[] {
    return [...this.#changes]
      .sort(([a, x], [b, y]) => y.refused - x.refused || y.admitted - x.admitted || a - b)
      .map(([key, { refused, admitted }]) => ({
        key: names[key]!,
        requests: this.#requestsOf[key]!,
        newly_refused: refused,
        newly_admitted: admitted,
      }));
  }
}

/**
 * `(sum x)^2 / (n sum x^2)`. Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination for Resource
 * Allocation in Shared Computer Systems, DEC-TR-301, 1984.
 */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}
