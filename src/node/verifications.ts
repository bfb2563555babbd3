// Verifies records on request without delaying others: one record at a time, in short pieces that take turns with other work. All who ask
// for the same record meanwhile share one verification.
import type { KeyRing } from '../record/key-ring.js';
import type { Verification } from '../record/verification.js';
import { RecordVerifier } from '../record/verify-record.js';
import { Failure } from '../schema/failure.js';
import type { Store } from '../store/store.js';
import { NODE, type Turns } from './fair-queue.js';

/** Rows checked in one turn: a row takes some 20 µs. */
const STRETCH = 50;

export class Verifications {
  readonly #store: Store;
  readonly #keys: KeyRing;
  readonly #turns: Turns;
  readonly #most: number;
  readonly #walks = new Map<string, Promise<Verification>>();
  /** The walk that began last, however it ends: the next one begins behind it. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param most walks that may wait or be under way */
  constructor(store: Store, keys: KeyRing, turns: Turns, most: number) {
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
    let verifier = verifierOf(this.#store, slug, this.#keys);
    while (
      await this.#turns.of(NODE, () => {
        const { seq } = verifier.head;
        const rows = this.#store.rows(slug, { afterSeq: seq, limit: STRETCH });
        // Rows were removed that were not walked yet: the record begins later now.
        if (verifier.holds && seq < (this.#store.cut(slug)?.removed_to_seq ?? 0)) {
          verifier = verifierOf(this.#store, slug, this.#keys);
          return true;
        }
        return rows.length > 0 && rows.every((row) => verifier.row(row, row.seq));
      })
    );
    return verifier.end();
  }
}

/** Begins with what the store has of a record beside its rows. */
export function verifierOf(store: Store, slug: string, keys: KeyRing): RecordVerifier {
  const [checkpoint, cut] = [store.checkpoint(slug), store.cut(slug)];
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
