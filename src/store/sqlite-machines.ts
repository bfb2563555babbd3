// Machines, contracts and their states in the database.
import type { Statement } from 'better-sqlite3';
import type { ContractDefinition } from '../limiter/definition.js';
import { sha256Hex } from '../schema/canonical.js';
import { assert } from '../schema/failure.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { damaged } from './sqlite-failure.js';
import { SqliteKeys } from './sqlite-keys.js';
import { decodeState, encodeState, type StateColumns } from './state-codec.js';
import type { ContractImage, ContractState, KeyedImage, MachineImage, StoredMachine } from './store.js';

/** Machines are read in batches of this size, so that a slow reader does not keep the database busy. */
const PAGE = 256;

export class SqliteMachines {
  readonly #dir: string;
  readonly #putMachine: Statement<[string, string, number, string, number]>;
  readonly #putDefinition: Statement<[string, string]>;
  readonly #definitionId: Statement<[string], number>;
  readonly #putContract: Statement<[string, number, string | null, number, number, string | null, string]>;
  readonly #putBeside: Statement<[number, string | null, string | null, number, string]>;
  readonly #rename: Statement<[string, number]>;
  readonly #putPlace: Statement<[number, string]>;
  readonly #placeOf: Statement<
    [string],
    { readonly number: number; readonly place: number; readonly definition: number }
  >;
  readonly #insertState: Statement<[number, string, number, number, Uint8Array]>;
  readonly #updateState: Statement<[string, number, number, Uint8Array, number]>;
  readonly #contractNumber: Statement<[string], number>;
  readonly #machines: Statement<[string, number], MachineColumns>;
  readonly #contracts: Statement<[string], ContractColumns>;
  readonly #definition: Statement<[number], { readonly digest: string; readonly text: string }>;
  readonly #markRemoved: Statement<[string]>;
  readonly #markAllRemoved: Statement<[string]>;
  readonly #removed: Statement<[string], { readonly number: number; readonly definition: number }>;
  readonly #withRemoved: Statement<[], string>;
  readonly #dropState: Statement<[number]>;
  readonly #dropContract: Statement<[number]>;
  readonly #dropDefinition: Statement<[number, number]>;
  readonly #dropMachine: Statement<[string]>;
  readonly #keys: SqliteKeys;
  /** The definitions already stored, by identity: contracts made from one plan share one definition. */
  #definitionIds = new WeakMap<ContractDefinition, number>();
  /** The contracts already written to, by id: a lookup in the database would take longer than the update itself. */
  readonly #contractNumbers = new Map<string, number>();

  constructor(connection: SqliteConnection) {
    this.#dir = connection.dir;
    this.#keys = new SqliteKeys(connection);
    this.#putMachine = connection.prepare(`
      INSERT INTO machines (slug, owner, is_public, display_name, created_cycle) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (slug) DO UPDATE SET owner = excluded.owner, is_public = excluded.is_public,
        display_name = excluded.display_name, created_cycle = excluded.created_cycle`);
    this.#putDefinition = connection.prepare('INSERT OR IGNORE INTO definitions (digest, text) VALUES (?, ?)');
    this.#definitionId = connection.prepare<[string], number>('SELECT id FROM definitions WHERE digest = ?').pluck();
    this.#putContract = connection.prepare(`
      INSERT INTO contracts (id, machine, definition, template_id, created_cycle, first_fire_cycle, keyed)
      SELECT ?, id, ?, ?, ?, ?, ? FROM machines WHERE slug = ?`);
    this.#putBeside = connection.prepare(`
      UPDATE contracts SET definition = ?, name = ?, candidate = ?, revision = ? WHERE id = ? AND is_removed = 0`);
    this.#rename = connection.prepare('UPDATE contracts SET id = ?, is_removed = 1 WHERE number = ?');
    this.#putPlace = connection.prepare('UPDATE contracts SET place = ? WHERE id = ? AND is_removed = 0');
    this.#placeOf = connection.prepare(`
      SELECT number, coalesce(place, number) AS place, definition FROM contracts WHERE id = ? AND is_removed = 0`);
    this.#insertState = connection.prepare(
      'INSERT INTO states (contract, state, held_until_cycle, refusals, windows) VALUES (?, ?, ?, ?, ?)',
    );
    this.#updateState = connection.prepare(`
      UPDATE states SET state = ?, held_until_cycle = ?, refusals = ?, windows = ? WHERE contract = ?`);
    this.#contractNumber = connection
      .prepare<[string], number>('SELECT number FROM contracts WHERE id = ? AND is_removed = 0')
      .pluck();
    this.#machines = connection.prepare(`
      SELECT slug, owner, is_public, display_name, created_cycle FROM machines WHERE slug > ? ORDER BY slug LIMIT ?`);
    this.#contracts = connection.prepare(`
      SELECT contracts.id, definition, template_id, created_cycle, first_fire_cycle, keyed, name, candidate, revision, state,
        held_until_cycle, refusals, windows
      FROM contracts JOIN states ON states.contract = contracts.number
      WHERE machine = (SELECT id FROM machines WHERE slug = ?) AND is_removed = 0 ORDER BY coalesce(place, contracts.number)`);
    this.#markRemoved = connection.prepare('UPDATE contracts SET is_removed = 1 WHERE id = ? AND is_removed = 0');
    this.#markAllRemoved = connection.prepare(`
      UPDATE contracts SET is_removed = 1
      WHERE machine = (SELECT id FROM machines WHERE slug = ?) AND is_removed = 0`);
    this.#removed = connection.prepare(`
      SELECT number, definition FROM contracts
      WHERE machine = (SELECT id FROM machines WHERE slug = ?) AND is_removed = 1 LIMIT 1`);
    this.#withRemoved = connection
      .prepare<[], string>(`
        SELECT slug FROM machines WHERE id IN (SELECT machine FROM contracts WHERE is_removed = 1)`)
      .pluck();
    this.#dropState = connection.prepare('DELETE FROM states WHERE contract = ?');
    this.#dropContract = connection.prepare('DELETE FROM contracts WHERE number = ?');
    this.#dropDefinition = connection.prepare(`
      DELETE FROM definitions WHERE id = ? AND NOT EXISTS (SELECT 1 FROM contracts WHERE definition = ?)`);
    this.#dropMachine = connection.prepare('DELETE FROM machines WHERE slug = ?');
    this.#definition = connection.prepare('SELECT digest, text FROM definitions WHERE id = ?');
  }

  /** After a rollback: what was put may not be there. */
  forget(): void {
    this.#definitionIds = new WeakMap();
    this.#contractNumbers.clear();
  }

  putMachine({ slug, owner, isPublic, displayName, createdCycle }: MachineImage): void {
    this.#putMachine.run(slug, owner, isPublic ? 1 : 0, displayName, createdCycle);
  }

  putContract(image: ContractImage, state: ContractState): void {
    const { id, machine, definition, templateId = null, createdCycle, firstFireCycle, keyed } = image;
    assert(id === state.id, `the state of contract ${state.id} was put beside the image of ${id}`);
    const definitionId = this.#idOf(definition);
    const made = [id, definitionId, templateId, createdCycle, firstFireCycle] as const;
    const { changes } = this.#putContract.run(...made, keyed === undefined ? null : JSON.stringify(keyed), machine);
    assert(changes === 1, `machine ${machine} is not in the store`);
    const columns = encodeState(state);
    const { held_until_cycle, refusals, windows } = columns;
    this.#insertState.run(this.#numberOf(id), columns.state, held_until_cycle, refusals, windows);
    this.#setBeside(image, definitionId);
  }

  changeContract(image: ContractImage, state: ContractState, keepsKeys: boolean): void {
    const { id } = image;
    const before = this.#placeOf.get(id);
    assert(before !== undefined, `contract ${id} is not in the store`);
    if (!keepsKeys && image.keyed !== undefined) {
      this.#rename.run(`${id} until ${image.revision}`, before.number);
      this.#contractNumbers.delete(id);
      this.putContract(image, state);
      this.#putPlace.run(before.place, id);
      return;
    }
    this.#setBeside(image, this.#idOf(image.definition));
    this.putState(state);
    if (this.#dropDefinition.run(before.definition, before.definition).changes > 0) this.forget();
  }

  #setBeside({ id, name, candidate, revision = 0 }: ContractImage, definitionId: number): void {
    if (name === undefined && candidate === undefined && revision === 0) return; // As it was inserted.
    const text = candidate === undefined ? null : JSON.stringify(candidate);
    this.#putBeside.run(definitionId, name ?? null, text, revision, id);
  }

  putState(image: ContractState): void {
    const columns = encodeState(image);
    const { state, held_until_cycle, refusals, windows } = columns;
    const number = this.#numberOf(image.id);
    if (image.key !== undefined) this.#keys.put(number, image.key, columns);
    else this.#updateState.run(state, held_until_cycle, refusals, windows, number);
  }

  removeContract(id: string): void {
    const { changes } = this.#markRemoved.run(id);
    assert(changes === 1, `contract ${id} is not in the store`);
    this.#contractNumbers.delete(id);
  }

  removeContracts(machine: string): void {
    this.#markAllRemoved.run(machine);
    this.#contractNumbers.clear();
  }

  /** Slugs of machines with contracts that were removed and still take room. */
  withRemoved(): readonly string[] {
    return this.#withRemoved.all();
  }

  /** Frees up to `most` keys, or contracts, that were removed from a machine. @returns how many */
  sweep(machine: string, most: number): number {
    let freed = 0;
    while (freed < most) {
      const contract = this.#removed.get(machine);
      if (contract === undefined) return freed;
      freed += this.#keys.drop(contract.number, most - freed);
      if (freed >= most) return freed;
      this.#dropState.run(contract.number);
      this.#dropContract.run(contract.number);
      const { changes } = this.#dropDefinition.run(contract.definition, contract.definition);
      // Its id may be given anew.
      if (changes > 0) this.forget();
      freed += 1;
    }
    return freed;
  }

  removeMachine(slug: string): void {
    this.#dropMachine.run(slug);
  }

  forgetKey(contractId: string, key: string): void {
    this.#keys.forget(contractId, key);
  }

  /** All machines by slug. Contracts whose definitions have the same text share one definition object. */
  *all(): Generator<Pick<StoredMachine, 'machine' | 'contracts'>> {
    const definitions = new Map<number, ContractDefinition>();
    for (let after = ''; ; ) {
      const page = this.#machines.all(after, PAGE);
      for (const columns of page)
        yield { machine: machineOf(columns), contracts: this.#contractsOf(columns.slug, definitions) };
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.slug;
    }
  }

  #contractsOf(machine: string, definitions: Map<number, ContractDefinition>): StoredMachine['contracts'] {
    const dir = this.#dir;
    const contracts: StoredMachine['contracts'][number][] = [];
    for (const columns of this.#contracts.iterate(machine)) {
      const { id, template_id, created_cycle, first_fire_cycle, keyed, name, candidate, revision } = columns;
      let definition = definitions.get(columns.definition);
      if (definition === undefined) {
        definition = this.#readDefinition(columns.definition);
        definitions.set(columns.definition, definition);
      }
      contracts.push({
        image: {
          id,
          machine,
          definition,
          templateId: template_id ?? undefined,
          createdCycle: created_cycle,
          firstFireCycle: first_fire_cycle,
          ...(keyed === null ? {} : { keyed: this.#read<KeyedImage>(id, 'keys', keyed) }),
          ...(name === null ? {} : { name }),
          ...(candidate === null ? {} : { candidate: this.#read<ContractDefinition>(id, 'candidate', candidate) }),
          ...(revision === 0 ? {} : { revision }),
        },
        // Decoded on demand: counts take fifty times the memory of their bytes, and a machine may have 100,000 contracts.
        get state() {
          return stateOf(columns, dir);
        },
      });
    }
    return contracts;
  }

  /** Decoded one at a time. */
  *keysOf(contractId: string): Generator<ContractState> {
    for (const columns of this.#keys.of(contractId)) yield stateOf({ id: contractId, ...columns }, this.#dir);
  }

  #numberOf(id: string): number {
    const known = this.#contractNumbers.get(id);
    if (known !== undefined) return known;
    const number = this.#contractNumber.get(id);
    assert(number !== undefined, `contract ${id} is not in the store`);
    this.#contractNumbers.set(id, number);
    return number;
  }

  #idOf(definition: ContractDefinition): number {
    const known = this.#definitionIds.get(definition);
    if (known !== undefined) return known;
    // Not canonical JSON: the order of states and parameters in the definition is kept.
    const text = JSON.stringify(definition);
    const digest = sha256Hex(text);
    this.#putDefinition.run(digest, text);
    const id = this.#definitionId.get(digest);
    assert(id !== undefined, 'a definition that was put has an id');
    this.#definitionIds.set(definition, id);
    return id;
  }

  #read<T>(id: string, of: 'keys' | 'candidate', text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw damaged(this.#dir, `What contract ${id} says of its ${of} is not JSON.`, error);
    }
  }

  /** A bit that flipped on the disk makes another definition, or none. */
  #readDefinition(id: number): ContractDefinition {
    const found = this.#definition.get(id);
    if (found === undefined) throw damaged(this.#dir, `Definition ${id}, which a contract has, is missing.`);
    if (sha256Hex(found.text) !== found.digest)
      throw damaged(this.#dir, `The text of definition ${id} does not fit its SHA-256.`);
    return JSON.parse(found.text) as ContractDefinition;
  }
}

interface MachineColumns {
  readonly slug: string;
  readonly owner: string;
  readonly is_public: number;
  readonly display_name: string;
  readonly created_cycle: number;
}

interface ContractColumns extends StateColumns {
  readonly id: string;
  readonly definition: number;
  readonly template_id: string | null;
  readonly created_cycle: number;
  readonly first_fire_cycle: number;
  readonly keyed: string | null;
  readonly name: string | null;
  readonly candidate: string | null;
  readonly revision: number;
}

function machineOf({ slug, owner, is_public, display_name, created_cycle }: MachineColumns): MachineImage {
  return { slug, owner, isPublic: is_public === 1, displayName: display_name, createdCycle: created_cycle };
}

type Owned = StateColumns & Pick<ContractState, 'id' | 'key'>;

function stateOf(columns: Owned, dir: string): ContractState {
  const state = decodeState(columns, columns);
  if (state !== undefined) return state;
  const whose = columns.key === undefined ? `contract ${columns.id}` : `a key of contract ${columns.id}`;
  throw damaged(dir, `The state and the windows of ${whose} do not fit their checksum.`);
}
