// Requests and refusals in parts of equal length, for a run of unknown length.
//
//   |a|b|c|d|e|f|  a seventh part would not fit:  |a+b|c+d|e+f| |   the parts double in length
import type { ComparedRules } from '../outcome/compared-rules.js';

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
