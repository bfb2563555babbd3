// Counts what owners, addresses and networks of addresses have and ask for, and refuses what is too much, by the table of limits.ts. Owners whose
// keys were minted for one network of addresses share a part of what all others leave. So neither a few keys nor a few addresses take all.
//
//   rate    Weir's own rate limiter, a gate for each who asks: owner, address, network, all. Refused requests do not count
//   room    │others ■■■■■■■■■■│them ■■■□□□│                  │      levels: what they have now
//                             └── 1/8 ────┘

import type { FastifyRequest } from 'fastify';
import { makeGate } from '../core/limiter/create-limiter.js';
import type { Gate } from '../core/limiter/gate.js';
import { rateLimiter } from '../core/limiter/rate-limiter.js';
import { planContract } from '../core/limiter/validate.js';
import { getOrInsert } from '../core/math/get-or-insert.js';
import { Failure } from '../core/schema/failure.js';
import { parseTime } from '../core/schema/quantity.js';
import type { Clock } from '../core/time/clock.js';
import {
  type Bound,
  type Limits,
  nameOfLimit,
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

type Name = RateName | RoomName;

export class Bounds {
  readonly #rates: Readonly<Record<RateName, RateBound>>;
  readonly #rooms: Readonly<Record<RoomName, SharedRoom>>;

  constructor(clock: Clock, limits: Pick<Limits, Name>) {
    this.#rates = each(RATES, (name) => new RateBound(clock, limits[name]));
    this.#rooms = each(ROOMS, (name) => new SharedRoom(limits[name]));
  }

  rate(name: RateName): RateBound {
    return this.#rates[name];
  }

  room(name: RoomName): SharedRoom {
    return this.#rooms[name];
  }

  /** Counts `n` if there is room for them: within the window, or until they are given back. @throws Failure as the table says */
  take(name: RateName | RoomName, asking: Asking, n = 1): void {
    if (isRate(name)) this.#takeOfRate(name, asking, n);
    else {
      const place = placeOfAsking(asking);
      this.refuse(name, place, n);
      this.room(name).add(...place, n);
    }
  }

  give(name: RoomName, asking: Asking, n = 1): void {
    this.room(name).add(...placeOfAsking(asking), -n);
  }

  /** @throws Failure as the table says */
  refuse(name: RoomName, place: Place, n: number): void {
    const room = this.room(name);
    const full = room.full(place, n);
    if (full === undefined) return;
    room.refused += 1;
    const { what, fix, of, code = 'too_many_requests', codeOfAll = code }: Bound<Room> = ROOMS[name];
    const why =
      full === 'own'
        ? `An owner, and an address without a credential, has up to ${room.most.perOwner} ${of}.`
        : `There are as many ${of} as the node takes, or takes for one network of addresses.`;
    throw new Failure(full === 'own' ? code : codeOfAll, { what, why, fix });
  }

  #takeOfRate(name: RateName, asking: Asking, n: number): void {
    const refused = this.rate(name).take(asking, n);
    if (refused === undefined) return;
    this.rate(name).refused += 1;
    const { what, fix, of } = RATES[name];
    const { who, threshold, within, againCycle } = refused;
    const why = `${who} may ask for ${threshold} ${of} within ${within} cycles${n === 1 ? '' : `, and this takes ${n}`}.`;
    throw new Failure('too_many_requests', { what, why, fix, againCycle });
  }

  /** By the names of the API. */
  get allRefusals(): Readonly<Record<string, number>> {
    const bounds = Object.entries({ ...this.#rates, ...this.#rooms });
    return Object.fromEntries(bounds.map(([name, { refused }]) => [nameOfLimit(name), refused]));
  }
}

function isRate(name: Name): name is RateName {
  return name in RATES;
}

/** Whose part it is: of an owner or an address, and of a network of addresses. */
export type Place = readonly [source: string, network: string];

export function placeOfAsking(asking: Asking): Place {
  return [sourceOf(asking), addressNetworkOfCaller(asking.caller, asking.ip)];
}

/** What each who is counted has now. */
export class SharedRoom {
  readonly most: Room;
  readonly #bySource = new Map<string, number>();
  readonly #byNetwork = new Map<string, number>();
  all = 0;
  refused = 0;

  constructor(most: Room) {
    this.most = most;
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

  add(source: string, network: string, by: number): void {
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

class RateBound {
  readonly within: number;
  refused = 0;
  readonly #clock: Clock;
  readonly #plan;
  readonly #planOfNetwork;
  readonly #gates = new RecentlyUsed<Gate>(SOURCES);
  readonly #ofAll: Gate;

  constructor(clock: Clock, { threshold, within, onNode }: RateLimit) {
    this.#clock = clock;
    this.within = parseTime(within, clock.cycleMs, '/within', 1);
    // None for 0: the routes say so before they ask.
    const planOf = (most: number) => planContract(rateLimiter({ threshold: Math.max(1, most), within: this.within }));
    this.#plan = planOf(threshold);
    this.#planOfNetwork = planOf(Math.floor(roomOfNetwork({ perOwner: threshold, onNode }, 0)));
    this.#ofAll = makeGate(planOf(onNode), clock.cycle());
  }

  /** @returns who may not ask for so much, and when again; undefined if it was counted */
  take({ caller, ip }: Asking, n: number) {
    const cycle = this.#clock.cycle();
    this.#ofAll.advance(cycle);
    const gates = [
      ...(caller === undefined ? [] : [this.#gateOf(ofOwner(caller.owner), cycle)]),
      this.#gateOf(ofAddress(ip), cycle),
      this.#gateOf(`network ${addressNetworkOf(ip)}`, cycle, this.#planOfNetwork),
      this.#ofAll,
    ];
    const full = gates.find((gate) => gate.remaining < n);
    if (full === undefined) {
      for (const gate of gates) gate.decide(n, cycle);
      return undefined;
    }
    const threshold = full.plan.thresholds[0]!;
    const ofOne = full.plan === this.#planOfNetwork ? 'A network of addresses' : 'An owner, and an address,';
    const againCycle = cycle + full.cyclesUntilAtMost(Math.max(0, threshold - n));
    return { who: full === this.#ofAll ? 'All together' : ofOne, threshold, within: this.within, againCycle };
  }

  get leftOnNode(): number {
    this.#ofAll.advance(this.#clock.cycle());
    return this.#ofAll.remaining;
  }

  left(owner: string): number {
    return Math.min(this.#gateOf(ofOwner(owner), this.#clock.cycle()).remaining, this.leftOnNode);
  }

  #gateOf(source: string, cycle: number, plan = this.#plan): Gate {
    const gate = getOrInsert(this.#gates, source, () => makeGate(plan, cycle));
    gate.advance(cycle);
    return gate;
  }
}

function each<Key extends string, Value>(table: Readonly<Record<Key, unknown>>, of: (name: Key) => Value) {
  return Object.fromEntries((Object.keys(table) as Key[]).map((name) => [name, of(name)])) as Record<Key, Value>;
}
