// The state of a contract, read from its gate and its keys.
import { GateHead } from '../limiter/fast-path.js';
import type { Gate } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import type { ContractImage } from '../store/store.js';
import type { Beside } from './beside.js';
import { type Keys, storedName } from './keys.js';

export abstract class DescribedContract extends GateHead {
  abstract gate: Gate;
  abstract plan: Plan;
  abstract image: ContractImage;
  abstract keys: Keys | undefined;

  abstract beside: Beside | undefined;

  get plans(): readonly Plan[] {
    return this.beside === undefined ? [this.plan] : [this.plan, this.beside.plan];
  }

  get state(): string {
    return this.plan.states[this.gate.state]!.name;
  }

  get stateIndex(): number {
    return this.gate.state;
  }

  get admits(): boolean {
    return this.plan.states[this.gate.state]!.admits;
  }

  get count(): number {
    return this.gate.count;
  }

  get cycle(): number {
    return Math.max(this.gate.cycle, this.keys?.cycle ?? this.gate.cycle);
  }

  /** How many gates, its own and those of keys, are in a state that limits. */
  get limiting(): number {
    return (this.admits ? 0 : 1) + (this.keys?.limited ?? 0);
  }

  get delayMs(): number {
    return (this.keys ?? this.gate).delayMs;
  }

  /** Index of the event kind for `decide`, or -1 when the contract does not listen to it. */
  listensTo(event: string): number {
    return this.plan.kinds.findIndex((kind) => kind.event === event);
  }

  /** What a key is called in store and record; undefined where the contract has no keys. */
  nameOf(key: string): string | undefined {
    if (this.keys === undefined) return undefined;
    return storedName(key, this.image.keyed?.secret);
  }
}
