// Room that owners, or addresses, share: each has a bound, and each network of addresses a part of what all others leave; see limits.ts.
import { type Room, roomOfNetwork } from './limits.js';

export class SharedRoom {
  readonly #room: Room;
  readonly #byOwner = new Map<string, number>();
  readonly #byNetwork = new Map<string, number>();
  all = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  of(owner: string): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  /** What a network of addresses may still take. */
  freeIn(network: string): number {
    const used = this.#byNetwork.get(network) ?? 0;
    return roomOfNetwork(this.#room, this.all - used) - used;
  }

  hasRoom(owner: string, network: string): boolean {
    return this.of(owner) < this.#room.perOwner && this.freeIn(network) >= 1;
  }

  add(owner: string, network: string, by: number): void {
    add(this.#byOwner, owner, by);
    add(this.#byNetwork, network, by);
    this.all += by;
  }
}

function add(amounts: Map<string, number>, name: string, by: number): void {
  const sum = (amounts.get(name) ?? 0) + by;
  if (sum === 0) amounts.delete(name);
  else amounts.set(name, sum);
}
