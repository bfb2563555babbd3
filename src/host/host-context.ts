// What a host is given, and what the contracts of a machine share.
import type { Plan } from '../limiter/plan.js';
import type { FindOperator } from '../operator/operator.js';
import type { KeyedImage, Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import type { Ledger } from './ledger.js';
import type { Queue } from './queue.js';
import type { Wakes } from './wakes.js';

export interface HostOptions {
  readonly clock: Clock;
  readonly store: Store;
  /** The operators that definitions may name. Default: the standard ones. */
  readonly findOperator?: FindOperator;
  /**
   * Called once, before anything wakes, with the newest cycle that the store knows: the clock must not be behind it from then on.
   * Without it a store that is ahead of the clock is a bug.
   */
  readonly holdClock?: (newestCycle: number) => void;
  /** Throws if there is no memory for another key. Default: never throws. */
  readonly claimMemory?: () => void;
}

export interface NewMachine {
  readonly slug: string;
  readonly owner?: string;
  readonly isPublic?: boolean;
  readonly displayName?: string;
  readonly by?: string | undefined;
}

export interface ContractOptions {
  readonly templateId?: string | undefined;
  readonly by?: string | undefined;
  readonly keyed?: KeyedImage | undefined;
  /** No other contract of the machine has it. */
  readonly name?: string | undefined;
}

export interface HostContext {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly wakes: Wakes;
  readonly store: Pick<Store, 'putState' | 'forgetKey'>;
  readonly claimMemory?: (() => void) | undefined;
  /** Contracts with counts that are not stored, oldest first; once for each of their keys. */
  readonly changed: Queue<{ readonly plan: Plan; save(): void }>;
  /** The time of the machine while it counts one event in several tasks, in unix ms. */
  busyMs?: number | undefined;
}

/** The time of a machine, in unix ms. */
export function nowOf({ clock, busyMs }: Pick<HostContext, 'clock' | 'busyMs'>): number {
  return busyMs ?? clock.now();
}
