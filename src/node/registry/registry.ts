// The port to what a node keeps: machines, contracts, and who may use them. Implemented by registry/local.ts (the store of this process) and
// network/registry.ts (Redis). Both resolve once a change is durable; test/suite/registry.ts runs over both.
import type { Observable } from 'rxjs';
import type { Static } from 'typebox';
import type { listNodes } from '../../api/node.js';
import type { Plan } from '../../core/limiter/plan.js';
import type { KeyRing } from '../../core/record/key-ring.js';
import type { AuditRow } from '../../core/record/row.js';
import type { Signer } from '../../core/record/signing.js';
import { sha256Hex } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import type { WallClock } from '../../core/time/wall.js';
import type { CallerQueue } from '../caller-queue.js';
import type { Counting } from '../counting/counting.js';
import type { Contract } from '../host/contract.js';
import type { Changed, ContractChange } from '../host/contract-change.js';
import type { ContractOptions, Host, NewMachine } from '../host/host.js';
import type { AdminNote } from '../host/ledger.js';
import type { Machine } from '../host/machine.js';
import type { Limits } from '../limits.js';
import type { Ownership } from '../ownership.js';
import type { Credentials, Key } from '../store/credential-store.js';
import type { MissingRows } from '../store/head-mark.js';
import { definitionText, type RecordReader } from '../store/store.js';
import type { Freed, Usage } from '../usage.js';

export interface KeyChange {
  readonly made?: Key;
  /** Keys that end sooner, and sessions that begin or end. */
  readonly changed?: readonly Key[];
  readonly note?: AdminNote & { readonly owner: string };
}

export type NodeShown = Static<(typeof listNodes.answers)[200]['schema']>['nodes'][number];

export interface RegistryContext {
  readonly host: Host;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly usage: Usage;
  readonly ownership: Ownership;
  readonly credentials: Credentials;
  /** Called for a key that any node has changed. */
  readonly onKey: (key: Key) => void;
  readonly limits: Limits;
}

export interface Registry {
  readonly place: 'node' | 'network';
  /** Without `by`: the node's own, without limits. @throws Failure `slug_taken` (then known here), `limit_reached` */
  createMachine(asked: NewMachine): Promise<Machine>;
  /** @param plan by this node's operators @throws Failure `machine_not_found`, `machine_deleted`, `limit_reached` */
  createContract(machine: Machine, plan: Plan, options: ContractOptions): Promise<Contract>;
  /**
   * In place; every node follows within a cycle. @param change its plans are made with the operators of this node
   * @throws Failure `contract_not_found`, `machine_deleted`, `name_taken`, `no_candidate`, `limit_reached`,
   * `invalid_definition`
   */
  changeContract(contract: Contract, change: ContractChange): Promise<Changed>;
  /** @param by the id of a key; absent: the node itself @throws Failure `contract_not_found`, `machine_deleted` */
  deleteContract(contract: Contract, by?: string): Promise<Freed>;
  /**
   * Its record stays readable. @returns what is free now; undefined if it was deleted before and `by` is absent
   * @throws Failure `machine_deleted`
   */
  deleteMachine(machine: Machine, by?: string): Promise<(Freed & { readonly machines: number }) | undefined>;
  /** Writes keys and the row about them together. @throws Failure `limit_reached` if the owner has too many keys */
  changeKeys(change: KeyChange): Promise<void>;
  purgeExpired(): void;
  /** All nodes, running ones first; none for a single node. @throws Failure `store_away` */
  nodes(): readonly NodeShown[] | Promise<readonly NodeShown[]>;
  /** Whichever node has written them. */
  readonly durableRows: Observable<AuditRow>;
  take(row: AuditRow): void;
  /** The periodic work of the registry. @throws Failure of the store */
  tick(cycle: number): Promise<void>;
  /** Called before all else. @param lost missing acknowledged rows; the record of each remaining machine notes them */
  start(lost: readonly MissingRows[]): Promise<void>;
  /**
   * The node listens: what it has loaded and made so far is durable, and other nodes may know of it.
   * @param address of a node on loopback; undefined if other machines reach it @throws Failure `store_failed`, `store_away`
   */
  join(address: string | undefined): Promise<void>;
  /** No request is pending: the rest is made durable. */
  leave(): Promise<void>;
  close(): void;
  /** Reads changes by other nodes; undefined for a single node. */
  readonly follow?: () => Promise<void>;
}

/** Several nodes share a store: a node keeps and counts there in place of its own. */
export interface NodeOfMany {
  readonly clock: WallClock;
  readonly signer: Signer;
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
}

/** @param host knows what exists; nothing counts in it */
export type JoinNetwork = (node: NodeOfMany, host: Host) => SharedStore;

interface SharedStore {
  readonly record: RecordReader;
  /** The public keys of all nodes ever registered. */
  keys(): Promise<KeyRing>;
  registry(context: RegistryContext): Registry;
  counting(queue: CallerQueue): Counting;
}

/** The first contract that runs by this plan, with keys. Definitions are compared, since those of Redis have plans of their own. */
export function contractBy({ definition }: Plan, maxKeys: number, { contracts }: Machine): Contract | undefined {
  const text = definitionText(definition);
  const isSame = ({ plan, image, failure }: Contract) =>
    failure === undefined && image.keyed?.maxKeys === maxKeys && definitionText(plan.definition) === text;
  return contracts.find(isSame);
}

export function keyLimitReached(most: number, place: Registry['place']): Failure {
  return new Failure('limit_reached', {
    what: 'No key was made.',
    why: `An owner has up to ${most} keys on this ${place}, revoked ones too until they would have expired.`,
    fix: 'Wait until one expires, or use those you have.',
  });
}

/** The private machine that records what was done to an owner's keys. Only the node writes to it; it is read and verified like any other. */
export function keyMachineOf(owner: string): NewMachine {
  return { slug: keySlugOf(owner), owner, displayName: 'What was done to your keys' };
}

export function keySlugOf(owner: string): string {
  return `weir-keys-${sha256Hex(owner).slice(0, 24)}`;
}
