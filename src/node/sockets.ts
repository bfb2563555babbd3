// Bounds the connections over all ports: per address, and per network of addresses by a share of what others leave; see limits.ts. Loopback
// and a proxy sends for many clients: for them only the total is bounded.
//
//   accepted ─► room? counted until it closes
//                 └ none: cut before a byte is read
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkOf } from '../core/schema/address-network.js';
import type { Bounds, SharedRoom } from './bounds.js';
import { addressNetworkOf } from './request-source.js';

/** Loopback and proxies: no address has this name. */
const MANY = ['many', 'many'] as const;

export class Sockets {
  readonly #room: SharedRoom;
  readonly #ofMany = new BlockList();

  /** @param proxies addresses and networks */
  constructor(bounds: Bounds, proxies: readonly string[]) {
    this.#room = bounds.room('sockets');
    for (const network of ['127.0.0.0/8', '::1', ...proxies]) {
      const [address = '', bits] = network.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#ofMany.addAddress(address, family);
      else this.#ofMany.addSubnet(address, Number(bits), family);
    }
  }

  /** Counts a connection until it closes, or resets it. @returns whether it stays */
  admit(socket: Pick<Socket, 'remoteAddress' | 'resetAndDestroy' | 'once'>): boolean {
    // A closed socket has none.
    const { remoteAddress = '' } = socket;
    const isOfMany =
      remoteAddress !== '' && this.#ofMany.check(remoteAddress.split('%')[0]!, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
    const place = isOfMany ? MANY : ([networkOf(remoteAddress), addressNetworkOf(remoteAddress)] as const);
    const { all, most } = this.#room;
    const hasRoom = isOfMany ? all < most.onNode : this.#room.full(place, 1) === undefined;
    if (remoteAddress === '' || !hasRoom) {
      this.#room.refused += 1;
      // A client that sees only the end of a connection may go on waiting for its answer.
      socket.resetAndDestroy();
      return false;
    }
    this.#room.add(...place, 1);
    socket.once('close', () => this.#room.add(...place, -1));
    return true;
  }
}
