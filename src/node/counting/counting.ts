// The port for counting: what routes, gates, Envoy, streams and pages ask about machines, contracts and keys. Implemented by `local` (a table
// of keys in this process, with a store) and `network` (Redis); test/suite/counting.ts runs over both.
//
//   route ─► counting ─┬─► local      the host of this process, synchronous where nothing waits
//                      └─► network    Redis, over several nodes
import { type Column, columns } from '../../api/contract-history.js';
import type { Problem } from '../../api/views.js';
import type { Gate } from '../../core/limiter/gate.js';
import type { AuditRow } from '../../core/record/row.js';
import type { Failure } from '../../core/schema/failure.js';
import type { Contract } from '../host/contract.js';
import type { Move } from '../host/contract-failures.js';
import type { Chain } from '../host/ledger.js';
import type { Machine } from '../host/machine.js';
import type { Decision, DecisionRequest, keyShown, Uncounted } from './decision.js';
import type { Event } from './listeners.js';
import type { OnceOnly, Replayed } from './once-only.js';

/** A promise only where something is awaited: an answer that waits for nothing is given in the turn in which its request was read. */
export type MaybePromise<T> = T | Promise<T>;

export interface Counting {
  /** Set while counts cannot be guaranteed. */
  readonly failure: Failure | undefined;

  /**
   * Resolves once the decision is as durable as the node promises.
   * @param nowMs by the clock of the node; where others count, too, theirs decides
   * @throws Failure `store_failed`, `store_away`
   */
  decide(asked: DecisionRequest, nowMs: number): MaybePromise<DecisionResult>;

  /**
   * Counts an event in one contract or in all that listen. With `once`, a repetition only gets the same answer.
   * @throws Failure `unknown_event_type`, `contract_not_found`, `contract_failed`, `key_missing`, `invalid_input`, `event_too_old`,
   * `event_in_future`, `too_many_keys`, `idempotency_key_reused`, `too_many_requests`
   */
  event(machine: Machine, event: Event, once?: OnceOnly): MaybePromise<EventAnswer | Replayed>;

  /**
   * As `event`, for many in order. Those that cannot be counted have an outcome, too: they fail no other.
   * @param values what was sent, event or not @throws Failure `idempotency_key_reused`, `too_many_requests`, `store_failed`, `store_away`
   */
  events(machine: Machine, values: readonly unknown[], once?: OnceOnly): Promise<EventsAnswer | Replayed>;

  /**
   * A contract or one of its keys in the running cycle; an unknown key is as new. @param name by `Contract.nameOf`
   * @throws Failure `contract_not_found`, `too_many_keys`, `store_away`
   */
  state(contract: Contract, name?: string): Promise<Gate>;

  /** Without those that are gone. @throws Failure `store_away` */
  states(contracts: readonly Contract[]): Promise<readonly Contract[]>;

  /** @throws Failure `store_away` */
  keys(contract: Contract, page: KeyPage): Promise<KeysShown>;

  readonly samples: Samples;

  /** A cycle begins. Resolves once the last one's figures are taken. @throws Failure `store_failed`, `store_away` */
  tick(cycle: number): Promise<void>;

  /** Resolves once all rows of a machine are durable: its states may be shown. @throws Failure `store_failed` */
  durable(machine: Machine): Promise<void>;

  /** The durable end: later rows stay hidden. @throws Failure `rows_missing`, `store_failed`, `store_away` */
  head(machine: Machine): Promise<Chain['head']>;

  /**
   * Moves a contract or a key, whatever its counts. The row of the move, or of a refusal, is durable when this settles.
   * @throws Failure `no_transition`, `condition_failed`, `compute_failed`, `prove_failed`, `verify_failed`,
   * `too_many_keys`, `contract_failed`
   */
  move(contract: Contract, move: Move, name?: string): Promise<AuditRow>;
}

export interface KeyPage {
  /** `next` of the previous page; 0 for the first. */
  readonly after: number;
  readonly limit: number;
  readonly limited: boolean;
  /** Part of the name; empty for all. */
  readonly search: string;
}

export interface KeysShown {
  readonly cycle: number;
  readonly keys: readonly ReturnType<typeof keyShown>[];
  readonly next?: number;
}

export interface TimedDecision {
  readonly decision: Decision | Uncounted;
  readonly cycle: number;
  readonly nowMs: number;
}

export type DecisionResult = TimedDecision | Failure;

export interface EventAnswer {
  readonly ok: true;
  readonly cycle: number;
  readonly contracts: readonly (Decision | Uncounted)[];
}

/** An event of several contracts is admitted as often as all of them admit it. */
export interface EventsAnswer {
  readonly ok: true;
  readonly counted: number;
  readonly refused: number;
  readonly admitted: number;
  readonly limited: number;
  readonly outcomes: readonly (EventAnswer | Problem)[];
}

/** The figures of a contract at the end of a cycle: the columns of its history. */
export interface Sampled {
  readonly contract: Contract;
  /** In the order of `columns`; NaN if unknown. Admitted, limited, entries and restores are sums. */
  begin(figures: readonly number[]): void;
  take(cycle: number, figures: readonly number[]): void;
}

export interface Samples {
  readonly mostUnwatched: number;
  begin(sampled: Sampled): void;
  end(sampled: Sampled): void;
}

export function figuresOf(known: Partial<Record<Column, number>>): number[] {
  return columns.map((name) => known[name] ?? Number.NaN);
}
