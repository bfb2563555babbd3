// Kept answers in the database of the node's store: durable with the next commit of the store.
import type { SqliteConnection } from './sqlite-connection.js';
import type { KeptAnswer, KeptAnswers, KeptSize } from './store.js';

export class SqliteAnswers implements KeptAnswers {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  put({ machine, key, request, untilCycle, answer }: KeptAnswer): void {
    this.#connection.run(
      `INSERT INTO answers (machine, key, request, until_cycle, answer) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (machine, key) DO UPDATE SET request = excluded.request, until_cycle = excluded.until_cycle,
         answer = excluded.answer`,
      ...[machine, key, request, untilCycle, answer],
    );
  }

  find(machine: string, key: string): KeptAnswer | undefined {
    return this.#connection.get(
      'SELECT machine, key, request, until_cycle AS untilCycle, answer FROM answers WHERE machine = ? AND key = ?',
      ...[machine, key],
    );
  }

  purge(cycle: number, most: number): readonly KeptSize[] {
    return this.#connection.all(
      `DELETE FROM answers
       WHERE rowid IN (SELECT rowid FROM answers WHERE until_cycle <= ? ORDER BY until_cycle LIMIT ?)
       RETURNING machine, length(answer) AS length`,
      ...[cycle, most],
    );
  }

  remove(machine: string, most: number): number {
    const sql = 'DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE machine = ? LIMIT ?)';
    return this.#connection.run(sql, machine, most);
  }

  sizes(): Iterable<KeptSize & { readonly count: number }> {
    return this.#connection.all(
      'SELECT machine, COUNT(*) AS count, SUM(length(answer)) AS length FROM answers GROUP BY machine',
    );
  }
}
