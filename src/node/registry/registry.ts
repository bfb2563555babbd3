// The port to what a node keeps: machines, contracts, and who may use them. Siblings: registry/local.ts over the store of this process,
// network/registry.ts over Redis. Both resolve once a change is durable. test/suite/registry.ts holds their promises.
import type { Observable } from 'rxjs';
import type { Static } from 'typebox';
import type { listNodes } from '../../api/node.js';
import type { Contract } from '../../host/contract.js';
import type { Changed, ContractChange } from '../../host/contract-change.js';
import type { ContractOptions, Host, NewMachine } from '../../host/host.js';
import type { AdminNote, Happening } from '../../host/ledger.js';
import type { Machine } from '../../host/machine.js';
import type { Plan } from '../../limiter/plan.js';
import type { AuditRow } from '../../record/row.js';
import type { Signer } from '../../record/signing.js';
import { Failure } from '../../schema/failure.js';
import type { Credentials, Key, Session } from '../../store/credential-store.js';
import type { MissingRows } from '../../store/head-mark.js';
import type { WallClock } from '../../time/wall.js';
import type { Limits } from '../limits.js';
import type { Ownership } from '../ownership.js';
import type { Freed, Usage, Used } from '../usage.js';

export interface KeyChange {
  readonly made?: Key;
  /** Keys that end sooner. */
  readonly changed?: readonly Key[];
  readonly note?: AdminNote & { readonly owner: string };
}

export interface InUse {
  readonly all: Readonly<Used>;
  /** Of the owner: what they have, and how much of it they may still have. */
  readonly own?: { readonly used: Readonly<Used>; readonly left: Readonly<Used>; readonly keys: number };
}

export type NodeShown = Static<(typeof listNodes.answers)[200]['schema']>['nodes'][number];

export interface RegistryParts {
  readonly host: Host;
  readonly clock: WallClock;
  readonly signer: Signer;
  readonly usage: Usage;
  readonly ownership: Ownership;
  readonly credentials: Credentials;
  readonly listener: CredentialListener;
  readonly limits: Limits;
}

/** Whom a change of keys and sessions concerns, whichever node makes it. */
export interface CredentialListener {
  onKey(key: Key): void;
  onSessionEnded(hash: string): void;
}

export interface Registry {
  /** What the bounds of owners are about. */
  readonly place: 'node' | 'network';
  /**
   * @param asked without `by`: of the node itself, and takes no room
   * @throws Failure `slug_taken`, by then the host has that machine; `limit_reached`
   */
  createMachine(asked: NewMachine): Promise<Machine>;
  /**
   * @param plan made with the operators of this node
   * @param options `by` as of `createMachine`
   * @throws Failure `machine_not_found`, `machine_deleted`, `limit_reached`
   */
  createContract(machine: Machine, plan: Plan, options: ContractOptions): Promise<Contract>;
  /**
   * Changes a contract in place; every node follows within a cycle.
   * @param change its plans are made with the operators of this node
   * @throws Failure `contract_not_found`, `machine_deleted`, `name_taken`, `no_candidate`, `limit_reached`, `invalid_definition`
   */
  changeContract(contract: Contract, change: ContractChange): Promise<Changed>;
  /** @param by the id of a key; absent: the node itself @throws Failure `contract_not_found`, `machine_deleted` */
  deleteContract(contract: Contract, by?: string): Promise<Freed>;
  /**
   * Deletes a machine with its contracts; its record can still be read.
   * @param by as of `deleteContract`
   * @returns what is free now; undefined where the machine was deleted before and `by` is absent
   * @throws Failure `machine_deleted`
   */
  deleteMachine(machine: Machine, by?: string): Promise<(Freed & { readonly machines: number }) | undefined>;
  /**
   * Changes keys of an owner, and writes the row about it, at once or not at all.
   * @throws Failure `limit_reached` where the owner has as many keys as they may
   */
  changeKeys(change: KeyChange): Promise<void>;
  openSession(session: Session): Promise<void>;
  /** Does nothing where there is no such session. */
  endSession(hash: string): Promise<void>;
  forgetExpired(): void;
  /** What an owner has, and all have together. @throws Failure `store_away` */
  used(owner: string | undefined): InUse | Promise<InUse>;
  /** The nodes that share this registry, those that are up first; none for a single node. @throws Failure `store_away` */
  nodes(): readonly NodeShown[] | Promise<readonly NodeShown[]>;
  /** Rows, each once it is durable, whichever node has written it. */
  readonly happenings: Observable<Happening>;
  take(row: AuditRow): void;
  /** At each cycle: what a registry does by itself. @throws Failure of the store */
  tick(cycle: number): Promise<void>;
  /**
   * Learns what there is, before anything else is asked.
   * @param lost acknowledged rows that are missing: each machine that is still there gets a row that says so
   */
  start(lost: readonly MissingRows[]): Promise<void>;
  /** Resolves once all that was changed here is durable. @throws Failure `store_failed` */
  settled(): Promise<void>;
  /** This node answers from now on. @param address for those on its own machine; undefined: for others, too */
  come(address: string | undefined): Promise<void>;
  leave(): Promise<void>;
  /** Makes durable what is not yet: no request is under way. */
  save(): Promise<void>;
  close(): void;
  /** Learns what other nodes have changed; undefined where there are none. */
  readonly follow?: () => Promise<void>;
}

export function keyLimitReached(most: number, place: Registry['place']): Failure {
  return new Failure('limit_reached', {
    what: 'No key was made.',
    why: `An owner has up to ${most} keys on this ${place}, revoked ones too until they would have expired.`,
    fix: 'Wait until one expires, or use those you have.',
  });
}
