// Verifies records on request without delaying others: one at a time, in short pieces. Requests for the same record share a verification.
import { EMPTY } from '../core/record/chain.js';
import type { KeyRing } from '../core/record/key-ring.js';
import type { AuditRow, Checkpoint } from '../core/record/row.js';
import type { Verification } from '../core/record/verification.js';
import { RecordVerifier } from '../core/record/verify-record.js';
import type { Asking, Bounds } from './bounds.js';
import { type CallerQueue, NODE } from './caller-queue.js';
import type { Host } from './host/host.js';
import type { RecordReader } from './store/store.js';

const ROWS_PER_SLICE = 50;

interface VerificationsOptions {
  readonly record: RecordReader;
  readonly keys: () => KeyRing | Promise<KeyRing>;
  /** Knows the last row that this process acknowledged. */
  readonly host: Pick<Host, 'machines'>;
  readonly queue: CallerQueue;
  readonly bounds: Bounds;
}

export class Verifications {
  readonly #options: VerificationsOptions;
  readonly #running = new Map<string, Promise<Verification>>();
  /** Settles after the last walk; the next one follows it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: VerificationsOptions) {
    this.#options = options;
  }

  /** @throws Failure `node_overloaded` */
  of(slug: string, asking: Asking): Promise<Verification> {
    const known = this.#running.get(slug);
    if (known !== undefined) return known;
    const { bounds } = this.#options;
    bounds.verifications.take(asking);
    const walk = this.#last
      .then(() => this.#verify(slug))
      .finally(() => {
        this.#running.delete(slug);
        bounds.verifications.give(asking);
      });
    this.#running.set(slug, walk);
    this.#last = walk.catch(() => {});
    return walk;
  }

  async #verify(slug: string): Promise<Verification> {
    const { record, queue, host } = this.#options;
    const { seq: knownSeq, hash: knownHash } = host.machines.get(slug)?.head ?? EMPTY;
    const keys = await this.#options.keys();
    let verifier = verifierOf(record, slug, keys, await record.checkpoint(slug));
    const holds = (row: AuditRow) => {
      if (row.seq !== knownSeq || row.hash === knownHash) return verifier.row(row, row.seq);
      return verifier.refuse(['hash', `The node acknowledged another row ${row.seq} than this one.`], row.seq, row.seq);
    };
    const walkSome = async () => {
      const rows = await record.rows(slug, { afterSeq: verifier.head.seq, limit: ROWS_PER_SLICE });
      // Rows were removed before they were walked: the record begins later now.
      if (verifier.holds && verifier.head.seq < (record.cut(slug)?.removed_to_seq ?? 0)) {
        verifier = verifierOf(record, slug, keys, await record.checkpoint(slug));
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
