// What a host publishes about the machines and contracts it has.
import type { Plan } from '../limiter/plan.js';
import type { Contract } from './contract.js';
import type { Machine } from './machine.js';

/** Machines and contracts that a host adds or removes after its start. */
export type HostChange =
  | { readonly kind: 'machine_added'; readonly machine: Machine }
  | { readonly kind: 'contract_added'; readonly machine: Machine; readonly contract: Contract }
  /** `before`: the plans that it had. */
  | {
      readonly kind: 'contract_changed';
      readonly machine: Machine;
      readonly contract: Contract;
      readonly before: readonly Plan[];
    }
  | { readonly kind: 'contract_removed'; readonly machine: Machine; readonly contract: Contract }
  /** Its contracts are removed; its record is left. */
  | { readonly kind: 'machine_deleted'; readonly machine: Machine }
  /** The record, too. */
  | { readonly kind: 'machine_forgotten'; readonly machine: Machine };
