// Verifies records on request without delaying others: one at a time, in short pieces. Requests for the same record share a verification.
import { EMPTY, type Head } from '../core/record/chain.js';
import type { KeyRing } from '../core/record/key-ring.js';
import type { AuditRow, Checkpoint } from '../core/record/row.js';
import type { Verification } from '../core/record/verification.js';
import { RecordVerifier } from '../core/record/verify-record.js';
import { Failure } from '../core/schema/failure.js';
import { type CallerQueue, NODE } from './caller-queue.js';
import { SharedRoom } from './shared-room.js';
import type { RecordReader } from './store/store.js';

const ROWS_PER_SLICE = 50;

interface VerificationsOptions {
  readonly store: RecordReader;
  readonly keys: () => KeyRing | Promise<KeyRing>;
  /** The last row that this process acknowledged. */
  readonly headOf: (slug: string) => Head | undefined;
  readonly queue: CallerQueue;
  readonly most: number;
}

export class Verifications {
  readonly #options: VerificationsOptions;
  readonly #running = new Map<string, Promise<Verification>>();
  readonly #room: SharedRoom;
  /** Settles after the last walk; the next one follows it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: VerificationsOptions) {
    this.#options = options;
    const { most: onNode } = options;
    this.#room = new SharedRoom({ perOwner: onNode / 4, onNode });
  }

  /** @param addressNetwork has a share of the room; see limits.ts @throws Failure `node_overloaded` */
  of(slug: string, addressNetwork: string): Promise<Verification> {
    const known = this.#running.get(slug);
    if (known !== undefined) return known;
    if (this.#room.freeIn(addressNetwork) < 1) throw tooMany();
    this.#room.add(addressNetwork, addressNetwork, 1);
    const walk = this.#last
      .then(() => this.#verify(slug))
      .finally(() => {
        this.#running.delete(slug);
        this.#room.add(addressNetwork, addressNetwork, -1);
      });
    this.#running.set(slug, walk);
    this.#last = walk.catch(() => {});
    return walk;
  }

  async #verify(slug: string): Promise<Verification> {
    const { store, queue, headOf } = this.#options;
    const { seq: knownSeq, hash: knownHash } = headOf(slug) ?? EMPTY;
    const keys = await this.#options.keys();
    let verifier = verifierOf(store, slug, keys, await store.checkpoint(slug));
    const holds = (row: AuditRow) => {
      if (row.seq !== knownSeq || row.hash === knownHash) return verifier.row(row, row.seq);
      return verifier.refuse(['hash', `The node acknowledged another row ${row.seq} than this one.`], row.seq, row.seq);
    };
    const walkSome = async () => {
      const rows = await store.rows(slug, { afterSeq: verifier.head.seq, limit: ROWS_PER_SLICE });
      // Rows were removed before they were walked: the record begins later now.
      if (verifier.holds && verifier.head.seq < (store.cut(slug)?.removed_to_seq ?? 0)) {
        verifier = verifierOf(store, slug, keys, await store.checkpoint(slug));
        return true;
      }
      return rows.length > 0 && rows.every(holds);
    };
    while (await queue.of(NODE, walkSome));
    const { seq } = verifier.head;
    if (verifier.holds && seq < knownSeq)
      verifier.refuse(['tail', `The node acknowledged ${knownSeq} rows, and only ${seq} are here.`], seq + 1, seq + 1);
    verifier.trusting((key) => keys.has(key), 0);
    return verifier.end();
  }
}

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
    why: 'Too many records wait for that already, of all or of one network of addresses.',
    fix: 'Try again later, or export the record and run `weir verify` on it.',
  });
}
