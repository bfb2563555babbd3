// The interface of a store: what is stored, and when it is durable.
//
//   append, put…  ──►  batch  ──commit──►  durable  ──settled()──►  the host publishes
//
// Every implementation guarantees this; test/suite/store.ts tests it:
//   1. When `settled` is called without a failure, everything written before `commit` is durable: all of it or none.
//   2. Reads see writes at once, committed or not.
//   3. Rows of one machine have no gaps: `append` refuses any seq but the next one.
//   4. Rows before a cut, and removed objects, disappear for every reader at once; their space may be freed later, and their numbers
//      and names reused.
//   5. After a failed commit, which a durable store may have, every later write fails likewise, with `store_failed` or `disk_full`.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import type { GateImage } from '../../core/limiter/gate-record.js';
import type { AuditRow, Checkpoint, Cut, RowKind } from '../../core/record/row.js';
import type { Failure } from '../../core/schema/failure.js';

export interface MachineImage {
  readonly slug: string;
  readonly owner: string;
  readonly isPublic: boolean;
  readonly displayName: string;
  readonly createdCycle: number;
}

/** Each key has its own gate, all by one definition. */
export interface KeyedImage {
  readonly maxKeys: number;
  /** How long an empty key in the initial state is remembered, in cycles. */
  readonly idleCycles: number;
  /** For a new key while all others have counts: it is refused, or all such keys share one gate. */
  readonly overflow: 'refuse' | 'share';
  /** Keys are stored and recorded as their HMAC-SHA256 under this; undefined: in plain text. */
  readonly secret?: string | undefined;
}

export interface ContractImage {
  readonly id: string;
  readonly machine: string;
  readonly definition: ContractDefinition;
  readonly templateId: string | undefined;
  readonly createdCycle: number;
  readonly firstFireCycle: number;
  readonly keyed?: KeyedImage | undefined;
  /** Unique among the contracts of its machine. */
  readonly name?: string | undefined;
  readonly candidate?: ContractDefinition | undefined;
  readonly revision?: number | undefined;
}

const texts = new WeakMap<ContractDefinition, string>();

/** Not canonical JSON, which would lose the order of states and parameters. Thousands of contracts share a definition. */
export function definitionText(definition: ContractDefinition): string {
  const text = texts.get(definition) ?? JSON.stringify(definition);
  texts.set(definition, text);
  return text;
}

export interface ContractState extends GateImage {
  readonly id: string;
  readonly key?: string | undefined;
}

export interface RowQuery {
  readonly afterSeq?: number | undefined;
  readonly toSeq?: number | undefined;
  readonly limit?: number | undefined;
  readonly kind?: RowKind | undefined;
  readonly contractId?: string | undefined;
  readonly fromCycle?: number | undefined;
  readonly toCycle?: number | undefined;
}

export interface StoredMachine {
  readonly machine: MachineImage;
  readonly contracts: readonly { readonly image: ContractImage; readonly state: ContractState }[];
  readonly head: { readonly seq: number; readonly hash: string };
  readonly last: Pick<AuditRow, 'cycle' | 'at' | 'kind'> | undefined;
}

/** Rows in order of seq; `limit` defaults to 100. */
export interface RecordReader {
  /** What a read found first that is damaged: more may be. */
  readonly damage?: Failure | undefined;
  rows(machine: string, query?: RowQuery): readonly AuditRow[] | Promise<readonly AuditRow[]>;
  checkpoint(machine: string): Checkpoint | undefined | Promise<Checkpoint | undefined>;
  /** Replaces the removed first rows, if any. */
  cut(machine: string): Cut | undefined;
}

export interface Store extends RecordReader {
  /** Written in the same transactions. */
  readonly answers: KeptAnswers;
  /** As last noted, by this process or one before that was killed; 0 for none. */
  readonly lastCycle: number;
  /** Called in each cycle before its answers. */
  noteCycle(cycle: number): void;
  /** In order of slug; contracts in order of creation. */
  machines(): Iterable<StoredMachine>;
  keys(contractId: string): Iterable<ContractState>;
  putMachine(image: MachineImage): void;
  putContract(image: ContractImage, state: ContractState): void;
  /** @param keepsKeys false removes its keys; `sweep` frees their space */
  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void;
  /** Stores the state of a contract, or of one of its keys, which may be new. */
  putState(state: ContractState): void;
  /** With state and keys; `sweep` frees their space. @throws Bug if there is no such contract */
  removeContract(id: string): void;
  removeContracts(machine: string): void;
  /** Machines for which `sweep` has work. */
  unswept(): readonly string[];
  /**
   * Removes a machine without contracts: its kept answers, then its record, oldest row first; the last row and the machine
   * go with the last call. @returns the number of answers or rows removed: below `most` once all are gone
   */
  removeMachine(slug: string, most: number): number;
  deleteKey(contractId: string, key: string): void;
  /** @throws Bug unless `row.seq` is the seq after the last one of its machine */
  append(row: AuditRow): void;
  putCheckpoint(checkpoint: Checkpoint): void;
  /** Calls `settled` once all earlier writes are durable: at once in memory, after the group commit on disk. */
  commit(settled: (failure?: Failure) => void): void;
  rows(machine: string, query?: RowQuery): readonly AuditRow[];
  recordBytes(machine: string): number;
  checkpoint(machine: string): Checkpoint | undefined;
  /** Removes the rows up to the cut. @throws Bug for a cut of the last row, or one before the present cut */
  putCut(cut: Cut): void;
  /** Frees the space of up to `most` removed rows or keys. @returns how many */
  sweep(machine: string, most: number): number;
  /** Accepts writes again if a full disk has room. The store then holds exactly what was settled. */
  recover(): boolean;
  close(): void;
}

/** An answer by idempotency key: a repeated request is answered again but not counted again. */
export interface KeptAnswer {
  readonly machine: string;
  /** Hash of the idempotency key; unique per machine. */
  readonly key: string;
  /** Hash of the request: reusing the key for another request is an error of the client. */
  readonly request: string;
  readonly untilCycle: number;
  readonly answer: string;
}

/**
 * Written in the same transaction as the counts of the request: after a crash the store holds both or neither. Reads see writes at once.
 * test/suite/kept-answers.ts tests every implementation.
 */
export interface KeptAnswers {
  put(answer: KeptAnswer): void;
  find(machine: string, key: string): KeptAnswer | undefined;
  /** Deletes up to `most` expired answers, oldest first. */
  purge(cycle: number, most: number): readonly KeptSize[];
  /** Removes up to `most` answers of a machine. @returns the number removed: below `most` once all are gone */
  remove(machine: string, most: number): number;
  sizes(): Iterable<KeptSize & { readonly count: number }>;
}

export interface KeptSize {
  readonly machine: string;
  readonly length: number;
}
