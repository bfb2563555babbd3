// How many keys an address may mint: one rate-limiter contract for each address, on a private machine of the node.
//
// Contracts are never removed, so their number is bounded: a new address takes over the contract that was idle longest, if its
// window is empty. If it is not, none is, and the new address has to wait.
//
//   idle longest  ─► [ c3 ] [ c1 ] [ c2 ] ◄─  just used          address ─► contract
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { rateLimiter, TEMPLATE_ID } from '../limiter/rate-limiter.js';
import { networkOf } from '../traffic/network.js';
import { retryAfterOf } from './decision.js';
import type { Limits } from './limits.js';

export const MINT_MACHINE = 'weir-mint';

/** Its owner is the node: no key has this name. */
export const imageOfMint = {
  slug: MINT_MACHINE,
  owner: 'node',
  isPublic: false,
  displayName: 'Keys minted by address',
};

export class MintLimit {
  readonly machine: Machine;
  readonly #host: Host;
  readonly #limits: Limits['mint'];
  /** In order of their last use: the first was idle longest. */
  readonly #byAddress = new Map<string, { readonly contract: Contract; readonly usedCycle: number }>();
  readonly #free: Contract[];

  constructor(host: Host, limits: Limits['mint']) {
    this.#host = host;
    this.#limits = limits;
    this.machine = host.machines.get(MINT_MACHINE) ?? host.createMachine(imageOfMint);
    this.#free = this.machine.contracts.filter((contract) => this.#isOfTheseLimits(contract));
  }

  /**
   * Counts one request of an address.
   * @returns 0 if it was admitted; otherwise the cycles after which a request is admitted if nothing else arrives
   */
  retryAfterCycles(address: string, cycle: number): number {
    const name = networkOf(address);
    const contract = this.#byAddress.get(name)?.contract ?? this.#contractForNewcomer(cycle);
    const { within } = this.#limits;
    // Without a contract of its own a new address waits until the window of the one that was idle longest is empty.
    if (contract === undefined) return Math.max(1, this.#idleLongest()[1].usedCycle + within - cycle);
    this.#byAddress.delete(name);
    this.#byAddress.set(name, { contract, usedCycle: cycle });
    return contract.decide(1, cycle) === 1 ? 0 : (retryAfterOf(contract.gate, 0) ?? within);
  }

  #contractForNewcomer(cycle: number): Contract | undefined {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#byAddress.size < this.#limits.addresses) {
      return this.#host.createContract(MINT_MACHINE, rateLimiter(this.#limitsOfContract()), TEMPLATE_ID);
    }
    const [address, { contract }] = this.#idleLongest();
    contract.advance(cycle);
    if (contract.gate.count > 0) return undefined;
    this.#byAddress.delete(address);
    return contract;
  }

  #idleLongest() {
    const [first] = this.#byAddress;
    return first!;
  }

  #limitsOfContract() {
    const { threshold, within } = this.#limits;
    return { threshold, within };
  }

  /** A node that was started with other limits before has contracts that speak of those. */
  #isOfTheseLimits({ plan, failure }: Contract): boolean {
    const { threshold, within } = this.#limits;
    return failure === undefined && plan.thresholds[0] === threshold && plan.aggregates[0]?.within === within;
  }
}
