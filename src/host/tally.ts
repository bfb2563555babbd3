// Owns the figures of one contract since it came alive: requests, decisions, entries, restores, the peak of its window.

export class Tally {
  requests = 0;
  limited = 0;
  /** Times the contract went from a state that admits to one that does not, and back. */
  entries = 0;
  restores = 0;
  /** Sum over finished stretches of (restore cycle - entry cycle). */
  limitingCycles = 0;
  peakCount = 0;
  /** First cycle with the peak; undefined before the first event. */
  peakCycle: number | undefined;
  private limitingSince = 0;

  get admitted(): number {
    return this.requests - this.limited;
  }

  events(n: number, admitted: number, count: number, cycle: number): void {
    this.requests += n;
    this.limited += n - admitted;
    if (count > this.peakCount) {
      this.peakCount = count;
      this.peakCycle = cycle;
    }
  }

  moved(admittedBefore: boolean, admits: boolean, cycle: number): void {
    if (admittedBefore && !admits) {
      this.entries += 1;
      this.limitingSince = cycle;
    } else if (!admittedBefore && admits) {
      this.restores += 1;
      this.limitingCycles += cycle - this.limitingSince;
    }
  }

  /** The limiting cycles with a stretch that is not over yet counted up to `cycle`. */
  limitingCyclesUntil(cycle: number, admits: boolean): number {
    return this.limitingCycles + (admits ? 0 : cycle - this.limitingSince);
  }
}
