// Bounds the connections over all ports: per address, and per network of addresses by a share of what others leave; see limits.ts. Loopback
// and a proxy sends for many clients: for them only the total is bounded.
//
//   accepted ─► room? counted until it closes
//                 └ none: cut before a byte is read
import { BlockList, isIPv6, type Socket } from 'node:net';
import { networkOf } from '../traffic/network.js';
import { type Room, roomOfNetwork } from './limits.js';
import { addressNetworkOf } from './request-source.js';
import { Shares } from './shares.js';

export class Sockets {
  readonly #room: Room;
  readonly #ofMany = new BlockList();
  readonly #byAddress = new Shares();
  readonly #byAddressNetwork = new Shares();
  size = 0;
  refused = 0;

  /** @param room `perOwner`: per address @param proxies addresses and networks */
  constructor(room: Room, proxies: readonly string[]) {
    this.#room = room;
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
    const [address, addressNetwork] = [networkOf(remoteAddress), addressNetworkOf(remoteAddress)];
    const isOfMany = remoteAddress !== '' && this.#isOfMany(remoteAddress);
    if (
      remoteAddress === '' ||
      this.size >= this.#room.onNode ||
      (!isOfMany && !this.#hasRoom(address, addressNetwork))
    ) {
      this.refused += 1;
      // A client that sees only the end of a connection may go on waiting for its answer.
      socket.resetAndDestroy();
      return false;
    }
    const count = (by: 1 | -1) => {
      this.size += by;
      if (isOfMany) return;
      this.#byAddress.add(address, by);
      this.#byAddressNetwork.add(addressNetwork, by);
    };
    count(1);
    socket.once('close', () => count(-1));
    return true;
  }

  #hasRoom(address: string, addressNetwork: string): boolean {
    const ofNetwork = this.#byAddressNetwork.of(addressNetwork);
    return (
      this.#byAddress.of(address) < this.#room.perOwner &&
      ofNetwork < Math.floor(roomOfNetwork(this.#room, this.size - ofNetwork))
    );
  }

  #isOfMany(address: string): boolean {
    return this.#ofMany.check(address.split('%')[0]!, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
}
