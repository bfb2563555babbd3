// How many keys an address may mint over all nodes: one rate limiter with a key for each address, on a private machine of the network. It is made
// by the first node that is asked. Its record has addresses as their keyed hash.

import type { Host } from '../../host/host.js';
import { KeyedContract } from '../../host/keyed-contract.js';
import { rateLimiter, TEMPLATE_ID } from '../../limiter/rate-limiter.js';
import { planContract } from '../../limiter/validate.js';
import { Failure } from '../../schema/failure.js';
import { networkOf } from '../../traffic/network.js';
import { keyedImage } from '../keyed.js';
import type { Limits } from '../limits.js';
import { imageOfMint, MINT_MACHINE } from '../mint-limit.js';
import type { Network } from './network.js';

export class NetworkMint {
  readonly #network: Network;
  readonly #host: Host;
  readonly #limits: Limits['mint'];
  #making: Promise<KeyedContract> | undefined;

  constructor(network: Network, host: Host, limits: Limits['mint']) {
    this.#network = network;
    this.#host = host;
    this.#limits = limits;
  }

  /** As of `MintLimit`. @throws Failure `store_away` */
  async retryAfterCycles(address: string): Promise<number> {
    const contract = await this.#contract();
    const name = contract.nameOf(networkOf(address));
    const outcome = await this.#network.decideOne({ contract, kind: 0, n: 1, name, mustCount: true });
    const { within } = this.#limits;
    if (!(outcome instanceof Failure)) {
      const { admitted, retry_after_cycles: after } = outcome.decision;
      return admitted === 1 ? 0 : (after ?? within);
    }
    // A new address waits until the window of another is empty.
    if (outcome.code === 'too_many_keys') return within;
    throw outcome;
  }

  /** The first that there is, so that all nodes have the same, also where two made one at once. */
  #contract(): Promise<KeyedContract> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<KeyedContract> {
    let found = this.#found();
    if (found !== undefined) return found;
    const { directory, entries } = this.#network;
    await entries.createMachine(imageOfMint).catch((error) => {
      if (!(error instanceof Failure) || error.code !== 'slug_taken') throw error;
    });
    const machine = await directory.machine(MINT_MACHINE);
    found = this.#found();
    if (found !== undefined) return found;
    const { threshold, within, addresses } = this.#limits;
    const keyed = keyedImage({ max_keys: addresses, idle_cycles: within, store_keys: 'hashed' });
    const plan = planContract(rateLimiter({ threshold, within }));
    await entries.createContract(machine, plan, { templateId: TEMPLATE_ID, keyed });
    return this.#found()!;
  }

  #found(): KeyedContract | undefined {
    const { threshold, within } = this.#limits;
    for (const contract of this.#host.machines.get(MINT_MACHINE)?.contracts ?? []) {
      const { plan } = contract;
      const isOfTheseLimits = plan.thresholds[0] === threshold && plan.aggregates[0]?.within === within;
      if (isOfTheseLimits && contract instanceof KeyedContract) return contract;
    }
    return undefined;
  }
}
