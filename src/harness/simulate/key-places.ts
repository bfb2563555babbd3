// The places for keys of a keyed contract, as on a node: a key without counts yields its place to a key that needs one.
//
//   request of a key ─► has a place, or one is free, or another key is as new ─► its own gate
//                       └ none ─► refused, or counted by the gate that such keys share
import type { KeyedSpec } from '../scenario/loaded-scenario.js';
import type { SimulatedContract } from './simulated-contract.js';

export const NO_PLACE = '(no place)';

export class KeyPlaces {
  /** Cycle of the last request by key, oldest first. */
  readonly #taken = new Map<number, number>();
  readonly #most: number;
  readonly #contracts: readonly SimulatedContract[];
  readonly #span: number;
  readonly without: number;
  /** `without` if such keys are refused; -1 if they share a gate. */
  readonly refusing: number;
  #requests = 0;
  #limited = 0;

  constructor(
    { max_keys, overflow }: KeyedSpec,
    contracts: readonly SimulatedContract[],
    without: number,
    span: number,
  ) {
    this.#most = max_keys;
    this.#contracts = contracts;
    this.#span = span;
    this.without = without;
    this.refusing = overflow === 'refuse' ? without : -1;
  }

  take(key: number, cycle: number): boolean {
    if (!this.#taken.delete(key) && this.#taken.size >= this.#most && !this.#freeOne(cycle)) return false;
    this.#taken.set(key, cycle);
    return true;
  }

  /** The key's own contract or the shared one; undefined if the request was refused. */
  decider(key: number): SimulatedContract | undefined {
    if (this.#taken.has(key)) return this.#contracts[key];
    return this.refusing === -1 ? this.#contracts[this.without] : undefined;
  }

  againCycle(cycle: number): number {
    for (const last of this.#taken.values()) if (last + this.#span > cycle) return last + this.#span;
    return cycle + 1;
  }

  missed(n: number, admitted: number): void {
    this.#requests += n;
    this.#limited += n - admitted;
  }

  get figures(): { readonly requests: number; readonly limited: number } {
    return { requests: this.#requests, limited: this.#limited };
  }

  #freeOne(cycle: number): boolean {
    for (const [key, last] of this.#taken) {
      if (last + this.#span > cycle) return false;
      const contract = this.#contracts[key]!;
      contract.advance(cycle);
      if (!contract.gate.isAsNew) continue;
      this.#taken.delete(key);
      return true;
    }
    return false;
  }
}
