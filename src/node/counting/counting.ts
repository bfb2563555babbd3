// The port for counting: what routes, gates, bulk, Envoy, streams and pages ask about machines, contracts and keys. Two siblings keep its promises,
// `local` (a table of keys in this process, a store behind it) and `network` (Redis); test/suite/counting.ts holds them over both.
//
//   route ─► counting ─┬─► local      the host of this process, synchronous where nothing waits
//                      └─► network    Redis, over several nodes
import type { Contract } from '../../host/contract.js';
import type { Move } from '../../host/contract-failures.js';
import type { KeyState } from '../../host/keys.js';
import type { Chain } from '../../host/ledger.js';
import type { Machine } from '../../host/machine.js';
import type { AuditRow } from '../../record/row.js';
import type { Failure } from '../../schema/failure.js';
import type { Asked, Decision, Uncounted } from './decision.js';
import type { Lines } from './lines.js';
import type { Event } from './listeners.js';
import type { OnceOnly, Replayed } from './once-only.js';
import type { Samples } from './samples.js';

export type MaybePromise<T> = T | Promise<T>;

export interface Counting {
  /** Why nothing that is counted now can be vouched for; undefined while all is well. */
  readonly failure: Failure | undefined;

  /** Counts and decides as a gate. Resolves once what it says is as durable as the node promises. @throws Failure `store_failed`, `store_away` */
  decide(asked: Asked): MaybePromise<Outcome>;

  /** What `decide` would say. Nothing is counted. */
  peek(asked: Asked): MaybePromise<Outcome>;

  /** As `decide`, for many on one machine, in order. One with `n` 0 counts nothing, and says how one would be decided. */
  decideAll(machine: Machine, asked: readonly Asked[]): MaybePromise<Outcomes>;

  /**
   * Counts an event in all contracts of a machine that listen to it, or in one. With a key it is counted once, and repeated it has the same answer.
   * @throws Failure `unknown_event_type`, `contract_not_found`, `contract_failed`, `key_missing`, `invalid_input`, `event_too_old`,
   * `event_in_future`, `too_many_keys`, `idempotency_key_reused`, `too_many_requests`
   */
  event(machine: Machine, event: Event, once?: OnceOnly): MaybePromise<EventAnswer | Replayed>;

  lines(machine: Machine): Lines;

  /**
   * A contract, or one of its keys, in the running cycle. A key that is not there is as it would be made.
   * @param name of the key, by `Contract.nameOf`
   * @throws Failure `contract_not_found`, `too_many_keys`, `store_away`
   */
  state(contract: Contract, name?: string): MaybePromise<KeyState>;

  /** Contracts as they are now, without those that are gone. @throws Failure `store_away` */
  states(contracts: readonly Contract[]): MaybePromise<readonly Contract[]>;

  /** A page of the keys of a contract. @throws Failure `store_away` */
  keys(contract: Contract, page: KeyPage): MaybePromise<KeysShown>;

  readonly samples: Samples;

  /** A cycle has begun. Resolves once the figures of the one before have been taken. @throws Failure `store_failed`, `store_away` */
  tick(cycle: number): MaybePromise<void>;

  /** Resolves once all rows that this node has of a machine are durable: before an answer that shows its states. @throws Failure `store_failed` */
  durable(machine: Machine): void | Promise<void>;

  /** The end of a record, once it is durable: rows up to it may be shown. @throws Failure `rows_missing`, `store_failed`, `store_away` */
  head(machine: Machine): MaybePromise<Chain['head']>;

  /**
   * Moves a contract, or one of its keys, whatever it has counted.
   * @returns the row of the transition, once it is durable; the row of a refusal is durable when this rejects
   * @throws Failure `no_transition`, `condition_failed`, `compute_failed`, `prove_failed`, `verify_failed`, `too_many_keys`, `contract_failed`
   */
  move(contract: Contract, move: Move, name?: string): Promise<AuditRow>;
}

export interface KeyPage {
  /** `next` of the page before; 0 for the first. */
  readonly after: number;
  readonly limit: number;
  readonly limited: boolean;
  /** Only those whose name has this text; all where it is empty. */
  readonly search: string;
}

export interface KeysShown {
  readonly cycle: number;
  readonly keys: readonly KeyShown[];
  readonly next?: number;
}

export interface KeyShown {
  readonly key: string;
  readonly state: string;
  readonly count: number;
  readonly remaining: number | undefined;
  readonly retry_after_cycles: number | undefined;
}

export interface Decided {
  readonly decision: Decision | Uncounted;
  readonly cycle: number;
  readonly nowMs: number;
}

/** A failure is that of this contract, or of this key. */
export type Outcome = Decided | Failure;

export interface Outcomes {
  readonly cycle: number;
  readonly nowMs: number;
  readonly each: readonly (Decision | Uncounted | Failure)[];
}

export interface EventAnswer {
  readonly ok: true;
  readonly cycle: number;
  readonly contracts: readonly (Decision | Uncounted)[];
}
