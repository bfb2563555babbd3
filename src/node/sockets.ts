// Bounds the connections over all ports: per address, and per network of addresses by a share of what others leave; see limits.ts. Loopback
// and a proxy sends for many clients: for them only the total is bounded.
//
//   accepted ─► room? counted until it closes
//                 └ none: cut before a byte is read
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkOf } from '../core/schema/address-network.js';
import type { Room } from './limits.js';
import { addressNetworkOf } from './request-source.js';
import { SharedRoom } from './shared-room.js';

/** Loopback and proxies: no address has this name. */
const MANY = 'many';

export class Sockets {
  readonly #most: number;
  readonly #room: SharedRoom;
  readonly #ofMany = new BlockList();
  refused = 0;

  /** @param room `perOwner`: per address @param proxies addresses and networks */
  constructor(room: Room, proxies: readonly string[]) {
    this.#most = room.onNode;
    this.#room = new SharedRoom(room);
    for (const network of ['127.0.0.0/8', '::1', ...proxies]) {
      const [address = '', bits] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#ofMany.addAddress(address, family);
      else this.#ofMany.addSubnet(address, Number(bits), family);
    }
  }

  get size(): number {
    return this.#room.all;
  }

  /** Counts a connection until it closes, or resets it. @returns whether it stays */
  admit(socket: Pick<Socket, 'remoteAddress' | 'resetAndDestroy' | 'once'>): boolean {
    // A closed socket has none.
    const { remoteAddress = '' } = socket;
    const isOfMany =
      remoteAddress !== '' && this.#ofMany.check(remoteAddress.split('%')[0]!, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
    const [address, network] = isOfMany ? [MANY, MANY] : [networkOf(remoteAddress), addressNetworkOf(remoteAddress)];
    const hasRoom = this.size < this.#most && (isOfMany || this.#room.hasRoom(address, network));
    if (remoteAddress === '' || !hasRoom) {
      this.refused += 1;
      // A client that sees only the end of a connection may go on waiting for its answer.
      socket.resetAndDestroy();
      return false;
    }
    this.#room.add(address, network, 1);
    socket.once('close', () => this.#room.add(address, network, -1));
    return true;
  }
}
