// The effects of a rule on one key, request by request, and on all keys together.
//
//   requests   |||  | ||||   |
//   decided    ||.  | |||.   |       limited 2, most in a second 3, longest closure 0.2 s
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import type { ComparedRule, ComparedRules } from '../outcome/compared-rules.js';

export interface Candidate {
  readonly name: string;
  readonly definition: RuleDefinition;
}

const SECOND_MS = 1000;

export class KeyEffects {
  requests = 0;
  admitted = 0;
  mostInSecond = 0;
  wasted = 0;
  #closedMs = Number.NaN;
  /** When a request would be admitted after the last refusal; the refusal itself if never. */
  #opensMs = 0;
  #longestMs = 0;
  readonly #times: number[] = [];
  readonly #counts: number[] = [];
  #inSecond = 0;

  /** The longest time from a refusal until a request would be admitted, even if none arrives then. */
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

  /** Times ascend. @param opensMs when the next request would be admitted; called only after a refusal */
  decided(ms: number, n: number, admitted: number, opensMs: () => number): void {
    this.requests += n;
    this.admitted += admitted;
    if (admitted > 0) {
      // An admitted request ends the closure even if the last refusal had announced a later opening.
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

/** `(sum x)^2 / (n sum x^2)`: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984. */
export function jainIndex(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? 1 : Math.min(1, (sum * sum) / (shares.length * squares));
}

// Requests and refusals in parts of equal length, for a run of unknown length.
//
//   |a|b|c|d|e|f|  a seventh part would not fit:  |a+b|c+d|e+f| |   the parts double in length

const MOST_PARTS = 48;
const FIRST_MS = 1000;

export class RefusalTimeline {
  startMs = Number.NaN;
  partMs = FIRST_MS;
  requests: number[] = [];
  refused: number[] = [];

  add(ms: number, n: number, admitted: number): void {
    if (Number.isNaN(this.startMs)) this.startMs = ms;
    while (ms - this.startMs >= MOST_PARTS * this.partMs) this.#double();
    const part = Math.floor((ms - this.startMs) / this.partMs);
    this.requests[part] = (this.requests[part] ?? 0) + n;
    this.refused[part] = (this.refused[part] ?? 0) + n - admitted;
  }

  #double(): void {
    this.partMs *= 2;
    this.requests = halved(this.requests);
    this.refused = halved(this.refused);
  }

  /** Aligns the part lengths of timelines with the same start. Call it once. */
  static together(timelines: readonly RefusalTimeline[]): ComparedRules['timeline'] {
    const partMs = Math.max(FIRST_MS, ...timelines.map((one) => one.partMs));
    for (const one of timelines) while (one.partMs < partMs) one.#double();
    const length = Math.max(0, ...timelines.map(({ requests }) => requests.length));
    const filled = (counts: readonly number[]) => Array.from({ length }, (_, part) => counts[part] ?? 0);
    const startMs = timelines[0]?.startMs ?? 0;
    return {
      startMs: Number.isNaN(startMs) ? 0 : startMs,
      partMs,
      requests: timelines.map(({ requests }) => filled(requests)),
      refused: timelines.map(({ refused }) => filled(refused)),
    };
  }
}

function halved(counts: readonly number[]): number[] {
  return Array.from(
    { length: Math.ceil(counts.length / 2) },
    (_, part) => (counts[2 * part] ?? 0) + (counts[2 * part + 1] ?? 0),
  );
}
