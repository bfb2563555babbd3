// The client throttle of "Site Reliability Engineering" (O'Reilly 2016, chapter 21), over the last two minutes:
//
//   P(refused) = max(0, (requests - k * accepts) / (requests + 1))
//
//   requests   of the client, refused ones by the throttle included
//   accepts    answered by the service other than by a refusal
import type { RandomStream } from '../../../math/random.js';
import type { AttemptEnd } from '../retry-limit.js';
import { SlicedCounts } from '../sliced-counts.js';
import { type ClientGate, type GateAnswer, open, refused } from './client-gate.js';

export class Throttle implements ClientGate {
  readonly #k: number;
  readonly #counts: SlicedCounts;

  constructor(k: number, overMs: number, startMs: number) {
    this.#k = k;
    this.#counts = new SlicedCounts(overMs, startMs);
  }

  enter(nowMs: number, draw: RandomStream): GateAnswer {
    const counts = this.#counts;
    counts.advance(nowMs);
    const p = (counts.requests - this.#k * counts.others) / (counts.requests + 1);
    counts.countRequest(nowMs);
    return p > 0 && draw.uniform() < p ? refused : open;
  }

  ended({ type, nowMs }: AttemptEnd): void {
    if (type === 'served') this.#counts.countOther(nowMs);
  }
}
