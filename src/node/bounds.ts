// Counts what owners, addresses and networks of addresses have and ask for, and refuses what is too much, by the table of limits.ts. Owners whose
// keys were minted for one network of addresses share a part of what all others leave. So neither a few keys nor a few addresses take all.
//
//   rate    Weir's own rate limiter, a gate for each who asks: owner, address, network, all. Refused requests do not count
//   room    │others ■■■■■■■■■■│them ■■■□□□│                  │      levels: what they have now
//                             └── 1/8 ────┘
import { BlockList, isIPv6, type Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { makeGate } from '../core/limiter/create-limiter.js';
import type { Gate } from '../core/limiter/gate.js';
import { rateLimiter } from '../core/limiter/rate-limiter.js';
import { planContract } from '../core/limiter/validate.js';
import { getOrInsert } from '../core/math/get-or-insert.js';
import { networkOf } from '../core/schema/address-network.js';
import { Failure } from '../core/schema/failure.js';
import { parseTime } from '../core/schema/quantity.js';
import type { Clock } from '../core/time/clock.js';
import {
  type Bound,
  type Limits,
  RATES,
  type RateLimit,
  type RateName,
  ROOMS,
  type Room,
  type RoomName,
  roomOfNetwork,
} from './limits.js';
import { RecentlyUsed } from './recently-used.js';
import { addressNetworkOf, addressNetworkOfCaller, ofAddress, ofOwner, sourceOf } from './request-source.js';

export type Asking = Pick<FastifyRequest, 'caller' | 'ip'>;

export type Bounds = Readonly<Record<RateName, RateBound> & Record<RoomName, SharedRoom>>;

export function boundsOf(clock: Clock, limits: Pick<Limits, RateName | RoomName>): Bounds {
  return {
    ...each(RATES, (name) => rateBound(clock, RATES[name], limits[name])),
    ...each(ROOMS, (name) => new SharedRoom(ROOMS[name], limits[name])),
  };
}

/** Whose part it is: of an owner or an address, and of a network of addresses. */
export type Place = readonly [source: string, network: string];

export function placeOfAsking(asking: Asking): Place {
  return [sourceOf(asking), addressNetworkOfCaller(asking.caller, asking.ip)];
}

/** What each who is counted has now. */
export class SharedRoom {
  readonly most: Room;
  readonly #bound: Bound<Room>;
  readonly #bySource = new Map<string, number>();
  readonly #byNetwork = new Map<string, number>();
  all = 0;
  refused = 0;

  constructor(bound: Bound<Room>, most: Room) {
    this.#bound = bound;
    this.most = most;
  }

  /** Counts `n` until they are given back. @throws Failure as the table says */
  take(asking: Asking, n = 1): void {
    const place = placeOfAsking(asking);
    this.refuse(place, n);
    this.add(place, n);
  }

  give(asking: Asking, n = 1): void {
    this.add(placeOfAsking(asking), -n);
  }

  /** @throws Failure as the table says, without room for `n` */
  refuse(place: Place, n: number): void {
    const full = this.full(place, n);
    if (full === undefined) return;
    this.refused += 1;
    const { what, fix, of, code = 'too_many_requests', codeOfAll = code } = this.#bound;
    const why =
      full === 'own'
        ? `An owner, and an address without a credential, has up to ${this.most.perOwner} ${of}.`
        : `There are as many ${of} as the node takes, or takes for one network of addresses.`;
    throw new Failure(full === 'own' ? code : codeOfAll, { what, why, fix });
  }

  of(source: string): number {
    return this.#bySource.get(source) ?? 0;
  }

  /** What a network of addresses may still take. */
  freeIn(network: string): number {
    const used = this.#byNetwork.get(network) ?? 0;
    return roomOfNetwork(this.most, this.all - used) - used;
  }

  full([source, network]: Place, n: number): 'own' | 'all' | undefined {
    if (this.of(source) + n > this.most.perOwner) return 'own';
    return this.freeIn(network) < n ? 'all' : undefined;
  }

  clear(): void {
    this.#bySource.clear();
    this.#byNetwork.clear();
    this.all = 0;
  }

  add([source, network]: Place, by: number): void {
    add(this.#bySource, source, by);
    add(this.#byNetwork, network, by);
    this.all += by;
  }
}

function add(amounts: Map<string, number>, name: string, by: number): void {
  const sum = (amounts.get(name) ?? 0) + by;
  if (sum === 0) amounts.delete(name);
  else amounts.set(name, sum);
}

/** Each of these has a count of its own at a time: the last ones that asked. */
const SOURCES = 4_096;

type RateBound = ReturnType<typeof rateBound>;

function rateBound(clock: Clock, { what, fix, of }: Bound<RateLimit>, { threshold, within: text, onNode }: RateLimit) {
  const within = parseTime(text, clock.cycleMs, '/within', 1);
  // None for 0: the routes say so before they ask.
  const planOf = (most: number) => planContract(rateLimiter({ threshold: Math.max(1, most), within }));
  const planOfOne = planOf(threshold);
  const planOfNetwork = planOf(Math.floor(roomOfNetwork({ perOwner: threshold, onNode }, 0)));
  const ofAll = makeGate(planOf(onNode), clock.cycle());
  const gates = new RecentlyUsed<Gate>(SOURCES);
  const gateOf = (source: string, cycle: number, plan = planOfOne): Gate => {
    const gate = getOrInsert(gates, source, () => makeGate(plan, cycle));
    gate.advance(cycle);
    return gate;
  };
  const bound = {
    within,
    refused: 0,
    /** Counts `n` within the window; refused ones do not count. @throws Failure as the table says, with the cycle to ask again */
    take({ caller, ip }: Asking, n = 1): void {
      const cycle = clock.cycle();
      ofAll.advance(cycle);
      const asked = [
        ...(caller === undefined ? [] : [gateOf(ofOwner(caller.owner), cycle)]),
        gateOf(ofAddress(ip), cycle),
        gateOf(`network ${addressNetworkOf(ip)}`, cycle, planOfNetwork),
        ofAll,
      ];
      const full = asked.find((gate) => gate.remaining < n);
      if (full === undefined) {
        for (const gate of asked) gate.decide(n, cycle);
        return;
      }
      bound.refused += 1;
      const most = full.plan.thresholds[0]!;
      const ofOne = full.plan === planOfNetwork ? 'A network of addresses' : 'An owner, and an address,';
      const who = full === ofAll ? 'All together' : ofOne;
      const why = `${who} may ask for ${most} ${of} within ${within} cycles${n === 1 ? '' : `, and this takes ${n}`}.`;
      const againCycle = cycle + full.cyclesUntilAtMost(Math.max(0, most - n));
      throw new Failure('too_many_requests', { what, why, fix, againCycle });
    },
    get leftOnNode(): number {
      ofAll.advance(clock.cycle());
      return ofAll.remaining;
    },
    left(owner: string): number {
      return Math.min(gateOf(ofOwner(owner), clock.cycle()).remaining, bound.leftOnNode);
    },
  };
  return bound;
}

/** Loopback and proxies: no address has this name. */
const MANY = ['many', 'many'] as const;

/**
 * The connections over all ports. Loopback and a proxy sends for many clients: for them only the total is bounded.
 *
 *   accepted ─► room? counted until it closes
 *                 └ none: cut before a byte is read
 */
export class Sockets {
  readonly #room: SharedRoom;
  readonly #ofMany = new BlockList();

  /** @param proxies addresses and networks */
  constructor(room: SharedRoom, proxies: readonly string[]) {
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
    this.#room.add(place, 1);
    socket.once('close', () => this.#room.add(place, -1));
    return true;
  }
}

function each<Key extends string, Value>(table: Readonly<Record<Key, unknown>>, of: (name: Key) => Value) {
  return Object.fromEntries((Object.keys(table) as Key[]).map((name) => [name, of(name)])) as Record<Key, Value>;
}
