// Limits costly requests per owner, per address, per network of addresses and in total, in memory. Refused requests do not count.
import { makeGate } from '../core/limiter/create-limiter.js';
import type { Gate } from '../core/limiter/gate.js';
import { rateLimiter } from '../core/limiter/rate-limiter.js';
import { planContract } from '../core/limiter/validate.js';
import { Failure } from '../core/schema/failure.js';
import type { Clock } from '../core/time/clock.js';
import { secondsUntil } from '../core/time/cycle.js';
import { roomOfNetwork, type SharedRate } from './limits.js';
import { RecentlyUsed } from './recently-used.js';
import { addressNetworkOf, ofAddress, ofOwner } from './request-source.js';

const SOURCES = 4_096;

export class SourceLimit {
  readonly #clock: Clock;
  readonly #plan;
  readonly #planOfNetwork;
  readonly #gates = new RecentlyUsed<Gate>(SOURCES);
  readonly #ofAll: Gate;

  constructor(clock: Clock, { threshold, within, onNode }: SharedRate) {
    this.#clock = clock;
    this.#plan = planContract(rateLimiter({ threshold, within }));
    const perNetwork = Math.floor(roomOfNetwork({ perOwner: threshold, onNode }, 0));
    this.#planOfNetwork = planContract(rateLimiter({ threshold: perNetwork, within }));
    this.#ofAll = makeGate(planContract(rateLimiter({ threshold: onNode, within })), clock.cycle());
  }

  /** Counts `units` for owner and address. @throws Failure `too_many_requests` if one is full; sets Retry-After */
  take(
    {
      owner,
      ip,
      units,
      what,
    }: { readonly owner: string; readonly ip: string; readonly units: number; readonly what: string },
    setHeader: (name: 'retry-after', seconds: number) => unknown,
  ): void {
    const cycle = this.#clock.cycle();
    this.#ofAll.advance(cycle);
    const gates = [
      this.#gateOf(ofOwner(owner), cycle),
      this.#gateOf(ofAddress(ip), cycle),
      this.#gateOf(`network ${addressNetworkOf(ip)}`, cycle, this.#planOfNetwork),
      this.#ofAll,
    ];
    const full = gates.find((gate) => gate.remaining < units);
    if (full !== undefined) {
      const threshold = full.plan.thresholds[0]!;
      const { within } = full.plan.aggregates[0]!;
      const who =
        full === this.#ofAll
          ? 'All owners together'
          : full.plan === this.#planOfNetwork
            ? 'A network of addresses'
            : 'An owner, and an address,';
      const after = full.cyclesUntilAtMost(Math.max(0, threshold - units));
      setHeader('retry-after', secondsUntil(cycle + after, this.#clock.now(), this.#clock.cycleMs));
      throw new Failure('too_many_requests', {
        what: `${what} was refused.`,
        why: `${who} may ask for ${threshold} units of this within ${within} cycles, and it takes ${units}.`,
        fix: 'Wait as long as Retry-After says; GET /api/limits lists the bounds.',
      });
    }
    for (const gate of gates) gate.decide(units, cycle);
  }

  get leftOnNode(): number {
    this.#ofAll.advance(this.#clock.cycle());
    return this.#ofAll.remaining;
  }

  left(owner: string): number {
    return this.#gateOf(ofOwner(owner), this.#clock.cycle()).remaining;
  }

  #gateOf(source: string, cycle: number, plan = this.#plan): Gate {
    let gate = this.#gates.get(source);
    if (gate === undefined) {
      gate = makeGate(plan, cycle);
      this.#gates.set(source, gate);
    }
    gate.advance(cycle);
    return gate;
  }
}
