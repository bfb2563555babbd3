// What a host is given, and what the contracts of a machine share: clock, ledger, store, who wakes when, and whose counts are not stored.
import type { Inspect } from '../actor/interpreted-moves.js';
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
  /** Whether contracts go on after a restart: their states are stored with their rows. Default: true; a simulation has no use for it. */
  readonly keepsStates?: boolean;
  /**
   * Called once, before anything wakes, with the newest cycle that the store knows: the clock must not be behind it from then on.
   * Without it a store that is ahead of the clock is a bug.
   */
  readonly holdClock?: (newestCycle: number) => void;
  /** Watches every message of every contract actor: they start at once, and hear every event and every cycle. */
  readonly inspect?: Inspect;
  /** How many keys of a contract stay awake after they have moved. Default: 1,024. */
  readonly mostAwake?: number;
  /** Throws where no further key may be remembered, for want of memory. Default: there is always room. */
  readonly claimMemory?: () => void;
}

export interface NewMachine {
  readonly slug: string;
  readonly owner?: string;
  readonly isPublic?: boolean;
  readonly displayName?: string;
  /** Who asks for it: the id of a key. */
  readonly by?: string | undefined;
}

/** What a contract has beside its definition. */
export interface ContractOptions {
  readonly templateId?: string | undefined;
  /** Who asks for it: the id of a key. */
  readonly by?: string | undefined;
  readonly keyed?: KeyedImage | undefined;
}

/** What the contracts of a machine share. */
export interface HostContext {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly wakes: Wakes;
  readonly store: Store;
  /** Whether the state of a contract is stored with each of its rows. */
  readonly keepsStates: boolean;
  readonly inspect: Inspect | undefined;
  /** How many keys of a contract stay awake after they have moved. */
  readonly mostAwake: number;
  readonly claimMemory?: (() => void) | undefined;
  /** What has counts that the store does not know, in the order in which it got them. */
  readonly changed: Queue<Changed>;
  /** The instant at which the time of the machine stands still, since it counts an event in turns; undefined while it does not. */
  busyMs?: number | undefined;
}

/** What counts, and is stored. */
export interface Changed {
  readonly plan: Plan;
  /** Writes the newest counts; of a contract with keys, those of the key that changed first. */
  save(): void;
}

/** The instant of whatever happens on a machine now, in unix ms. */
export function nowOf({ clock, busyMs }: Pick<HostContext, 'clock' | 'busyMs'>): number {
  return busyMs ?? clock.now();
}
