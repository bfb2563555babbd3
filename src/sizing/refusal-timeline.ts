// When several rules refuse: requests and refusals in parts of equal length, of a log whose end is not known before.
//
//   |a|b|c|d|e|f|  the seventh part would be one too many:  |a+b|c+d|e+f| |   the parts become twice as long

const MOST_PARTS = 48;
const FIRST_MS = 1000;

export interface RefusalsOverTime {
  /** Unix ms of the first part. */
  readonly startMs: number;
  readonly partMs: number;
  readonly requests: readonly number[];
  /** By rule, then part. */
  readonly refused: readonly (readonly number[])[];
}

export class RefusalTimeline {
  #startMs = Number.NaN;
  #partMs = FIRST_MS;
  #requests: number[] = [];
  #refused: number[][];

  constructor(rules: number) {
    this.#refused = Array.from({ length: rules }, () => []);
  }

  /** @param admitted of `n` requests, by rule. Times ascend. */
  add(ms: number, n: number, admitted: readonly number[]): void {
    if (Number.isNaN(this.#startMs)) this.#startMs = ms;
    while (ms - this.#startMs >= MOST_PARTS * this.#partMs) {
      this.#partMs *= 2;
      this.#requests = halved(this.#requests);
      this.#refused = this.#refused.map(halved);
    }
    const part = Math.floor((ms - this.#startMs) / this.#partMs);
    this.#requests[part] = (this.#requests[part] ?? 0) + n;
    for (let rule = 0; rule < admitted.length; rule += 1) {
      const ofRule = this.#refused[rule]!;
      ofRule[part] = (ofRule[part] ?? 0) + n - admitted[rule]!;
    }
  }

  over(): RefusalsOverTime {
    const filled = (counts: readonly number[]) => Array.from(this.#requests, (_, part) => counts[part] ?? 0);
    return {
      startMs: this.#startMs,
      partMs: this.#partMs,
      requests: filled(this.#requests),
      refused: this.#refused.map(filled),
    };
  }
}

function halved(counts: readonly number[]): number[] {
  return Array.from(
    { length: Math.ceil(counts.length / 2) },
    (_, part) => (counts[2 * part] ?? 0) + (counts[2 * part + 1] ?? 0),
  );
}
