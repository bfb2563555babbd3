// The rules of the limiter written as slowly and plainly as possible: a list of every event, looked through at each step.
// The model against which the real gate is held.

export interface NaiveDecision {
  readonly admitted: number;
  readonly limited: number;
}

export interface NaiveTransition {
  readonly cycle: number;
  readonly to: 'allowing' | 'limiting';
  readonly count: number;
}

export class NaiveLimiter {
  state: 'allowing' | 'limiting' = 'allowing';
  readonly transitions: NaiveTransition[] = [];
  private events: number[] = [];
  private heldUntil = Number.NEGATIVE_INFINITY;

  constructor(
    public threshold: number,
    public within: number,
    public cycle: number,
  ) {}

  get count(): number {
    return this.events.filter((at) => at > this.cycle - this.within).length;
  }

  advance(cycle: number): void {
    while (this.cycle < cycle) {
      this.cycle += 1;
      this.evaluate();
    }
  }

  decide(n: number, cycle: number): NaiveDecision {
    this.advance(cycle);
    return this.decideAt(n, cycle);
  }

  decideAt(n: number, happened: number): NaiveDecision {
    let admitted = 0;
    for (let event = 0; event < n; event += 1) {
      this.events.push(happened);
      this.evaluate();
      if (this.state === 'allowing') admitted += 1;
    }
    return { admitted, limited: n - admitted };
  }

  /** From now on by other numbers. What has left the window is gone, also for a longer one. */
  change(threshold: number, within: number): void {
    const least = Math.min(this.within, within);
    this.events = this.events.filter((at) => at > this.cycle - least);
    [this.threshold, this.within] = [threshold, within];
  }

  hold(state: 'allowing' | 'limiting', cycles: number): void {
    this.state = state;
    this.heldUntil = this.cycle + cycles;
  }

  copy(): NaiveLimiter {
    const other = new NaiveLimiter(this.threshold, this.within, this.cycle);
    other.state = this.state;
    other.heldUntil = this.heldUntil;
    other.events.push(...this.events);
    return other;
  }

  private evaluate(): void {
    if (this.cycle < this.heldUntil) return;
    const { count } = this;
    if (this.state === 'allowing' && count > this.threshold) this.move('limiting', count);
    else if (this.state === 'limiting' && count <= this.threshold) this.move('allowing', count);
  }

  private move(to: 'allowing' | 'limiting', count: number): void {
    this.state = to;
    this.transitions.push({ cycle: this.cycle, to, count });
  }
}
