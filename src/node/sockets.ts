// The connections of a node, of all its ports together. An address may have so many, and a network of addresses a part of what others leave:
// few addresses never take what others need; see limits.ts. Loopback and proxies send what many ask for: for them there is the bound of all.
//
//   accepted ─► room? counted until it closes
//                 └ none: cut before a byte is read
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkOf } from '../traffic/network.js';
import { poolOf, type Room } from './limits.js';
import { addressPool } from './request-source.js';

export class Sockets {
  readonly #room: Room;
  readonly #ofMany = new BlockList();
  readonly #byAddress = new Map<string, number>();
  readonly #byPool = new Map<string, number>();
  size = 0;
  /** Connections that were cut since there was no room for them. */
  refused = 0;

  /** @param room `perOwner`: of an address @param proxies addresses and networks of proxies */
  constructor(room: Room, proxies: readonly string[]) {
    this.#room = room;
    for (const network of ['127.0.0.0/8', '::1', ...proxies]) {
      const [address = '', bits] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#ofMany.addAddress(address, family);
      else this.#ofMany.addSubnet(address, Number(bits), family);
    }
  }

  /** Counts a connection until it closes, or cuts it. @returns whether it stays */
  admit(socket: Pick<Socket, 'remoteAddress' | 'resetAndDestroy' | 'once'>): boolean {
    const { remoteAddress: address } = socket;
    // One that is closed already has none.
    const bounds = address === undefined || this.#isOfMany(address) ? [] : this.#boundsOf(address);
    const isFull = bounds.some(({ sums, name, most }) => (sums.get(name) ?? 0) >= most);
    if (isFull || address === undefined || this.size >= this.#room.onNode) {
      this.refused += 1;
      // Reset: a client that only sees the end of a connection may go on waiting for its answer.
      socket.resetAndDestroy();
      return false;
    }
    this.size += 1;
    for (const { sums, name } of bounds) sums.set(name, (sums.get(name) ?? 0) + 1);
    socket.once('close', () => {
      this.size -= 1;
      for (const { sums, name } of bounds) {
        const left = sums.get(name)! - 1;
        if (left === 0) sums.delete(name);
        else sums.set(name, left);
      }
    });
    return true;
  }

  #isOfMany(address: string): boolean {
    return this.#ofMany.check(address.split('%')[0]!, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  #boundsOf(address: string) {
    const pool = addressPool(address);
    const others = this.size - (this.#byPool.get(pool) ?? 0);
    return [
      { sums: this.#byAddress, name: networkOf(address), most: this.#room.perOwner },
      { sums: this.#byPool, name: pool, most: Math.floor(poolOf(this.#room, others)) },
    ];
  }
}
