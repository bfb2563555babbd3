// Limits the keys minted per address and per network of addresses: two rate limiters with keys on a private machine of the node, made when
// first needed. Their record has addresses as keyed hashes.
//
//   asked ─► network of addresses full? ─► counted for the address ─ admitted ─► counted for its network
//
// So refused requests count only for their address, and a network takes no more than its share of the addresses tracked at a time.
import type { Plan } from '../core/limiter/plan.js';
import { rateLimiter, TEMPLATE_ID } from '../core/limiter/rate-limiter.js';
import { planContract } from '../core/limiter/validate.js';
import { networkOf } from '../core/schema/address-network.js';
import { Failure } from '../core/schema/failure.js';
import type { Counting } from './counting/counting.js';
import type { Contract } from './host/contract.js';
import type { Host } from './host/host.js';
import type { Machine } from './host/machine.js';
import { keyedImage } from './keyed.js';
import { type Limits, roomOfNetwork } from './limits.js';
import { contractBy, type Registry } from './registry/registry.js';
import { addressNetworkOf } from './request-source.js';

export const MINT_MACHINE = 'weir-mint';

const BY_ADDRESS_NETWORK = 'rate_limiter_of_networks';

interface MintContext {
  readonly host: Host;
  readonly registry: Pick<Registry, 'createMachine' | 'createContract' | 'deleteContract'>;
  readonly counting: Pick<Counting, 'decide'>;
  readonly limits: Limits['mint'];
}

interface Limiters {
  readonly machine: Machine;
  readonly byAddress: Contract;
  readonly byAddressNetwork: Contract;
}

export class Mint {
  readonly #context: MintContext;
  /** By address, and by network of addresses. */
  readonly #plans: readonly Plan[];
  #making: Promise<Limiters> | undefined;

  constructor(context: MintContext) {
    this.#context = context;
    const { threshold, within, addresses } = context.limits;
    // A share of the tracked addresses, and at least as many as for one address.
    const perNetwork = Math.max(threshold, Math.floor(roomOfNetwork({ perOwner: 1, onNode: addresses }, 0)));
    const ofNetworks = { ...rateLimiter({ threshold: perNetwork, within }), name: BY_ADDRESS_NETWORK };
    this.#plans = [rateLimiter({ threshold, within }), ofNetworks].map((definition) => planContract(definition));
  }

  /** @returns 0 if admitted, else cycles to wait if no other arrives @throws Failure `store_failed`, `store_away` */
  async retryAfterCycles(address: string): Promise<number> {
    const { machine, byAddress, byAddressNetwork } = this.#found() ?? (await this.#limiters());
    const addressNetwork = byAddressNetwork.nameOf(addressNetworkOf(address));
    const own = byAddress.nameOf(networkOf(address));
    return (
      (await this.#ask(machine, byAddressNetwork, addressNetwork, true)) ||
      (await this.#ask(machine, byAddress, own)) ||
      this.#ask(machine, byAddressNetwork, addressNetwork)
    );
  }

  async #ask(machine: Machine, contract: Contract, name: string | undefined, peek = false): Promise<number> {
    const { counting, limits } = this.#context;
    const outcome = await counting.decide(
      { machine, contract, kind: 0, n: 1, name, peek },
      machine.context.clock.now(),
    );
    if (!(outcome instanceof Failure)) {
      const { limited, retry_after_cycles: after = limits.within } = outcome.decision;
      return limited === 0 ? 0 : Math.max(1, after);
    }
    // A new address waits until another one's window is empty.
    if (outcome.code === 'too_many_keys') return limits.within;
    throw outcome;
  }

  /** Takes the first ones, so that all nodes have the same, even if two make them at once. */
  #limiters(): Promise<Limiters> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<Limiters> {
    const { host, registry, limits } = this.#context;
    const asked = { slug: MINT_MACHINE, owner: 'node', displayName: 'Keys minted by address' };
    const machine =
      host.machines.get(MINT_MACHINE) ?? (await registry.createMachine(asked).catch((error) => this.#other(error)));
    const { within, addresses } = limits;
    for (const plan of this.#plans) {
      if (contractBy(plan, addresses, machine) !== undefined) continue;
      const keyed = keyedImage({ max_keys: addresses, idle_cycles: within, store_keys: 'hashed' }, false);
      await registry.createContract(machine, plan, { templateId: TEMPLATE_ID, keyed });
    }
    return this.#found()!;
  }

  #other(error: unknown): Machine {
    if (!(error instanceof Failure) || error.code !== 'slug_taken') throw error;
    return this.#context.host.machine(MINT_MACHINE);
  }

  #found(): Limiters | undefined {
    const { host, limits } = this.#context;
    const machine = host.machines.get(MINT_MACHINE);
    if (machine === undefined) return undefined;
    const [byAddress, byAddressNetwork] = this.#plans.map((plan) => contractBy(plan, limits.addresses, machine));
    return byAddress && byAddressNetwork && { machine, byAddress, byAddressNetwork };
  }
}
