// Amounts by name and in total: for owners, addresses, networks of addresses.
import { type Room, roomOfNetwork } from './limits.js';

export class Shares {
  readonly #byName = new Map<string, number>();
  all = 0;

  of(name: string): number {
    return this.#byName.get(name) ?? 0;
  }

  add(name: string, by: number): void {
    const sum = this.of(name) + by;
    if (sum === 0) this.#byName.delete(name);
    else this.#byName.set(name, sum);
    this.all += by;
  }

  roomOf(name: string, room: Room): number {
    return roomOfNetwork(room, this.all - this.of(name));
  }
}
