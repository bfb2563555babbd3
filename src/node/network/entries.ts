// What writes to records on a network. Each change is an entry, and is answered once a node, this one or another, has linked its row.
//
//   asked ─► entry, by a function of Redis ─► linked ─► seq of the entry ─► row ─► answer
import type { Contract } from '../../host/contract.js';
import { type Move, whyNoTransition } from '../../host/contract-failures.js';
import type { AdminNote } from '../../host/ledger.js';
import type { AuditRow } from '../../record/row.js';
import { Failure } from '../../schema/failure.js';
import { prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { Clock } from '../../time/clock.js';
import { instantText } from '../../time/cycle.js';
import { pause } from '../../time/wall.js';
import type { Directory } from './directory.js';
import type { Heads } from './heads.js';
import type { Linker } from './linker.js';
import type { PlainCounting } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import type { Turns } from './turns.js';

/** For how long an answer waits for its row to be linked, in ms. */
const LINKED_WITHIN_MS = 3_000;
const LOOK_AGAIN_MS = 4;

interface EntryParts {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly linker: Linker;
  readonly turns: Turns;
  readonly plain: PlainCounting;
  readonly heads: Heads;
}

export class Entries {
  readonly #parts: EntryParts;

  constructor(parts: EntryParts) {
    this.#parts = parts;
  }

  /** Moves a contract. @returns its row @throws as `Host.transition` */
  async transition(contract: Contract, name: string | undefined, asked: Move): Promise<AuditRow> {
    const { slug } = contract.machine;
    this.#parts.heads.check(contract.machine);
    const plain = plainPlan(contract.plan);
    if (plain !== undefined) {
      const target = contract.plan.states.findIndex((state) => state.name === asked.to);
      if (target >= 0) return this.linked(slug, await this.#parts.plain.move(contract, plain, name, target, asked));
      const { stateIndex } = await this.#parts.turns.look(contract, name);
      throw whyNoTransition(contract.plan, stateIndex, asked.to);
    }
    const { entry } = await this.#parts.turns.run(contract, name, (fresh, cycle) => fresh.move(asked, cycle));
    return this.linked(slug, entry);
  }

  async note(slug: string, action: AdminNote): Promise<void> {
    const what = { kind: 'admin_action', cause: 'manual', emitted: [] };
    const e = { ...action, ...what, cycle: this.#parts.clock.cycle(), at: this.at() };
    await this.linked(slug, await this.made('note', slug, [JSON.stringify({ e })]));
  }

  /** Rows that were acknowledged are missing, and the operator goes on without them. */
  async noteLoss(slug: string, toSeq: number): Promise<void> {
    const cycle = this.#parts.clock.cycle();
    const e = { kind: 'rows_lost', lost_to_seq: toSeq, cause: 'system', emitted: [], cycle, at: this.at() };
    await this.made('note', slug, [JSON.stringify({ e })]);
  }

  /** Calls a function that makes an entry. @returns the number of the entry; 0 where it was refused */
  async made(
    name: 'machine' | 'contract' | 'change' | 'note' | 'endcontract' | 'endmachine',
    slug: string,
    args: readonly string[],
    untilMs?: number,
  ): Promise<number> {
    this.#parts.heads.check({ slug });
    const [, number] = await this.#parts.connection.call<number>(name, prefixOf(slug), [slug, ...args], { untilMs });
    return number;
  }

  /** The row of an entry, once it is linked. @throws Failure `store_away` */
  async linked(slug: string, number: number): Promise<AuditRow> {
    const prefix = prefixOf(slug);
    const untilMs = this.#parts.connection.monotonicMs() + LINKED_WITHIN_MS;
    for (;;) {
      const seq = await this.#parts.connection.command(prefix, 'GET', `${prefix}s:${slug}:${number}`);
      if (seq !== null) {
        const [row] = await this.#parts.directory.rows(slug, { afterSeq: Number(seq) - 1, limit: 1 });
        if (row !== undefined) return row;
      }
      if (this.#parts.connection.monotonicMs() > untilMs) throw notLinked(slug);
      this.#parts.linker.look(prefix);
      await pause(LOOK_AGAIN_MS);
    }
  }

  at(): string {
    return instantText(this.#parts.clock.now());
  }
}

function notLinked(slug: string): Failure {
  return new Failure('store_away', {
    what: 'It is done, and its row is not in the record yet.',
    why: `No node has linked it within ${LINKED_WITHIN_MS / 1_000} s.`,
    fix: `Do not send it again: GET /api/chain/${slug}/state shows the row later.`,
  });
}
