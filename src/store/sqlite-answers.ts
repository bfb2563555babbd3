// Kept answers in the database of the node's store: durable with the next commit of the store.
import type { Statement } from 'better-sqlite3';
import type { KeptAnswer, KeptAnswers, KeptSize } from './kept-answers.js';
import type { SqliteConnection } from './sqlite-connection.js';

export class SqliteAnswers implements KeptAnswers {
  readonly #connection: SqliteConnection;
  readonly #put: Statement<[string, string, string, number, string]>;
  readonly #find: Statement<[string, string], Columns>;
  readonly #purge: Statement<[number, number], KeptSize>;
  readonly #remove: Statement<[string, number]>;
  readonly #sizes: Statement<[], KeptSize & { readonly count: number }>;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#put = connection.prepare(`
      INSERT INTO answers (machine, key, request, until_cycle, answer) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (machine, key) DO UPDATE SET request = excluded.request, until_cycle = excluded.until_cycle,
        answer = excluded.answer`);
    this.#find = connection.prepare('SELECT * FROM answers WHERE machine = ? AND key = ?');
    this.#purge = connection.prepare(`
      DELETE FROM answers
      WHERE rowid IN (SELECT rowid FROM answers WHERE until_cycle <= ? ORDER BY until_cycle LIMIT ?)
      RETURNING machine, length(answer) AS length`);
    this.#remove = connection.prepare(
      'DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE machine = ? LIMIT ?)',
    );
    this.#sizes = connection.prepare(
      'SELECT machine, COUNT(*) AS count, SUM(length(answer)) AS length FROM answers GROUP BY machine',
    );
  }

  put({ machine, key, request, untilCycle, answer }: KeptAnswer): void {
    this.#connection.write(() => this.#put.run(machine, key, request, untilCycle, answer));
  }

  find(machine: string, key: string): KeptAnswer | undefined {
    const columns = this.#connection.read(() => this.#find.get(machine, key));
    if (columns === undefined) return undefined;
    const { until_cycle: untilCycle, ...kept } = columns;
    return { ...kept, untilCycle };
  }

  purge(cycle: number, most: number): readonly KeptSize[] {
    return this.#connection.write(() => this.#purge.all(cycle, most));
  }

  remove(machine: string, most: number): number {
    return this.#connection.write(() => this.#remove.run(machine, most).changes);
  }

  sizes(): Iterable<KeptSize & { readonly count: number }> {
    return this.#connection.read(() => this.#sizes.all());
  }
}

interface Columns {
  readonly machine: string;
  readonly key: string;
  readonly request: string;
  readonly until_cycle: number;
  readonly answer: string;
}
