// What Redis must still have: the last row that this node has seen of each machine, and this node's entry. In memory and, with a data folder, in a
// file (see head-mark.ts), so that an emptied Redis, or a replica that was behind, is noticed.
//
//   this node has seen   row 7, hash a3…      Redis has   row 7, a3… or later rows that follow it   nothing is missing
//                                                         row 5                                    rows 6 to 7 are missing
//                                                         row 7, 9c…                               row 7 is missing: another one is in its place
//
// Some machines are compared in each cycle, and each one on access. Heads kept only in memory are lost when the last node stops.
import { Failure } from '../../core/schema/failure.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import { type HeadMark, type MissingRows, missingText } from '../store/head-mark.js';
import { type Directory, wasRemoved } from './directory.js';
import { DIRECTORY, prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const AT_ONCE = 100;

type Entry = readonly [id: string, fields: readonly [name: string, text: string]];

export class Heads {
  readonly #connection: RedisConnection;
  readonly #directory: Directory;
  readonly #host: Host;
  readonly #fingerprint: string;
  readonly #mark: HeadMark | undefined;
  readonly #missing = new Map<string, MissingRows>();
  /** Machines with missing rows that Redis does not have either. */
  readonly #gone = new Set<string>();
  #isEmptied = false;
  #remaining: Iterator<Machine> | undefined;
  #isComparing = false;

  constructor(directory: Directory, host: Host, fingerprint: string, mark: HeadMark | undefined) {
    this.#connection = directory.connection;
    this.#directory = directory;
    this.#host = host;
    this.#fingerprint = fingerprint;
    this.#mark = mark;
  }

  get failure(): Failure | undefined {
    if (this.#missing.size > 0) return rowsMissing([...this.#missing.values()], (machine) => !this.#gone.has(machine));
    if (!this.#isEmptied) return undefined;
    return new Failure('rows_missing', {
      what: 'Redis has lost the data of this network.',
      why: 'The entry of this node, which it wrote when it started, is missing: Redis was emptied or replaced.',
      fix: FIX,
    });
  }

  /** @throws Failure `rows_missing` */
  check({ slug }: Pick<Machine, 'slug'>): void {
    const missing = this.#missing.get(slug);
    if (missing !== undefined) throw rowsMissing([missing], () => !this.#gone.has(slug));
  }

  /** Whether a record that ends with row `seq` lacks rows. */
  lacks(slug: string, seq: number): boolean {
    return this.#missing.has(slug) || seq < (this.#host.machines.get(slug)?.head.seq ?? 0);
  }

  drop({ slug }: Machine): void {
    this.#missing.delete(slug);
    this.#gone.delete(slug);
    this.#mark?.remove(slug);
  }

  /** @returns the seq of its last row in Redis @throws Failure `rows_missing`, `store_away`, `machine_not_found` */
  async compare(machine: Machine): Promise<number> {
    const { slug } = machine;
    const { seq: known, hash: knownHash } = machine.head;
    const place = `${prefixOf(slug)}m:${slug}`;
    const [seq, hash] = await this.#connection.command<(string | null)[]>('HMGET', place, 'seq', 'hash');
    const found = Number(seq ?? -1);
    const isSame = found === known ? hash === knownHash : found > known && (await this.#hasRow(slug, known, knownHash));
    if (!isSame && (await this.#directory.dropRemoved(machine))) this.#host.machine(slug);
    if (found < known) {
      this.#missing.set(slug, { machine: slug, fromSeq: Math.max(0, found) + 1, toSeq: Math.max(1, known) });
      if (seq === null) this.#gone.add(slug);
    } else if (isSame) {
      this.#missing.delete(slug);
      this.#gone.delete(slug);
    } else this.#missing.set(slug, { machine: slug, fromSeq: known, toSeq: known });
    this.check(machine);
    return found;
  }

  /** Compares some machines, and saves the heads. @throws Failure `store_away` */
  async tick(): Promise<void> {
    this.#saveHeads();
    if (this.#isComparing) return;
    this.#isComparing = true;
    try {
      const isThere = await this.#connection.command('HEXISTS', `${DIRECTORY}nodes`, this.#fingerprint);
      this.#isEmptied = isThere !== 1;
      const machines: Machine[] = [];
      this.#remaining ??= this.#host.machines.values();
      while (machines.length < AT_ONCE) {
        const next = this.#remaining.next();
        if (next.done) {
          this.#remaining = undefined;
          break;
        }
        machines.push(next.value);
      }
      await Promise.all(machines.map((machine) => this.compare(machine).catch(unlessMissing)));
    } finally {
      this.#isComparing = false;
    }
  }

  close(): void {
    this.#saveHeads();
    this.#mark?.close();
  }

  #saveHeads(): void {
    if (this.#mark === undefined) return;
    for (const { slug, head } of this.#host.machines.values())
      if (this.#mark.of(slug) < head.seq) this.#mark.note(slug, head.seq);
    this.#mark.write();
  }

  async #hasRow(slug: string, seq: number, hash: string): Promise<boolean> {
    if (seq === 0) return true;
    const place = `${prefixOf(slug)}r:${slug}`;
    const [row] = await this.#connection.command<Entry[]>('XRANGE', place, `${seq}-0`, `${seq}-0`);
    return row !== undefined && (JSON.parse(row[1][1]) as { hash: string }).hash === hash;
  }
}

/** With `acceptLoss` the mark follows Redis. @returns the missing rows @throws Failure `rows_missing`, `store_away` */
export async function checkMark(
  connection: RedisConnection,
  mark: HeadMark,
  acceptLoss: boolean,
): Promise<readonly MissingRows[]> {
  const heads = new Map<string, number>();
  const read = async (slug: string) => {
    const prefix = prefixOf(slug);
    const seq = await connection.command<string | null>('HGET', `${prefix}m:${slug}`, 'seq');
    if (seq !== null) heads.set(slug, Number(seq));
  };
  const slugs = mark.machines;
  for (let from = 0; from < slugs.length; from += AT_ONCE)
    await Promise.all(slugs.slice(from, from + AT_ONCE).map(read));
  const missing: MissingRows[] = [];
  for (const one of mark.missing((slug) => heads.get(slug) ?? 0)) {
    if (await wasRemoved(connection, one.machine, one.toSeq)) mark.remove(one.machine);
    else missing.push(one);
  }
  if (missing.length > 0 && !acceptLoss) throw rowsMissing(missing, (slug) => heads.has(slug));
  mark.follow(heads);
  return missing;
}

const FIX =
  'Give Redis a copy of its data that has them. To go on without them, start every node again, those with --data with --allow lost-rows.';

function rowsMissing(missing: readonly MissingRows[], isThere: (machine: string) => boolean): Failure {
  return new Failure('rows_missing', {
    what: 'Redis lacks rows that were acknowledged.',
    why: missingText(missing, isThere),
    fix: FIX,
  });
}

/** Missing rows are noted by then, and removed machines dropped. */
export function unlessMissing(error: unknown): void {
  if (!(error instanceof Failure) || (error.code !== 'rows_missing' && error.code !== 'machine_not_found')) throw error;
}
