// A number that changes in steps, such as the length of a queue: its mean over time and its maximum.
//
//   3      ___
//   2   __|   |__        mean = area / time
//   1  |         |___
//      from          now

/** Changes arrive in order of time. */
export class Level {
  value = 0;
  max = 0;
  #areaMs = 0;
  #sinceMs: number;

  /** @param fromMs, untilMs the measured span, in unix ms */
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

  /** The integral of the value over time so far, in ms: the difference of two readings is the area between them. */
  areaMs(nowMs: number): number {
    return this.#areaMs + this.value * Math.max(0, Math.min(nowMs, this.untilMs) - this.#sinceMs);
  }

  /** 0 before the measured span. */
  mean(nowMs: number): number {
    const endMs = Math.min(nowMs, this.untilMs);
    return endMs > this.fromMs ? this.areaMs(nowMs) / (endMs - this.fromMs) : 0;
  }
}
