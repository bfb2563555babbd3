// The registry of a network of nodes: kept in Redis, and known to the host of this process.
//
//   asked ─► turn ─► room? ─► entry, by a function of Redis ─► all nodes hear of it ─► row linked ─► answer
import { randomBytes } from 'node:crypto';
import type { Observable } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import { type AuditRow, GENESIS } from '../../core/record/row.js';
import { digestOf } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import { Contract } from '../host/contract.js';
import { type Changed, type ContractChange, changeRow, plansAfter } from '../host/contract-change.js';
import type { ContractOptions, NewMachine } from '../host/host.js';
import { keyedFields } from '../host/keys.js';
import { type Machine, nameTaken, slugTaken } from '../host/machine.js';
import { deleted } from '../ownership.js';
import {
  type KeyChange,
  keyLimitReached,
  keyMachineOf,
  keySlugOf,
  type NodeShown,
  type Registry,
} from '../registry/registry.js';
import type { Key } from '../store/credential-store.js';
import type { MissingRows } from '../store/head-mark.js';
import type { ContractImage, MachineImage } from '../store/store.js';
import { type Amounts, takenByContract } from '../usage.js';
import { asStored, type KeptChange, movedMeanwhile, plannedChange } from './contract-change.js';
import { lost, stateText, unlessGone } from './gate-transactions.js';
import { plainPlan } from './plain-plan.js';
import { prefixOf } from './redis/buckets.js';
import { asStartFailure } from './redis/store-away.js';
import { type NetworkRegistryContext, Upkeep } from './upkeep.js';

const CHANGE_TRIES = 10;

/** Keys removed in one call: each blocks Redis for some 2 µs. */
const SWEPT_AT_ONCE = 500;

export class NetworkRegistry implements Registry {
  readonly place = 'network';
  readonly durableRows: Observable<AuditRow>;
  readonly #context: NetworkRegistryContext;
  readonly #upkeep: Upkeep;

  constructor(context: NetworkRegistryContext) {
    this.#context = context;
    const { network, host } = context;
    this.durableRows = network.durableRows;
    network.directory.credentials.onKey = context.onKey;
    this.#upkeep = new Upkeep(context, this);
    network.directory.onMachine = (machine, bytes) =>
      context.usage.keep(machine, { rows: machine.head.seq, recordKib: bytes / 1024 });
    host.changes.subscribe(({ kind, machine }) => {
      if (kind === 'machine_removed') network.heads.drop(machine);
    });
  }

  readonly follow = () => this.#context.network.directory.follow();

  async createMachine({ slug, owner = '', isPublic = false, displayName = slug, by }: NewMachine): Promise<Machine> {
    const { network, clock, host } = this.#context;
    const { directory, entries } = network;
    const cycle = clock.cycle();
    const e = { cycle, at: entries.at(), kind: 'machine_created', cause: 'manual', ...(by && { by }), emitted: [] };
    const image: MachineImage = { slug, owner, isPublic, displayName, createdCycle: cycle };
    const args = [JSON.stringify(image), JSON.stringify({ e }), GENESIS];
    const make = async (untilMs?: number) => {
      const number = await entries.made('machine', slug, args, untilMs);
      // Covers a creator that stopped before announcing it.
      await directory.announce(slug);
      return number;
    };
    const number = await this.#within(owner, by === undefined ? undefined : { machines: 1 }, slug, make);
    if (number > 0) await entries.linked(slug, number);
    await directory.learn(slug);
    if (number === 0) throw slugTaken(slug);
    return host.machine(slug);
  }

  async createContract(machine: Machine, plan: Plan, options: ContractOptions): Promise<Contract> {
    const { directory, entries } = this.#context.network;
    const { slug, image } = machine;
    const wanted = options.by === undefined ? undefined : takenByContract(plan, options.keyed);
    const id = randomBytes(8).toString('hex');
    const args = this.#contractArgs(id, machine, plan, options);
    const make = async (untilMs?: number) => {
      const number = await entries.made('contract', slug, args, untilMs);
      if (number > 0) await directory.announce(slug);
      return number;
    };
    const number = await this.#within(image.owner, wanted, slug, make);
    if (number === -1) throw nameTaken(slug, options.name ?? '');
    if (number === 0) throw await this.#whyNot(slug, machineLost(slug));
    await entries.linked(slug, number);
    return directory.contract(slug, id);
  }

  #contractArgs(id: string, machine: Machine, plan: Plan, { templateId, by, keyed, name }: ContractOptions): string[] {
    const { clock, network } = this.#context;
    const cycle = clock.cycle();
    const { definition } = plan;
    const image: ContractImage = {
      ...{ id, machine: machine.slug, definition, templateId, createdCycle: cycle, firstFireCycle: cycle + 1, keyed },
      ...(name === undefined ? {} : { name }),
    };
    const first = new Contract(image, plan, machine, cycle, machine.context);
    const e = {
      ...{ cycle, at: network.entries.at(), kind: 'contract_created', contract_id: id, to: first.state },
      definition_digest: digestOf(definition),
      ...keyedFields(keyed),
      ...(name === undefined ? {} : { name }),
      ...{ cause: 'manual', ...(by && { by }), emitted: [] },
    };
    const plain = plainPlan(plan);
    const start = plain === undefined ? [stateText(first), ''] : [String(plain.threshold), String(plain.within)];
    return [id, JSON.stringify(asStored(image)), JSON.stringify({ e }), ...start];
  }

  async changeContract(contract: Contract, change: ContractChange): Promise<Changed> {
    const { network } = this.#context;
    const { slug } = contract.machine;
    const { number, planned } = await network.turns.of(slug, (untilMs) => this.#change(contract, change, untilMs));
    if (number > 0) {
      await network.entries.linked(slug, number);
      // Redis moves a plain gate itself.
      if (change.plan !== undefined && plainPlan(planned.plan) === undefined)
        await network.transactions.run(contract, undefined, (one) => one.settle()).catch(unlessGone);
      void network.followKeys(contract);
    }
    return { ...planned, resets: false };
  }

  /** @returns the number of the entry, 0 where nothing changes */
  async #change(contract: Contract, change: ContractChange, untilMs: number) {
    const { network, host, usage } = this.#context;
    const { slug, image: owned } = host.machine(contract.machine.slug);
    const planned = plannedChange(contract, change);
    if (planned.changes.length === 0) return { number: 0, planned };
    usage.refuseChange(owned.owner, contract, plansAfter(contract, change), this.place);
    for (let tries = 0; tries < CHANGE_TRIES; tries += 1) {
      const args = await this.#changeArgs(contract, planned, change);
      const number = await network.entries.made('change', slug, args, untilMs);
      if (number === 0) throw await this.#whyNot(slug, lost(contract));
      if (number === -2) throw nameTaken(slug, change.name ?? '');
      if (number === -1) continue;
      await network.directory.announceGone(slug);
      return { number, planned };
    }
    throw movedMeanwhile(contract);
  }

  async #changeArgs(
    contract: Contract,
    { image, plan, changes, forgotten }: KeptChange,
    change: ContractChange,
  ): Promise<string[]> {
    const { network, clock } = this.#context;
    const plain = plainPlan(plan);
    const { version, state } =
      plain === undefined ? await network.transactions.settledState(contract) : { version: 0, state: '@' };
    const note = forgotten === undefined ? {} : { forgotten };
    // Redis replaces @ by the state of a gate that it counts.
    const e = { from: state, to: state, cycle: clock.cycle(), at: network.entries.at() };
    const entry = { e: { ...e, ...changeRow(contract, plan, changes, change), ...note } };
    const limiting = plain && plan.states[plain.limiting]!.name;
    const { name: initial } = plan.states[plan.initial]!;
    return [
      ...[contract.id, JSON.stringify(asStored(image)), JSON.stringify(entry)],
      ...(plain === undefined
        ? [String(version)]
        : [String(plain.threshold), String(plain.within), initial, limiting!]),
    ];
  }

  async deleteContract(contract: Contract, by?: string) {
    const { network, host, usage } = this.#context;
    const { slug, image } = host.machine(contract.machine.slug);
    const e = this.#deletion({ kind: 'contract_deleted', contract_id: contract.id }, by);
    const number = await network.entries.made('endcontract', slug, [JSON.stringify({ e }), contract.id]);
    if (number === 0) throw await this.#whyNot(slug, lost(contract));
    const freed = usage.roomOf(image.owner, [contract]);
    await this.#gone(slug, number);
    return freed;
  }

  async changeKeys({ made, changed = [], note }: KeyChange): Promise<void> {
    const { host, network, limits } = this.#context;
    const { credentials } = network.directory;
    const { keysPerOwner: most } = limits;
    const make = async (key: Key) => {
      if (credentials.countKeys(key.owner) >= most) throw keyLimitReached(most, this.place);
      await credentials.writeKey(key);
    };
    if (made !== undefined) await network.turns.of('', () => make(made));
    await Promise.all(changed.map((key) => credentials.writeKey(key)));
    if (note === undefined) return;
    const { owner, ...action } = note;
    const slug = keySlugOf(owner);
    if (!host.machines.has(slug)) {
      await this.createMachine(keyMachineOf(owner)).catch((error) => {
        // Another node was first.
        if (!(error instanceof Failure) || error.code !== 'slug_taken') throw error;
      });
    }
    await network.entries.note(slug, action);
  }

  /** While Redis is away, each node drops them by itself; another node removes them from Redis later. */
  purgeExpired(): void {
    const { network, clock } = this.#context;
    void network.directory.credentials.purgeEverywhere(clock.now()).catch(() => {});
  }

  async deleteMachine({ slug, image, contracts }: Machine, by?: string) {
    const { network, usage } = this.#context;
    const e = this.#deletion({ kind: 'machine_deleted' }, by);
    const args = [JSON.stringify({ e }), `${Date.parse(e.at)} ${e.cycle}`];
    const number = await network.entries.made('endmachine', slug, args);
    if (number > 0) {
      const freed = { machines: 1, ...usage.roomOf(image.owner, contracts) };
      await this.#gone(slug, number);
      return freed;
    }
    if (by !== undefined) throw await this.#whyNot(slug, machineLost(slug));
    await network.directory.learn(slug);
    return undefined;
  }

  nodes(): Promise<readonly NodeShown[]> {
    return this.#context.network.presence.nodes();
  }

  /** The node that links a row signs it. */
  take(row: AuditRow): void {
    this.#context.usage.takeRow(row);
  }

  tick(): Promise<void> {
    this.#context.network.tick();
    return this.#upkeep.tick();
  }

  async start(lost: readonly MissingRows[]): Promise<void> {
    const { network, host } = this.#context;
    const { directory, entries } = network;
    try {
      await directory.load(host);
      await network.start();
      for (const { machine, toSeq } of lost) if (host.machines.has(machine)) await entries.noteLoss(machine, toSeq);
    } catch (error) {
      throw asStartFailure(error);
    }
  }

  async join(address: string | undefined): Promise<void> {
    const { presence, connection } = this.#context.network;
    await presence.join(address);
    connection.started();
  }

  /** While Redis is away, other nodes notice the silence. */
  leave(): Promise<void> {
    return this.#context.network.presence.leave().catch(() => {});
  }

  close(): void {
    this.#context.network.heads.close();
    this.#context.network.connection.close();
  }

  /** The order counts: the functions of Redis read the first fields. */
  #deletion(what: Pick<AuditRow, 'kind' | 'contract_id'>, by: string | undefined) {
    const { clock, network } = this.#context;
    const cause = by === undefined ? 'system' : 'manual';
    return { ...what, cause, ...(by && { by }), emitted: [], cycle: clock.cycle(), at: network.entries.at() };
  }

  async #gone(slug: string, number: number): Promise<void> {
    const { connection, directory, entries } = this.#context.network;
    await directory.announceGone(slug);
    await entries.linked(slug, number);
    for (let hasMore: unknown = 1; hasMore === 1; )
      [, hasMore] = await connection.call('sweep', prefixOf(slug), [String(SWEPT_AT_ONCE)]);
  }

  async #whyNot(slug: string, otherwise: Failure): Promise<Failure> {
    const { network, host } = this.#context;
    await network.directory.learn(slug);
    const machine = host.machine(slug);
    return machine.deletedMs === undefined ? otherwise : deleted(machine);
  }

  #within(
    owner: string,
    wanted: Amounts | undefined,
    slug: string,
    make: (untilMs?: number) => Promise<number>,
  ): Promise<number> {
    if (wanted === undefined) return make();
    const { network, usage } = this.#context;
    return network.turns.of(slug, (untilMs) => {
      usage.refuse(owner, wanted, this.place);
      return make(untilMs);
    });
  }
}

function machineLost(slug: string): Failure {
  return new Failure('machine_not_found', {
    what: `There is no machine "${slug}" any more.`,
    why: 'Redis has lost it.',
    fix: 'Give Redis a copy of its data that has it, or create another one.',
  });
}
