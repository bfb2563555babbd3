// The interface of a store: what is stored, and when it is durable.
//
//   append, put…  ──►  batch  ──commit──►  durable  ──settled()──►  the host publishes
//
// Every implementation guarantees this; test/suite/store.ts tests it:
//   1. When `settled` is called without a failure, everything written before `commit` is durable: all of it or none.
//   2. Reads see writes at once, committed or not.
//   3. Rows of one machine have no gaps: `append` refuses any seq but the next one.
//   4. Once a cut is put, its rows are gone for every reader; freeing their room may take until later, and is no part of the promise.
//   5. What is removed is gone for every reader; freeing its room may take until later. A number or name of it may be given anew.
//   6. After a failed commit every later write fails as it did, with `store_failed` or `disk_full`.
import type { ContractDefinition } from '../limiter/definition.js';
import type { GateImage } from '../limiter/gate.js';
import type { AuditRow, Checkpoint, Cut, RowKind } from '../record/row.js';
import type { Failure } from '../schema/failure.js';
import type { KeptAnswers } from './kept-answers.js';

export interface MachineImage {
  readonly slug: string;
  readonly owner: string;
  readonly isPublic: boolean;
  readonly displayName: string;
  readonly createdCycle: number;
}

/** How a contract keeps its keys: each is a gate of its own, by the one definition. */
export interface KeyedImage {
  /** The most keys that are there at a time. */
  readonly maxKeys: number;
  /** For how long a key is remembered once it has no counts and is in the initial state, in cycles. */
  readonly idleCycles: number;
  /** What becomes of a further key while all others have counts: it is refused, or all such keys share one gate. */
  readonly overflow: 'refuse' | 'share';
  /** Keys are stored and recorded as their HMAC-SHA256 under this; undefined: as they are. */
  readonly secret?: string | undefined;
}

/** A contract beside its state. */
export interface ContractImage {
  readonly id: string;
  readonly machine: string;
  readonly definition: ContractDefinition;
  readonly templateId: string | undefined;
  readonly createdCycle: number;
  readonly firstFireCycle: number;
  readonly keyed?: KeyedImage | undefined;
  /** The name that its owner gave it: no other contract of its machine has it. */
  readonly name?: string | undefined;
  /** A second definition that is only checked. */
  readonly candidate?: ContractDefinition | undefined;
  /** How often it was changed in place; default 0. */
  readonly revision?: number | undefined;
}

/** The state that a contract needs to continue after a restart. Each write replaces it. */
export interface ContractState extends GateImage {
  readonly id: string;
  /** Of one key of the contract; undefined for the contract itself. */
  readonly key?: string | undefined;
}

export interface RowQuery {
  /** Only rows with a greater seq. */
  readonly afterSeq?: number;
  /** Only rows up to this seq. */
  readonly toSeq?: number;
  readonly limit?: number;
  readonly kind?: RowKind;
  readonly contractId?: string;
  readonly fromCycle?: number;
  readonly toCycle?: number;
}

/** A machine with everything that the host needs to restore it. */
export interface StoredMachine {
  readonly machine: MachineImage;
  readonly contracts: readonly { readonly image: ContractImage; readonly state: ContractState }[];
  readonly head: { readonly seq: number; readonly hash: string };
  /** Of its last row; undefined for a record without rows. */
  readonly last: Pick<AuditRow, 'cycle' | 'at' | 'kind'> | undefined;
}

/** Reads records. Rows in order of seq; `limit` defaults to 100. */
export interface RecordReader {
  rows(machine: string, query?: RowQuery): readonly AuditRow[] | Promise<readonly AuditRow[]>;
  /** The newest checkpoint of the machine. */
  checkpoint(machine: string): Checkpoint | undefined | Promise<Checkpoint | undefined>;
  /** What the record begins with in place of its first rows, where they were removed. */
  cut(machine: string): Cut | undefined;
}

export interface Store extends RecordReader {
  /** Written in the same transactions. */
  readonly answers: KeptAnswers;
  /** All machines, in order of slug; contracts in order of creation. */
  machines(): Iterable<StoredMachine>;
  /** The states of the keys of a contract, in any order. */
  keys(contractId: string): Iterable<ContractState>;
  putMachine(image: MachineImage): void;
  putContract(image: ContractImage, state: ContractState): void;
  /** Replaces a contract that is there. @param keepsKeys otherwise those that it has are gone; their room is freed by `sweep` */
  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void;
  /** Of a contract, or of a key of one, which may be new. */
  putState(state: ContractState): void;
  /** Removes a contract with its state and its keys. Their room is freed by `sweep`. @throws Bug if there is none */
  removeContract(id: string): void;
  /** As `removeContract`, for all contracts of a machine. */
  removeContracts(machine: string): void;
  /** Machines of which `sweep` has something to free. */
  unswept(): readonly string[];
  /**
   * Removes a machine without contracts: its kept answers, then its record, from the first row on; the last row and the machine go with the
   * last call.
   * @returns how many answers or rows were removed: fewer than `most` once all are
   */
  removeMachine(slug: string, most: number): number;
  /** Removes the state of a key, if there is one. */
  forgetKey(contractId: string, key: string): void;
  /** @throws Bug unless `row.seq` is the seq after the last one of its machine */
  append(row: AuditRow): void;
  putCheckpoint(checkpoint: Checkpoint): void;
  /** Calls `settled` once everything written before is durable: at once in memory, after the group commit on disk. */
  commit(settled: (failure?: Failure) => void): void;
  /** Rows in order of seq. `limit` defaults to 100. */
  rows(machine: string, query?: RowQuery): readonly AuditRow[];
  /** Bytes of the rows of a machine, each as canonical JSON. */
  recordBytes(machine: string): number;
  /** The newest checkpoint of the machine. */
  checkpoint(machine: string): Checkpoint | undefined;
  /** Removes the rows up to that of the cut. @throws Bug for a cut of the last row, or one before the cut that is there */
  putCut(cut: Cut): void;
  /** Frees the room of up to `most` removed rows, or keys of removed contracts. @returns of how many it was freed */
  sweep(machine: string, most: number): number;
  /** Takes writes again after `disk_full` if there is room by now. Then the store holds what was settled, and nothing else. */
  recover(): boolean;
  /** Commits pending writes and closes the file. */
  close(): void;
}
