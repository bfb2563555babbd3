// Verifies records on request without delaying others: one record at a time, in short pieces that take turns with other work. All who ask
// for the same record meanwhile share one verification.
import type { KeyRing } from '../record/key-ring.js';
import type { AuditRow, Checkpoint } from '../record/row.js';
import type { Verification } from '../record/verification.js';
import { RecordVerifier } from '../record/verify-record.js';
import { Failure } from '../schema/failure.js';
import type { RecordReader } from '../store/store.js';
import { NODE, type Turns } from './fair-queue.js';

/** Rows checked in one turn: a row takes some 20 µs. */
const STRETCH = 50;

export class Verifications {
  readonly #store: RecordReader;
  readonly #keys: () => KeyRing | Promise<KeyRing>;
  readonly #turns: Turns;
  readonly #most: number;
  readonly #walks = new Map<string, Promise<Verification>>();
  /** The walk that began last, however it ends: the next one begins behind it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param most walks that may wait or be under way */
  constructor(store: RecordReader, keys: () => KeyRing | Promise<KeyRing>, turns: Turns, most: number) {
    this.#store = store;
    this.#keys = keys;
    this.#turns = turns;
    this.#most = most;
  }

  /** @throws Failure `node_overloaded` */
  of(slug: string): Promise<Verification> {
    const known = this.#walks.get(slug);
    if (known !== undefined) return known;
    if (this.#walks.size >= this.#most) throw tooMany();
    const walk = this.#last.then(() => this.#walk(slug)).finally(() => this.#walks.delete(slug));
    this.#walks.set(slug, walk);
    this.#last = walk.catch(() => {});
    return walk;
  }

  async #walk(slug: string): Promise<Verification> {
    const keys = await this.#keys();
    const first = this.#store.checkpoint(slug);
    let verifier = verifierOf(this.#store, slug, keys, first instanceof Promise ? await first : first);
    const check = (rows: readonly AuditRow[]) => {
      // Rows were removed that were not walked yet: the record begins later now. Only a store of this process removes any.
      if (verifier.holds && verifier.head.seq < (this.#store.cut(slug)?.removed_to_seq ?? 0)) {
        const checkpoint = this.#store.checkpoint(slug);
        if (!(checkpoint instanceof Promise)) {
          verifier = verifierOf(this.#store, slug, keys, checkpoint);
          return true;
        }
      }
      return rows.length > 0 && rows.every((row) => verifier.row(row, row.seq));
    };
    while (
      await this.#turns.of<boolean | Promise<boolean>>(NODE, () => {
        const rows = this.#store.rows(slug, { afterSeq: verifier.head.seq, limit: STRETCH });
        return rows instanceof Promise ? rows.then(check) : check(rows);
      })
    );
    verifier.trusting((key) => keys.has(key), 0);
    return verifier.end();
  }
}

/** Begins with what the store has of a record beside its rows. */
export function verifierOf(
  store: Pick<RecordReader, 'cut'>,
  slug: string,
  keys: KeyRing,
  checkpoint: Checkpoint | undefined,
): RecordVerifier {
  const cut = store.cut(slug);
  const verifier = new RecordVerifier({ keys, checkpoints: checkpoint === undefined ? [] : [checkpoint] });
  if (cut !== undefined) verifier.cut(cut, 0);
  return verifier;
}

function tooMany(): Failure {
  return new Failure('node_overloaded', {
    what: 'The record was not verified.',
    why: 'Too many records wait for that already.',
    fix: 'Try again later, or export the record and run `weir verify` on it.',
  });
}
