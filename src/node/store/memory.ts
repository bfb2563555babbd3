// The store of simulations and tests: everything in memory, lost when the process ends.

import { getOrInsert } from '../../core/math/get-or-insert.js';
import { EMPTY } from '../../core/record/chain.js';
import { type AuditRow, bytesOfRow, type Checkpoint, type Cut } from '../../core/record/row.js';
import { assert, type Failure } from '../../core/schema/failure.js';
import type {
  ContractImage,
  ContractState,
  KeptAnswer,
  KeptAnswers,
  KeptSize,
  MachineImage,
  RowQuery,
  Store,
  StoredMachine,
} from './store.js';

interface Contract {
  image: ContractImage;
  state: ContractState;
  keys: Map<string, ContractState> | undefined;
}

interface Shelf {
  machine: MachineImage;
  readonly contracts: Contract[];
  /** The first row follows the removed ones. */
  readonly rows: AuditRow[];
  bytes: number;
  checkpoint: Checkpoint | undefined;
  cut: Cut | undefined;
}

interface MemoryStoreOptions {
  /** Whether states of contracts and keys are kept; pointless if the node ends with its memory. Default: true. */
  readonly keepsStates?: boolean;
}

/** Stores images and rows without copying: the caller must not change them afterwards. */
export class MemoryStore implements Store {
  readonly answers = new MemoryAnswers();
  lastCycle = 0;
  readonly #keepsStates: boolean;
  readonly #shelves = new Map<string, Shelf>();
  readonly #contracts = new Map<string, Contract>();

  constructor({ keepsStates = true }: MemoryStoreOptions = {}) {
    this.#keepsStates = keepsStates;
  }

  noteCycle(cycle: number): void {
    this.lastCycle = cycle;
  }

  machines(): Iterable<StoredMachine> {
    const slugs = [...this.#shelves.keys()].sort();
    return slugs.map((slug) => {
      const { machine, contracts, rows } = this.#shelf(slug);
      const last = rows.at(-1);
      const { seq, hash } = last ?? EMPTY;
      const stored = contracts.map(({ image, state }) => ({ image, state: structuredClone(state) }));
      return { machine, contracts: stored, head: { seq, hash }, last };
    });
  }

  keys(contractId: string): Iterable<ContractState> {
    return structuredClone([...(this.#contracts.get(contractId)?.keys?.values() ?? [])]);
  }

  putMachine(image: MachineImage): void {
    const shelf = this.#shelves.get(image.slug);
    if (shelf !== undefined) shelf.machine = image;
    else
      this.#shelves.set(image.slug, {
        machine: image,
        contracts: [],
        rows: [],
        bytes: 0,
        checkpoint: undefined,
        cut: undefined,
      });
  }

  putContract(image: ContractImage, state: ContractState): void {
    assert(image.id === state.id, `the state of contract ${state.id} was put beside the image of ${image.id}`);
    assert(!this.#contracts.has(image.id), `contract ${image.id} is in the store already`);
    const contract = { image, state: structuredClone(state), keys: undefined };
    this.#shelf(image.machine).contracts.push(contract);
    this.#contracts.set(image.id, contract);
  }

  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void {
    const contract = this.#contracts.get(image.id);
    assert(contract !== undefined, `contract ${image.id} is not in the store`);
    Object.assign(contract, { image, state: structuredClone(state) });
    if (!keepsKeys) contract.keys = undefined;
  }

  putState(state: ContractState): void {
    const contract = this.#contracts.get(state.id);
    assert(contract !== undefined, `contract ${state.id} is not in the store`);
    if (!this.#keepsStates) return;
    if (state.key === undefined) contract.state = structuredClone(state);
    else {
      contract.keys ??= new Map();
      contract.keys.set(state.key, structuredClone(state));
    }
  }

  removeContract(id: string): void {
    const contract = this.#contracts.get(id);
    assert(contract !== undefined, `contract ${id} is not in the store`);
    this.#contracts.delete(id);
    const { contracts } = this.#shelf(contract.image.machine);
    contracts.splice(contracts.indexOf(contract), 1);
  }

  removeContracts(machine: string): void {
    for (const { image } of this.#shelf(machine).contracts.splice(0)) this.#contracts.delete(image.id);
  }

  unswept(): readonly string[] {
    return [];
  }

  removeMachine(slug: string, most: number): number {
    const shelf = this.#shelf(slug);
    assert(shelf.contracts.length === 0, `machine ${slug} still has contracts`);
    const removed = this.answers.remove(slug, most);
    if (removed >= most) return removed;
    const length = removeFirst(shelf, Math.min(most, shelf.rows.length - 1));
    if (length < most) this.#shelves.delete(slug);
    return length;
  }

  deleteKey(contractId: string, key: string): void {
    this.#contracts.get(contractId)?.keys?.delete(key);
  }

  append(row: AuditRow): void {
    const shelf = this.#shelf(row.machine);
    const { rows } = shelf;
    const last = rows.at(-1)?.seq ?? 0;
    assert(row.seq === last + 1, `row ${row.seq} of ${row.machine} was appended after row ${last}`);
    rows.push(row);
    shelf.bytes += bytesOfRow(row);
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    const shelf = this.#shelf(checkpoint.machine);
    if (shelf.checkpoint === undefined || shelf.checkpoint.seq <= checkpoint.seq) shelf.checkpoint = checkpoint;
  }

  commit(settled: (failure?: Failure) => void): void {
    settled();
  }

  rows(machine: string, query: RowQuery = {}): readonly AuditRow[] {
    const {
      afterSeq = 0,
      toSeq = Infinity,
      limit = 100,
      kind,
      contractId,
      fromCycle = -Infinity,
      toCycle = Infinity,
    } = query;
    const { rows = [], cut } = this.#shelves.get(machine) ?? {};
    const found: AuditRow[] = [];
    const removed = cut?.removed_to_seq ?? 0;
    const end = Math.min(rows.length, toSeq - removed);
    for (let index = Math.max(0, afterSeq - removed); index < end && found.length < limit; index++) {
      const row = rows[index]!;
      if (kind !== undefined && row.kind !== kind) continue;
      if (contractId !== undefined && row.contract_id !== contractId) continue;
      if (fromCycle <= row.cycle && row.cycle <= toCycle) found.push(row);
    }
    return found;
  }

  recordBytes(machine: string): number {
    return this.#shelves.get(machine)?.bytes ?? 0;
  }

  checkpoint(machine: string): Checkpoint | undefined {
    return this.#shelves.get(machine)?.checkpoint;
  }

  cut(machine: string): Cut | undefined {
    return this.#shelves.get(machine)?.cut;
  }

  putCut(cut: Cut): void {
    const shelf = this.#shelf(cut.machine);
    const { removed_to_seq: seq } = cut;
    const removed = shelf.cut?.removed_to_seq ?? 0;
    assert(
      removed <= seq && seq < removed + shelf.rows.length,
      `rows of ${cut.machine} up to ${seq} cannot be removed`,
    );
    removeFirst(shelf, seq - removed);
    shelf.cut = cut;
  }

  sweep(): number {
    return 0;
  }

  recover(): boolean {
    return false;
  }

  close(): void {}

  #shelf(slug: string): Shelf {
    const shelf = this.#shelves.get(slug);
    assert(shelf !== undefined, `machine ${slug} is not in the store`);
    return shelf;
  }
}

function removeFirst(shelf: Shelf, rows: number): number {
  const removed = shelf.rows.splice(0, rows);
  for (const row of removed) shelf.bytes -= bytesOfRow(row);
  return removed.length;
}

export class MemoryAnswers implements KeptAnswers {
  readonly #answers = new Map<string, Map<string, KeptAnswer>>();
  readonly #byCycle = new Map<number, KeptAnswer[]>();

  put(answer: KeptAnswer): void {
    getOrInsert(this.#answers, answer.machine, () => new Map()).set(answer.key, answer);
    getOrInsert(this.#byCycle, answer.untilCycle, () => []).push(answer);
  }

  find(machine: string, key: string): KeptAnswer | undefined {
    return this.#answers.get(machine)?.get(key);
  }

  purge(cycle: number, most: number): readonly KeptSize[] {
    const purged: KeptSize[] = [];
    const due = [...this.#byCycle.keys()].filter((until) => until <= cycle).sort((a, b) => a - b);
    for (const until of due) {
      const answers = this.#byCycle.get(until)!;
      while (answers.length > 0 && purged.length < most) {
        const answer = answers.pop()!;
        const { machine, key } = answer;
        if (this.find(machine, key) !== answer) continue;
        this.#delete(answer);
        purged.push({ machine, length: answer.answer.length });
      }
      if (answers.length === 0) this.#byCycle.delete(until);
    }
    return purged;
  }

  remove(machine: string, most: number): number {
    let removed = 0;
    for (const answer of this.#answers.get(machine)?.values() ?? []) {
      if (removed === most) break;
      this.#delete(answer);
      removed += 1;
    }
    return removed;
  }

  *sizes(): Generator<KeptSize & { readonly count: number }> {
    for (const [machine, answers] of this.#answers) {
      let length = 0;
      for (const { answer } of answers.values()) length += answer.length;
      yield { machine, count: answers.size, length };
    }
  }

  #delete({ machine, key }: KeptAnswer): void {
    const ofMachine = this.#answers.get(machine)!;
    ofMachine.delete(key);
    if (ofMachine.size === 0) this.#answers.delete(machine);
  }
}
