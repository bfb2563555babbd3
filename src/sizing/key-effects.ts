// What a rule does to a key, request by request, and to all keys together.
//
//   requests   |||  | ||||   |
//   decided    ||.  | |||.   |       limited 2, most in a second 3, longest closure 0.2 s
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import type { ComparedRule } from '../outcome/compared-rules.js';

export interface Candidate {
  readonly name: string;
  readonly definition: RuleDefinition;
}

const SECOND_MS = 1000;

/** One key under one rule. Times ascend. */
export class KeyEffects {
  requests = 0;
  admitted = 0;
  mostInSecond = 0;
  wasted = 0;
  /** The first refused request since the last admitted one. */
  #closedMs = Number.NaN;
  /** When a request would be admitted, after the last refused one; that one where none would be. */
  #opensMs = 0;
  #longestMs = 0;
  /** Starts of the last second: times, and how many. */
  readonly #times: number[] = [];
  readonly #counts: number[] = [];
  #inSecond = 0;

  /** The longest time from a refused request until one would be admitted, whether the key comes back by then or not. */
  get longestMs(): number {
    return Number.isNaN(this.#closedMs) ? this.#longestMs : Math.max(this.#longestMs, this.#opensMs - this.#closedMs);
  }

  started(ms: number): void {
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

  /**
   * Of `n` requests at `ms` the first were admitted.
   * @param opensMs when a request would be admitted next: asked if one was refused
   */
  decided(ms: number, n: number, admitted: number, opensMs: () => number): void {
    this.requests += n;
    this.admitted += admitted;
    if (admitted > 0) {
      // The last refusal may have put it off: a request that did come and was admitted ends it, too.
      this.#opensMs = Math.min(ms, this.#opensMs);
      this.#longestMs = this.longestMs;
      this.#closedMs = Number.NaN;
    }
    if (admitted === n) return;
    this.wasted += n - admitted - (Number.isNaN(this.#closedMs) ? 1 : 0);
    if (Number.isNaN(this.#closedMs)) this.#closedMs = ms;
    const opens = opensMs();
    this.#opensMs = Number.isFinite(opens) ? opens : ms;
  }
}

export function comparedRule({ name, definition }: Candidate, keys: readonly KeyEffects[]): ComparedRule {
  const sum = (of: (key: KeyEffects) => number) => keys.reduce((total, key) => total + of(key), 0);
  const most = (of: (key: KeyEffects) => number) => keys.reduce((top, key) => Math.max(top, of(key)), 0);
  const requests = sum((key) => key.requests);
  const admitted = sum((key) => key.admitted);
  const shares = keys.filter((key) => key.requests > 0).map((key) => key.admitted / key.requests);
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
    wasted: sum(({ wasted }) => wasted),
    longest_closure_ms: most(({ longestMs }) => longestMs),
  };
}

/**
 * `(sum x)^2 / (n sum x^2)`. Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination for Resource
 * Allocation in Shared Computer Systems, DEC-TR-301, 1984.
 */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? 1 : Math.min(1, (sum * sum) / (shares.length * squares));
}
