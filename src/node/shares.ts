// How much of something each has, by name, and all together: owners, addresses, networks of addresses.
import { poolOf, type Room } from './limits.js';

export class Shares {
  readonly #byName = new Map<string, number>();
  all = 0;

  of(name: string): number {
    return this.#byName.get(name) ?? 0;
  }

  /** One that has nothing left is forgotten. @param by below 0 to take away */
  add(name: string, by: number): void {
    const sum = this.of(name) + by;
    if (sum === 0) this.#byName.delete(name);
    else this.#byName.set(name, sum);
    this.all += by;
  }

  /** How much a pool may have, given what all others have. */
  roomOf(pool: string, room: Room): number {
    return poolOf(room, this.all - this.of(pool));
  }
}
