// Entries become rows of the record: computed, linked, signed, by whichever node holds the lease of the bucket.
//
//   count, move ─► entry ─(published)─► lease held or free? ─► head and entries ─► operators, hash, signature ─► linked if the head is still it
//
// The lease only keeps nodes from doing the same work at once. Of two that link the same entries, the head refuses one, so a node that was paused
// in between does no harm.
import { fireOperators } from '../../host/transition-row.js';
import { link } from '../../record/chain.js';
import type { AuditEntry, AuditRow } from '../../record/row.js';
import { type Signer, signCheckpoint, signRow } from '../../record/signing.js';
import { Failure } from '../../schema/failure.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import { cycleOf, instantIn } from '../../time/cycle.js';
import type { Directory } from './directory.js';
import type { Heads } from './heads.js';
import { plainPlan } from './plain-plan.js';

/** How long a node may keep a bucket to itself without a word, in ms. */
const LEASE_MS = 1_000;

/** Entries linked in one go: each takes some 70 µs. */
const AT_ONCE = 100;

/** Machines of a bucket that are looked at in one go. */
const MACHINES_AT_ONCE = 16;

/** A move of a contract that Redis counts, as it wrote it. */
interface MoveEntry {
  readonly g: string;
  readonly to: 0 | 1;
  readonly count: number;
  readonly cycle: number;
  readonly now: number;
  readonly cause: 'trigger' | 'manual';
  readonly by?: string;
}

/** An entry that a node has written as a whole. */
interface WholeEntry {
  readonly e: Omit<AuditEntry, 'machine'>;
}

interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly cycle: number;
  readonly at: string;
}

interface LinkerParts {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly signer: Signer;
  readonly heads: Heads;
  readonly onError: (error: unknown) => void;
}

export class Linker {
  readonly #connection: RedisConnection;
  readonly #directory: Directory;
  readonly #signer: Signer;
  readonly #heads: Heads;
  readonly #onError: (error: unknown) => void;
  /** Buckets that are being linked; true: there is more. */
  readonly #busy = new Map<string, boolean>();
  /** Rows that this node has linked. */
  linked = 0;

  constructor({ connection, directory, signer, heads, onError }: LinkerParts) {
    this.#connection = connection;
    this.#directory = directory;
    this.#signer = signer;
    this.#heads = heads;
    this.#onError = onError;
  }

  /** Links what waits in a bucket, unless another node does. */
  look(prefix: string): void {
    if (this.#busy.has(prefix)) {
      this.#busy.set(prefix, true);
      return;
    }
    this.#busy.set(prefix, false);
    void this.#linkAll(prefix).catch((error) => {
      this.#busy.delete(prefix);
      // While Redis is away entries wait there: they are looked for again in each cycle.
      if (!(error instanceof Failure)) this.#onError(error);
    });
  }

  async #linkAll(prefix: string): Promise<void> {
    for (;;) {
      const args = [this.#signer.fingerprint, String(LEASE_MS), String(MACHINES_AT_ONCE)];
      const [, machines] = await this.#connection.call<string[]>('tolink', prefix, args);
      let linked = 0;
      for (const slug of machines) linked += await this.#link(prefix, slug);
      if (linked > 0) continue;
      if (this.#busy.get(prefix) !== true) break;
      this.#busy.set(prefix, false);
    }
    this.#busy.delete(prefix);
  }

  /** @returns how many entries have become rows */
  async #link(prefix: string, slug: string): Promise<number> {
    const [, [[seq, hash, cycle, at], entries]] = await this.#connection.call<
      [[string, string, string, string | null], string[]]
    >('entries', prefix, [slug, String(AT_ONCE)]);
    if (entries.length === 0 || hash === null) return 0;
    // No second row takes the place of one that was acknowledged.
    if (this.#heads.lacks(slug, Number(seq))) return 0;
    let head: Head = { seq: Number(seq), hash, cycle: Number(cycle), at: at ?? '' };
    const rows: AuditRow[] = [];
    for (const text of entries) {
      const entry = await this.#entryOf(slug, JSON.parse(text.slice(text.indexOf('{'))), head);
      const linked = link(head, { ...entry, signed_by: this.#signer.publicKey });
      const row = { ...linked, signature: signRow(this.#signer, linked.hash) };
      rows.push(row);
      head = row;
    }
    const checkpoint = signCheckpoint(this.#signer, {
      machine: slug,
      seq: head.seq,
      hash: head.hash,
      cycle: Math.max(head.cycle, cycleOf(this.#connection.nowMs(), this.#connection.cycleMs)),
    });
    const [, done] = await this.#connection.call('link', prefix, [
      ...[slug, seq, hash, String(entries.length), entries.at(-1)!, JSON.stringify(checkpoint)],
      ...[String(head.cycle), head.at, String(head.seq), head.hash],
      ...rows.map((row) => JSON.stringify(row)),
    ]);
    if (done !== 1) return 0;
    this.linked += rows.length;
    return rows.length;
  }

  async #entryOf(slug: string, entry: MoveEntry | WholeEntry, head: Head): Promise<AuditEntry> {
    if ('e' in entry) {
      const { e } = entry;
      // Written as of the cycle of its node: by then Redis may have been in the next.
      return { ...e, machine: slug, cycle: Math.max(e.cycle, head.cycle), at: head.at > e.at ? head.at : e.at };
    }
    const [, id = '', ...names] = entry.g.split('/');
    const plan = await this.#directory.plan(slug, id);
    const plain = plainPlan(plan);
    if (plain === undefined) throw new Error(`an entry of ${entry.g}, which Redis does not count`);
    const transition = entry.to === 1 ? plain.entry : plain.restore;
    // If another server with a clock behind took over, time stands still until it has caught up.
    const cycle = Math.max(entry.cycle, head.cycle);
    const fired = fireOperators({
      transition,
      count: entry.count,
      event: { type: 'aggregate', cycle, counts: [entry.count] },
    });
    if (!fired.ok) throw new Error(`the substrate refused ${entry.count} in cycle ${cycle}: ${fired.why}`);
    const { states } = plan;
    const at = instantIn(cycle, entry.now, this.#connection.cycleMs);
    return {
      machine: slug,
      cycle,
      at: head.at > at ? head.at : at,
      contract_id: id,
      ...(names.length === 0 ? {} : { key: names.join('/') }),
      from: states[transition.from]!.name,
      to: states[transition.to]!.name,
      cause: entry.cause,
      ...(entry.by === undefined ? {} : { by: entry.by }),
      ...fired.fields,
      kind: 'transition',
      emitted: transition.emits,
    };
  }
}
