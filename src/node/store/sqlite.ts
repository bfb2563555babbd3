// The store of a node in one SQLite file: machines, contracts and states on top of `SqliteRecords`; credentials and kept answers share its
// transactions.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { sha256Hex } from '../../core/schema/canonical.js';
import { assert } from '../../core/schema/failure.js';
import { CYCLE } from './head-mark.js';
import { SqliteAnswers } from './sqlite-answers.js';
import type { SqliteOptions } from './sqlite-connection.js';
import { SqliteCredentials } from './sqlite-credentials.js';
import { damaged } from './sqlite-failure.js';
import { openSqliteFile } from './sqlite-file.js';
import { SqliteRecords } from './sqlite-records.js';
import { decodeState, encodeState } from './state-codec.js';
import {
  type ContractImage,
  type ContractState,
  definitionText,
  type MachineImage,
  type Store,
  type StoredMachine,
} from './store.js';

export interface SqliteStoreOptions extends SqliteOptions {
  readonly dir: string;
  /** Blocking wait for another process to release the folder, in ms. Default 500. */
  readonly lockWaitMs?: number | undefined;
  /** Whether to continue although acknowledged rows are missing. Default false. */
  readonly acceptLoss?: boolean | undefined;
}

/** @throws Failure `unwritable_folder`, `store_locked`, `store_damaged`, `store_other_version`, `rows_missing` */
export function openSqliteStore({
  dir,
  lockWaitMs = 500,
  acceptLoss = false,
  ...options
}: SqliteStoreOptions): SqliteStore {
  return new SqliteStore(openSqliteFile(dir, lockWaitMs, acceptLoss), options);
}

/** Batch size of reads, so that a slow reader does not keep the database busy. */
const KEYS_AT_ONCE = 1_024;

const MACHINE = '(SELECT id FROM machines WHERE slug = ?)';
const CONTRACT = '(SELECT number FROM contracts WHERE id = ? AND is_removed = 0)';

export class SqliteStore extends SqliteRecords implements Store {
  readonly credentials = new SqliteCredentials(this);
  readonly answers = new SqliteAnswers(this);
  /** By contract id, once written: a lookup takes half as long as the update of a state. */
  readonly #numbers = new Map<string, number>();

  get lastCycle(): number {
    return this.mark.of(CYCLE);
  }

  noteCycle(cycle: number): void {
    this.mark.noteCycle(cycle);
  }

  /** Holds one machine at a time. Contracts with the same definition share one object. */
  *machines(): Generator<StoredMachine> {
    const definitions = new Map<number, ContractDefinition>();
    for (let after = ''; ; ) {
      const found = this.get<{ slug: string; image: string }>(
        'SELECT slug, image FROM machines WHERE slug > ? ORDER BY slug LIMIT 1',
        after,
      );
      if (found === undefined) return;
      after = found.slug;
      const machine = this.parsed<MachineImage>(found.image, `What is kept of machine ${after}`);
      yield { machine, contracts: this.#contractsOf(after, definitions), ...this.endOf(after) };
    }
  }

  *keys(contractId: string): Generator<ContractState> {
    for (let after = ''; ; ) {
      const page = this.all<{ readonly key: string; readonly bytes: Uint8Array }>(
        `SELECT key, bytes FROM key_states WHERE contract = ${CONTRACT} AND key > ? ORDER BY key LIMIT ?`,
        ...[contractId, after, KEYS_AT_ONCE],
      );
      for (const { key, bytes } of page) yield this.#stateOf({ id: contractId, key }, bytes);
      if (page.length < KEYS_AT_ONCE) return;
      after = page.at(-1)!.key;
    }
  }

  putMachine(image: MachineImage): void {
    this.run(
      'INSERT INTO machines (slug, image) VALUES (?, ?) ON CONFLICT (slug) DO UPDATE SET image = excluded.image',
      ...[image.slug, JSON.stringify(image)],
    );
  }

  putContract(image: ContractImage, state: ContractState): void {
    const { id, machine, definition } = image;
    assert(id === state.id, `the state of contract ${state.id} was put beside the image of ${id}`);
    const digest = this.#putDefinition(definition);
    const changes = this.run(
      `INSERT INTO contracts (id, machine, definition, image)
       SELECT ?, machines.id, definitions.id, ? FROM machines, definitions WHERE slug = ? AND digest = ?`,
      ...[id, textOf(image), machine, digest],
    );
    assert(changes === 1, `machine ${machine} is not in the store`);
    this.run(`INSERT INTO states (contract, bytes) VALUES (${CONTRACT}, ?)`, id, encodeState(state));
  }

  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void {
    const { id, keyed, revision } = image;
    const before = this.get<{ number: number; place: number; definition: number }>(
      `SELECT number, coalesce(place, number) AS place, definition FROM contracts WHERE number = ${CONTRACT}`,
      id,
    );
    assert(before !== undefined, `contract ${id} is not in the store`);
    if (!keepsKeys && keyed !== undefined) {
      this.#numbers.delete(id);
      const formerId = `${id} until ${revision}`;
      this.run('UPDATE contracts SET id = ?, is_removed = 1 WHERE number = ?', formerId, before.number);
      this.putContract(image, state);
      this.run(`UPDATE contracts SET place = ? WHERE number = ${CONTRACT}`, before.place, id);
      return;
    }
    this.run(
      'UPDATE contracts SET definition = (SELECT id FROM definitions WHERE digest = ?), image = ? WHERE number = ?',
      ...[this.#putDefinition(image.definition), textOf(image), before.number],
    );
    this.putState(state);
    this.#dropDefinition(before.definition);
  }

  putState(image: ContractState): void {
    const { id, key } = image;
    const bytes = encodeState(image);
    const number = this.#numberOf(id);
    if (key === undefined) this.run('UPDATE states SET bytes = ? WHERE contract = ?', bytes, number);
    else
      this.run(
        `INSERT INTO key_states (contract, key, bytes) VALUES (?, ?, ?)
         ON CONFLICT (contract, key) DO UPDATE SET bytes = excluded.bytes`,
        ...[number, key, bytes],
      );
  }

  removeContract(id: string): void {
    this.#numbers.delete(id);
    const changes = this.run(`UPDATE contracts SET is_removed = 1 WHERE number = ${CONTRACT}`, id);
    assert(changes === 1, `contract ${id} is not in the store`);
  }

  removeContracts(machine: string): void {
    this.#numbers.clear();
    this.run(`UPDATE contracts SET is_removed = 1 WHERE machine = ${MACHINE} AND is_removed = 0`, machine);
  }

  unswept(): readonly string[] {
    return this.all<{ slug: string }>(
      'SELECT slug FROM machines WHERE id IN (SELECT machine FROM contracts WHERE is_removed = 1)',
    ).map(({ slug }) => slug);
  }

  sweep(machine: string, most: number): number {
    const freed = this.sweepRows(machine, most);
    return freed + this.#sweepContracts(machine, most - freed);
  }

  removeMachine(slug: string, most: number): number {
    const answers = this.answers.remove(slug, most);
    if (answers >= most) return answers;
    const freed = this.#sweepContracts(slug, most);
    if (freed >= most) return freed;
    const removed = this.removeRecord(slug, most);
    if (removed < most) this.run('DELETE FROM machines WHERE slug = ?', slug);
    return removed;
  }

  deleteKey(contractId: string, key: string): void {
    this.run(`DELETE FROM key_states WHERE contract = ${CONTRACT} AND key = ?`, contractId, key);
  }

  override recover(): boolean {
    // Some of these contracts may have been rolled back.
    this.#numbers.clear();
    return super.recover();
  }

  #numberOf(id: string): number {
    let number = this.#numbers.get(id);
    if (number !== undefined) return number;
    number = this.get<{ number: number }>(`SELECT ${CONTRACT} AS number`, id)?.number;
    assert(typeof number === 'number', `contract ${id} is not in the store`);
    this.#numbers.set(id, number);
    return number;
  }

  #putDefinition(definition: ContractDefinition): string {
    const text = definitionText(definition);
    const digest = sha256Hex(text);
    this.run(
      'INSERT INTO definitions (digest, text) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM definitions WHERE digest = ?)',
      ...[digest, text, digest],
    );
    return digest;
  }

  #dropDefinition(id: number): void {
    this.run(
      'DELETE FROM definitions WHERE id = ? AND NOT EXISTS (SELECT 1 FROM contracts WHERE definition = ?)',
      ...[id, id],
    );
  }

  /** Deletes up to `most` keys or contracts among those already removed. @returns how many */
  #sweepContracts(machine: string, most: number): number {
    let freed = 0;
    while (freed < most) {
      const contract = this.get<{ number: number; definition: number }>(
        `SELECT number, definition FROM contracts WHERE machine = ${MACHINE} AND is_removed = 1 LIMIT 1`,
        machine,
      );
      if (contract === undefined) return freed;
      const { number, definition } = contract;
      freed += this.run(
        `DELETE FROM key_states WHERE contract = ? AND key IN (SELECT key FROM key_states WHERE contract = ? LIMIT ?)`,
        ...[number, number, most - freed],
      );
      if (freed >= most) return freed;
      this.run('DELETE FROM states WHERE contract = ?', number);
      this.run('DELETE FROM contracts WHERE number = ?', number);
      this.#dropDefinition(definition);
      freed += 1;
    }
    return freed;
  }

  #contractsOf(machine: string, definitions: Map<number, ContractDefinition>): StoredMachine['contracts'] {
    const all = this.all<ContractColumns>(
      `SELECT contracts.id, definition, image, bytes
       FROM contracts JOIN states ON states.contract = contracts.number
       WHERE machine = ${MACHINE} AND is_removed = 0 ORDER BY coalesce(place, contracts.number)`,
      machine,
    );
    return all.map(({ id, definition: number, image, bytes }) => {
      const definition = getOrInsert(definitions, number, () => this.#readDefinition(number));
      const kept = this.parsed<KeptImage>(image, `What is kept of contract ${id}`);
      const stateOf = () => this.#stateOf({ id }, bytes);
      return {
        image: { ...kept, id, machine, definition },
        // Decoded on demand: counts take fifty times the memory of their bytes, and a machine may have 100,000 contracts.
        get state() {
          return stateOf();
        },
      };
    });
  }

  #stateOf(owner: Pick<ContractState, 'id' | 'key'>, bytes: Uint8Array): ContractState {
    const state = decodeState(owner, bytes);
    if (state !== undefined) return state;
    const whose = owner.key === undefined ? `contract ${owner.id}` : `a key of contract ${owner.id}`;
    throw damaged(this.dir, `The state and the windows of ${whose} do not fit their checksum.`);
  }

  /** The digest detects flipped bits. */
  #readDefinition(id: number): ContractDefinition {
    const found = this.get<{ digest: string; text: string }>('SELECT digest, text FROM definitions WHERE id = ?', id);
    if (found === undefined) throw damaged(this.dir, `Definition ${id}, which a contract has, is missing.`);
    if (sha256Hex(found.text) !== found.digest)
      throw damaged(this.dir, `The text of definition ${id} does not fit its SHA-256.`);
    return JSON.parse(found.text) as ContractDefinition;
  }
}

type KeptImage = Omit<ContractImage, 'id' | 'machine' | 'definition'>;

interface ContractColumns {
  readonly id: string;
  readonly definition: number;
  readonly image: string;
  readonly bytes: Uint8Array;
}

function textOf({ id: _, machine: __, definition: ___, ...kept }: ContractImage): string {
  return JSON.stringify(kept satisfies KeptImage);
}
