// Writes to records on a network. Each change is an entry; the node with the lease of the bucket makes entries into rows: computed, linked, signed.
// A change is answered once its row is linked.
//
//   asked, counted ─► entry, by a function of Redis ─(published)─► lease held or free? ─► head and entries ─► operators, hash, signature
//   row ─► answer  ◄─ seq of the entry ◄─ linked, if the head is still the one that was read ◄───────────────────────────┘
//
// The lease only avoids duplicate work. If two nodes link the same entries, the head refuses one, so a node that was paused does no harm.
import { link } from '../../core/record/chain.js';
import { fireOperators } from '../../core/record/fire-operators.js';
import type { AuditEntry, AuditRow } from '../../core/record/row.js';
import { type Signer, signCheckpoint, signText } from '../../core/record/signing.js';
import { Failure } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { cycleOf, instantIn, instantText } from '../../core/time/cycle.js';
import { pause } from '../../core/time/wall.js';
import type { Contract } from '../host/contract.js';
import { type Move, whyNoTransition } from '../host/contract-failures.js';
import type { AdminNote } from '../host/ledger.js';
import type { Directory } from './directory.js';
import type { GateTransactions } from './gate-transactions.js';
import type { Heads } from './heads.js';
import type { PlainCounting } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import { prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const POLL_MS = 4;

/** Duration of a lease that is not renewed, in ms. */
const LEASE_MS = 1_000;

/** Entries per call: each takes some 70 µs. */
const AT_ONCE = 100;

const MACHINES_AT_ONCE = 16;

interface MoveEntry {
  readonly g: string;
  readonly to: 0 | 1;
  readonly count: number;
  readonly cycle: number;
  readonly now: number;
  readonly cause: 'trigger' | 'manual';
  readonly by?: string;
}

interface WholeEntry {
  readonly e: Omit<AuditEntry, 'machine'>;
}

interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly cycle: number;
  readonly at: string;
}

interface EntryContext {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly transactions: GateTransactions;
  readonly plain: PlainCounting;
  readonly heads: Heads;
  /** How long an answer waits for its row. */
  readonly linkedWithinMs: number;
  readonly onError: (error: unknown) => void;
}

export class Entries {
  readonly #context: EntryContext;
  /** Buckets being linked; true: there is more. */
  readonly #busy = new Map<string, boolean>();

  constructor(context: EntryContext) {
    this.#context = context;
  }

  /** @returns its row @throws as `Host.transition` */
  async transition(contract: Contract, name: string | undefined, asked: Move): Promise<AuditRow> {
    const { slug } = contract.machine;
    this.#context.heads.check(contract.machine);
    const plain = plainPlan(contract.plan);
    if (plain !== undefined) {
      const target = contract.plan.states.findIndex((state) => state.name === asked.to);
      if (target >= 0) return this.linked(slug, await this.#context.plain.move(contract, plain, name, target, asked));
      const { gate } = await this.#context.transactions.snapshot(contract, name);
      throw whyNoTransition(contract.plan, gate.state, asked.to);
    }
    const { entry } = await this.#context.transactions.run(contract, name, (fresh, cycle) => fresh.move(asked, cycle));
    return this.linked(slug, entry);
  }

  async note(slug: string, action: AdminNote): Promise<void> {
    const what = { kind: 'admin_action', cause: 'manual', emitted: [] };
    const e = { ...action, ...what, cycle: this.#context.clock.cycle(), at: this.at() };
    await this.linked(slug, await this.made('note', slug, [JSON.stringify({ e })]));
  }

  /** Acknowledged rows are missing, and the operator accepts the loss. */
  async noteLoss(slug: string, toSeq: number): Promise<void> {
    const cycle = this.#context.clock.cycle();
    const e = { kind: 'rows_lost', lost_to_seq: toSeq, cause: 'system', emitted: [], cycle, at: this.at() };
    await this.made('note', slug, [JSON.stringify({ e })]);
  }

  /** @returns the number of the entry that the function makes; 0 if it refuses */
  async made(
    name: 'machine' | 'contract' | 'change' | 'note' | 'endcontract' | 'endmachine',
    slug: string,
    args: readonly string[],
    untilMs?: number,
  ): Promise<number> {
    this.#context.heads.check({ slug });
    const [, number] = await this.#context.connection.call<number>(name, prefixOf(slug), [slug, ...args], { untilMs });
    return number;
  }

  /** Waits for the row of an entry. @throws Failure `store_away` */
  async linked(slug: string, number: number): Promise<AuditRow> {
    const prefix = prefixOf(slug);
    const { connection, linkedWithinMs } = this.#context;
    const untilMs = connection.monotonicMs() + linkedWithinMs;
    for (;;) {
      const seq = await connection.command('GET', `${prefix}s:${slug}:${number}`);
      if (seq !== null) {
        const [row] = await this.#context.directory.rows(slug, { afterSeq: Number(seq) - 1, limit: 1 });
        if (row !== undefined) return row;
      }
      if (connection.monotonicMs() > untilMs)
        throw new Failure('store_away', {
          what: 'It is done, and its row is not in the record yet.',
          why: `No node has linked it within ${linkedWithinMs / 1_000} s.`,
          fix: `Do not send it again: GET /api/chain/${slug}/state shows the row later.`,
        });
      this.linkPending(prefix);
      await pause(POLL_MS);
    }
  }

  at(): string {
    return instantText(this.#context.clock.now());
  }

  linkPending(prefix: string): void {
    if (this.#busy.has(prefix)) {
      this.#busy.set(prefix, true);
      return;
    }
    this.#busy.set(prefix, false);
    void this.#linkAll(prefix).catch((error) => {
      this.#busy.delete(prefix);
      // While Redis is away, entries wait there: each cycle looks again.
      if (!(error instanceof Failure)) this.#context.onError(error);
    });
  }

  async #linkAll(prefix: string): Promise<void> {
    for (;;) {
      const args = [this.#context.signer.fingerprint, String(LEASE_MS), String(MACHINES_AT_ONCE)];
      const [, machines] = await this.#context.connection.call<string[]>('tolink', prefix, args);
      let linked = 0;
      for (const slug of machines) linked += await this.#link(prefix, slug);
      if (linked > 0) continue;
      if (this.#busy.get(prefix) !== true) break;
      this.#busy.set(prefix, false);
    }
    this.#busy.delete(prefix);
  }

  async #link(prefix: string, slug: string): Promise<number> {
    const [, [[seq, hash, cycle, at], entries]] = await this.#context.connection.call<
      [[string, string, string, string | null], string[]]
    >('entries', prefix, [slug, String(AT_ONCE)]);
    if (entries.length === 0 || hash === null) return 0;
    // An acknowledged row is never replaced.
    if (this.#context.heads.lacks(slug, Number(seq))) return 0;
    let head: Head = { seq: Number(seq), hash, cycle: Number(cycle), at: at ?? '' };
    const rows: AuditRow[] = [];
    for (const text of entries) {
      const entry = await this.#entryOf(slug, JSON.parse(text.slice(text.indexOf('{'))), head);
      const linked = link(head, { ...entry, signed_by: this.#context.signer.publicKey });
      const row = { ...linked, signature: signText(this.#context.signer, 'row', linked.hash) };
      rows.push(row);
      head = row;
    }
    const checkpoint = signCheckpoint(this.#context.signer, {
      machine: slug,
      seq: head.seq,
      hash: head.hash,
      cycle: Math.max(head.cycle, cycleOf(this.#context.connection.nowMs(), this.#context.connection.cycleMs)),
    });
    const [, done] = await this.#context.connection.call('link', prefix, [
      ...[slug, seq, hash, String(entries.length), entries.at(-1)!, JSON.stringify(checkpoint)],
      ...[String(head.cycle), head.at, String(head.seq), head.hash],
      ...rows.map((row) => JSON.stringify(row)),
    ]);
    if (done !== 1) return 0;
    return rows.length;
  }

  async #entryOf(slug: string, entry: MoveEntry | WholeEntry, head: Head): Promise<AuditEntry> {
    if ('e' in entry) {
      const { e } = entry;
      // It has the cycle of its node; Redis may already have been in the next.
      return { ...e, machine: slug, cycle: Math.max(e.cycle, head.cycle), at: head.at > e.at ? head.at : e.at };
    }
    const [, id = '', ...names] = entry.g.split('/');
    const plan = await this.#context.directory.plan(slug, id);
    const plain = plainPlan(plan);
    if (plain === undefined) throw new Error(`an entry of ${entry.g}, which Redis does not count`);
    const transition = entry.to === 1 ? plain.entry : plain.restore;
    // After a failover to a server whose clock is behind, time does not advance until the clock has caught up.
    const cycle = Math.max(entry.cycle, head.cycle);
    const fired = fireOperators({
      transition,
      count: entry.count,
      event: { type: 'aggregate', cycle, counts: [entry.count] },
    });
    if (!fired.ok) throw new Error(`the substrate refused ${entry.count} in cycle ${cycle}: ${fired.why}`);
    const { states } = plan;
    const at = instantIn(cycle, entry.now, this.#context.connection.cycleMs);
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
