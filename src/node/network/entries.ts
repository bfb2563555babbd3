// What writes to records on a network: new machines and contracts, manual transitions, notes. Each is an entry, and is answered once its row is
// linked by whichever node.
//
//   asked ─► entry, by a function of Redis ─► linked ─► seq of the entry ─► row ─► answer
import { randomBytes } from 'node:crypto';
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { ContractOptions } from '../../host/host-context.js';
import { keyedFields, makeContract } from '../../host/keyed-contract.js';
import type { AdminNote } from '../../host/ledger.js';
import { type Machine, slugTaken } from '../../host/machine.js';
import { type Move, move, whyNoTransition } from '../../host/manual-transition.js';
import type { Plan } from '../../limiter/plan.js';
import { type AuditRow, GENESIS } from '../../record/row.js';
import { digestOf } from '../../schema/canonical.js';
import { Failure } from '../../schema/failure.js';
import { prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { ContractImage, MachineImage } from '../../store/store.js';
import type { Clock } from '../../time/clock.js';
import { instantText } from '../../time/cycle.js';
import { pause } from '../../time/wall.js';
import { deleted } from '../ownership.js';
import type { Stocked, Wanted } from '../usage.js';
import type { Directory } from './directory.js';
import type { Heads } from './heads.js';
import type { Linker } from './linker.js';
import type { PlainCounting } from './plain-counting.js';
import { plainPlan } from './plain-plan.js';
import { machineItem, type Stock } from './stock.js';
import { lost, Turns } from './turns.js';

/** For how long an answer waits for its row to be linked, in ms. */
const LINKED_WITHIN_MS = 3_000;
const LOOK_AGAIN_MS = 4;
/** Keys of deleted contracts that are removed in one call: it keeps Redis from others for some 2 µs each. */
const SWEPT_AT_ONCE = 500;

interface EntryParts {
  readonly connection: RedisConnection;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly linker: Linker;
  readonly turns: Turns;
  readonly plain: PlainCounting;
  readonly stock: Stock;
  readonly heads: Heads;
}

export class Entries {
  readonly #parts: EntryParts;
  readonly #host: Host;

  constructor(parts: EntryParts, host: Host) {
    this.#parts = parts;
    this.#host = host;
  }

  /** Moves a contract. @returns its row @throws as `Host.transition` */
  async transition(contract: Contract, name: string | undefined, asked: Move): Promise<AuditRow> {
    const { slug } = contract.machine;
    this.#parts.heads.check(contract.machine);
    const plain = plainPlan(contract.plan);
    if (plain !== undefined) {
      const target = contract.plan.states.findIndex((state) => state.name === asked.to);
      if (target >= 0) return this.#linked(slug, await this.#parts.plain.move(contract, plain, name, target, asked));
      const { stateIndex } = await this.#parts.turns.look(contract, name);
      throw whyNoTransition(contract.plan, stateIndex, asked.to);
    }
    const { entry } = await this.#parts.turns.run(contract, name, (fresh, cycle) => move(fresh, asked, cycle));
    return this.#linked(slug, entry);
  }

  /**
   * @param wanted the room that it takes; undefined for one of the nodes' own
   * @throws Failure `slug_taken`, `limit_reached`, `store_away`
   */
  async createMachine(image: Omit<MachineImage, 'createdCycle'>, by?: string, wanted?: Wanted): Promise<Machine> {
    const { slug } = image;
    const cycle = this.#parts.clock.cycle();
    const whole = { ...image, createdCycle: cycle };
    const e = { cycle, at: this.#at(), kind: 'machine_created', cause: 'manual', ...(by && { by }), emitted: [] };
    const args = [JSON.stringify(whole), JSON.stringify({ e }), GENESIS];
    const number = await this.#within(wanted, machineItem(slug), (until) => this.#made('machine', slug, args, until));
    // Also where it was made by a node that ended before it could say so.
    await this.#parts.directory.announce(slug);
    if (number === 0) throw slugTaken(slug);
    await this.#linked(slug, number);
    return this.#parts.directory.machine(slug);
  }

  /** @param wanted as of `createMachine` @throws Failure `machine_not_found`, `limit_reached`, `store_away` */
  async createContract(
    machine: Machine,
    plan: Plan,
    { templateId, by, keyed }: ContractOptions,
    wanted?: Wanted,
  ): Promise<Contract> {
    const { slug } = machine;
    const cycle = this.#parts.clock.cycle();
    const id = randomBytes(8).toString('hex');
    const { definition } = plan;
    const image: ContractImage = {
      ...{ id, machine: slug, definition, templateId, createdCycle: cycle, firstFireCycle: cycle + 1, keyed },
    };
    const first = makeContract(image, plan, machine, cycle, machine.parts);
    const e = {
      ...{ cycle, at: this.#at(), kind: 'contract_created', contract_id: id, to: first.state },
      definition_digest: digestOf(definition),
      ...keyedFields(keyed),
      ...{ cause: 'manual', ...(by && { by }), emitted: [] },
    };
    const plain = plainPlan(plan);
    const start = plain === undefined ? [Turns.firstState(first), ''] : [String(plain.threshold), String(plain.within)];
    const args = [id, JSON.stringify(image), JSON.stringify({ e }), ...start];
    const number = await this.#within(wanted, `${slug}/${id}`, (until) => this.#made('contract', slug, args, until));
    if (number === 0) throw await this.#whyNot(slug, machineLost(slug));
    await this.#parts.directory.announce(slug);
    await this.#linked(slug, number);
    return this.#parts.directory.contract(slug, id);
  }

  /**
   * Deletes a contract: no gate counts it from then on.
   * @param by the id of a key; absent: the node itself
   * @returns what is free now @throws Failure `contract_not_found`, `machine_deleted`, `store_away`
   */
  async deleteContract(contract: Contract, by?: string): Promise<Stocked> {
    const { directory, stock } = this.#parts;
    const { slug, image } = this.#host.machine(contract.machine.slug);
    const e = this.#deletion({ kind: 'contract_deleted', contract_id: contract.id }, by);
    const remove = async (untilMs: number) => {
      for (let tries = 0; tries < 2; tries += 1) {
        const args = [JSON.stringify({ e }), contract.id, directory.placeOf(contract)];
        const number = await this.#made('endcontract', slug, args, untilMs);
        if (number >= 0) return number;
        await directory.learn(slug);
      }
      return 0;
    };
    const done = await stock.freeing(image.owner, `${slug}/${contract.id}`, remove);
    if (done === undefined) throw await this.#whyNot(slug, lost(contract));
    await this.#gone(slug, done.number);
    return done.freed;
  }

  /** As `deleteContract`, a machine with its contracts: its record ends. @returns undefined where another node was first, and `by` is absent */
  async deleteMachine({ slug, image }: Machine, by?: string): Promise<Stocked | undefined> {
    const nowMs = Math.floor(this.#parts.clock.now());
    const e = { ...this.#deletion({ kind: 'machine_deleted' }, by), at: instantText(nowMs) };
    const args = [JSON.stringify({ e }), `${nowMs} ${e.cycle}`];
    const remove = (untilMs: number) => this.#made('endmachine', slug, args, untilMs);
    const done = await this.#parts.stock.freeing(image.owner, machineItem(slug), remove);
    if (done !== undefined) await this.#gone(slug, done.number);
    else if (by !== undefined) throw await this.#whyNot(slug, machineLost(slug));
    else await this.#parts.directory.learn(slug);
    return done?.freed;
  }

  /** The functions of Redis read the first fields. */
  #deletion(what: Pick<AuditRow, 'kind' | 'contract_id'>, by: string | undefined) {
    const cause = by === undefined ? 'system' : 'manual';
    return { ...what, cause, ...(by && { by }), emitted: [], cycle: this.#parts.clock.cycle(), at: this.#at() };
  }

  /** Something of a machine is gone: all nodes hear of it, its keys are removed, and its row is linked. */
  async #gone(slug: string, number: number): Promise<void> {
    await this.#parts.directory.announceGone(slug);
    while (await this.#sweep(prefixOf(slug)));
    await this.#linked(slug, number);
  }

  /** Removes some keys of contracts that were deleted. @returns whether there are more */
  async #sweep(prefix: string): Promise<boolean> {
    const { connection, clock } = this.#parts;
    const args = [String(connection.deadline()), String(clock.cycleMs), String(SWEPT_AT_ONCE)];
    return (await connection.call('sweep', prefix, args)) === 1;
  }

  /** Why nothing could be done on a machine, as Redis has it now. */
  async #whyNot(slug: string, otherwise: Failure): Promise<Failure> {
    await this.#parts.directory.learn(slug);
    const machine = this.#host.machine(slug);
    return machine.deletedMs === undefined ? otherwise : deleted(machine);
  }

  /** Writes a row about what somebody did that moves no contract. */
  async note(slug: string, action: AdminNote): Promise<void> {
    const e = {
      ...action,
      kind: 'admin_action',
      cause: 'manual',
      emitted: [],
      cycle: this.#parts.clock.cycle(),
      at: this.#at(),
    };
    await this.#linked(slug, await this.#made('note', slug, [JSON.stringify({ e })]));
  }

  /** Rows that were acknowledged are missing, and the operator goes on without them. */
  async noteLoss(slug: string, toSeq: number): Promise<void> {
    const cycle = this.#parts.clock.cycle();
    const e = { kind: 'rows_lost', lost_to_seq: toSeq, cause: 'system', emitted: [], cycle, at: this.#at() };
    await this.#made('note', slug, [JSON.stringify({ e })]);
  }

  #within(wanted: Wanted | undefined, item: string, make: (untilMs?: number) => Promise<number>): Promise<number> {
    return wanted === undefined ? make() : this.#parts.stock.within(wanted, item, make);
  }

  /** Calls a function that makes an entry. @returns the number of the entry; 0 where it was refused */
  async #made(
    name: 'machine' | 'contract' | 'note' | 'endcontract' | 'endmachine',
    slug: string,
    args: readonly string[],
    untilMs = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    this.#parts.heads.check({ slug });
    const deadline = Math.min(untilMs, this.#parts.connection.deadline());
    const head = [String(deadline), String(this.#parts.clock.cycleMs), slug];
    const [now, number] = (await this.#parts.connection.call(name, prefixOf(slug), [...head, ...args])) as number[];
    this.#parts.connection.heard(now!);
    return number!;
  }

  /** The row of an entry, once it is linked. @throws Failure `store_away` */
  async #linked(slug: string, number: number): Promise<AuditRow> {
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

  #at(): string {
    return instantText(this.#parts.clock.now());
  }
}

function machineLost(slug: string): Failure {
  return new Failure('machine_not_found', {
    what: `There is no machine "${slug}" any more.`,
    why: 'Redis has lost it.',
    fix: 'Give Redis a copy of its data that has it, or create another one.',
  });
}

function notLinked(slug: string): Failure {
  return new Failure('store_away', {
    what: 'It is done, and its row is not in the record yet.',
    why: `No node has linked it within ${LINKED_WITHIN_MS / 1_000} s.`,
    fix: `Do not send it again: GET /api/chain/${slug}/state shows the row later.`,
  });
}
