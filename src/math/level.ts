// A number that changes in steps: its mean over time and its maximum.
//
//   3      ___
//   2   __|   |__        mean = area / time
//   1  |         |___
//      from          now

/** For example the length of a queue, or the number of busy servers. Changes arrive in order of time. */
export class Level {
  value = 0;
  max = 0;
  #areaMs = 0;
  #sinceMs: number;

  /** @param fromMs, untilMs only this span is measured; unix ms */
  constructor(
    readonly fromMs: number,
    readonly untilMs = Number.POSITIVE_INFINITY,
  ) {
    this.#sinceMs = fromMs;
  }

  change(by: number, nowMs: number): void {
    this.#areaMs = this.areaMs(nowMs);
    if (nowMs > this.#sinceMs) this.#sinceMs = nowMs;
    this.value += by;
    if (nowMs >= this.fromMs && this.value > this.max) this.max = this.value;
  }

  /** The integral of the value over the time measured, in ms: the difference of two readings is the area between them. */
  areaMs(nowMs: number): number {
    return this.#areaMs + this.value * Math.max(0, Math.min(nowMs, this.untilMs) - this.#sinceMs);
  }

  /** The mean over the time measured; 0 before that. */
  mean(nowMs: number): number {
    const endMs = Math.min(nowMs, this.untilMs);
    return endMs > this.fromMs ? this.areaMs(nowMs) / (endMs - this.fromMs) : 0;
  }
}
