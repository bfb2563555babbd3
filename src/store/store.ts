// Owns the promise that every store makes: what is kept, and when it is safe. Leaves the keeping to memory.ts, sqlite.ts.
//
//   append, put…  ──►  batch  ──commit──►  durable  ──settled()──►  the host tells the world
//
// The promise, held by test/suite/store.ts for every implementation:
//   1. What was written before `commit` is durable, all of it or none, when `settled` is called without a failure.
//   2. Reads see what was written at once, committed or not.
//   3. Rows of one machine have no holes: `append` refuses any seq but the next one.
//   4. After a failed commit the store takes nothing more: every later write fails with `store_failed`.
import type { ContractDefinition } from '../limiter/definition.js';
import type { GateImage } from '../limiter/gate.js';
import type { AuditRow, Checkpoint, RowKind } from '../record/row.js';
import type { Failure } from '../schema/failure.js';

export interface MachineImage {
  readonly slug: string;
  readonly owner: string;
  readonly isPublic: boolean;
  readonly displayName: string;
  readonly createdCycle: number;
}

/** A contract as it was made. Never changes. */
export interface ContractImage {
  readonly id: string;
  readonly machine: string;
  readonly definition: ContractDefinition;
  readonly templateId: string | undefined;
  readonly createdCycle: number;
  readonly firstFireCycle: number;
}

/** What a contract must remember to continue after a restart. Replaced whole at each write. */
export interface ContractState extends GateImage {
  readonly id: string;
}

export interface RowQuery {
  /** Rows with a greater seq only. */
  readonly afterSeq?: number;
  readonly limit?: number;
  readonly kind?: RowKind;
  readonly contractId?: string;
  readonly fromCycle?: number;
  readonly toCycle?: number;
}

/** A machine with all that the host needs to bring it to life again. */
export interface StoredMachine {
  readonly machine: MachineImage;
  readonly contracts: readonly { readonly image: ContractImage; readonly state: ContractState }[];
  readonly head: { readonly seq: number; readonly hash: string };
  /** When its last row happened; undefined for a record without rows. */
  readonly last: Pick<AuditRow, 'cycle' | 'at'> | undefined;
}

export interface Store {
  /** All machines, in order of slug; contracts in order of creation. */
  machines(): Iterable<StoredMachine>;
  putMachine(image: MachineImage): void;
  putContract(image: ContractImage, state: ContractState): void;
  putState(state: ContractState): void;
  /** @throws Bug unless `row.seq` is the seq after the last one of its machine */
  append(row: AuditRow): void;
  putCheckpoint(checkpoint: Checkpoint): void;
  /** Calls `settled` once all that was written before is durable: at once in memory, after the group commit on disk. */
  commit(settled: (failure?: Failure) => void): void;
  /** Rows in order of seq. `limit` defaults to 100. */
  rows(machine: string, query?: RowQuery): readonly AuditRow[];
  /** The newest checkpoint of the machine. */
  checkpoint(machine: string): Checkpoint | undefined;
  /** Commits what is left and lets go of the file. */
  close(): void;
}
