// The least that could count a window: a ring of counts and its sum.
export const THRESHOLD = 100;
export const WITHIN = 60;

export class BareRing {
  count = 0;
  private readonly ring = new Uint32Array(WITHIN);
  private cycle = 0;
  private slot = 0;

  decide(cycle: number): boolean {
    for (; this.cycle < cycle; this.cycle += 1) {
      this.slot = this.slot + 1 === WITHIN ? 0 : this.slot + 1;
      this.count -= this.ring[this.slot]!;
      this.ring[this.slot] = 0;
    }
    this.ring[this.slot]! += 1;
    this.count += 1;
    return this.count <= THRESHOLD;
  }
}
