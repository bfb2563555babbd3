// The states of the keys of contracts in the database: one row each, written when it changed and removed when the key is forgotten.
import type { Statement } from 'better-sqlite3';
import type { SqliteConnection } from './sqlite-connection.js';
import type { StateColumns } from './state-codec.js';

type KeyColumns = StateColumns & { readonly key: string };

/** Keys are read in batches of this size, so that a slow reader does not keep the database busy. */
const PAGE = 1_024;

export class SqliteKeys {
  readonly #put: Statement<[number, string, string, number, number, Uint8Array]>;
  readonly #forget: Statement<[string, string]>;
  readonly #drop: Statement<[number, number, number]>;
  readonly #page: Statement<[string, string, number], KeyColumns>;

  constructor(connection: SqliteConnection) {
    this.#put = connection.prepare(`
      INSERT INTO key_states (contract, key, state, held_until_cycle, refusals, windows) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (contract, key) DO UPDATE SET state = excluded.state, held_until_cycle = excluded.held_until_cycle,
        refusals = excluded.refusals, windows = excluded.windows`);
    this.#forget = connection.prepare(
      'DELETE FROM key_states WHERE contract = (SELECT number FROM contracts WHERE id = ? AND is_removed = 0) AND key = ?',
    );
    this.#drop = connection.prepare(`
      DELETE FROM key_states WHERE contract = ? AND key IN (SELECT key FROM key_states WHERE contract = ? LIMIT ?)`);
    this.#page = connection.prepare(`
      SELECT key, state, held_until_cycle, refusals, windows FROM key_states
      WHERE contract = (SELECT number FROM contracts WHERE id = ? AND is_removed = 0) AND key > ? ORDER BY key LIMIT ?`);
  }

  /** @param contract its number */
  put(contract: number, key: string, { state, held_until_cycle, refusals, windows }: StateColumns): void {
    this.#put.run(contract, key, state, held_until_cycle, refusals, windows);
  }

  forget(contractId: string, key: string): void {
    this.#forget.run(contractId, key);
  }

  /** Removes up to `most` keys of a contract. @returns how many */
  drop(contract: number, most: number): number {
    return this.#drop.run(contract, contract, most).changes;
  }

  *of(contractId: string): Generator<KeyColumns> {
    for (let after = ''; ; ) {
      const page = this.#page.all(contractId, after, PAGE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.key;
    }
  }
}
