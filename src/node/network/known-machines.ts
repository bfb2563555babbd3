// The machines and contracts of a network: learned from Redis, dropped once deleted there. What is only missing there is kept: see heads.ts.
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Plan } from '../../limiter/plan.js';
import { planContract } from '../../limiter/validate.js';
import { DIRECTORY, prefixOf } from '../../store/redis/buckets.js';
import type { RedisConnection } from '../../store/redis/connection.js';
import type { ContractImage, MachineImage } from '../../store/store.js';
import { instantText } from '../../time/cycle.js';

/** Fields of a machine that change when something comes or goes. */
const STAMP = ['image', 'contracts', 'changed', 'removed', 'end'] as const;

export class KnownMachines {
  /** Set by the node. `bytes`: size of the record so far. */
  onMachine: (machine: Machine, bytes: number) => void = () => {};
  readonly deleted = new Set<Machine>();
  readonly connection: RedisConnection;
  protected host: Host | undefined;
  readonly #stamps = new Map<string, string>();
  readonly #removed = new Map<string, number>();
  /** By contract id: the field in the hash of its machine. */
  readonly #places = new Map<string, string>();
  readonly #refreshing = new Map<string, Promise<void>>();

  constructor(connection: RedisConnection) {
    this.connection = connection;
  }

  /** Learns contracts made by other nodes; calls in one turn of the loop share it. @throws Failure `store_away` */
  refresh({ slug }: Machine): Promise<void> {
    let refreshed = this.#refreshing.get(slug);
    if (refreshed === undefined) {
      refreshed = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
        this.#refreshing.delete(slug);
        return this.catchUp(slug);
      });
      this.#refreshing.set(slug, refreshed);
    }
    return refreshed;
  }

  /** @throws Failure `machine_not_found` */
  async machine(slug: string): Promise<Machine> {
    if (this.host?.machines.has(slug) !== true) await this.learn(slug);
    return this.host!.machine(slug);
  }

  /** Another node may just have made it. @throws Failure `contract_not_found` */
  async contract(slug: string, id: string): Promise<Contract> {
    if (this.host?.contracts.has(id) !== true) await this.learn(slug);
    return this.host!.contract(id);
  }

  /** Also of a deleted contract with moves that are not linked yet. @throws Failure `contract_not_found` */
  async plan(slug: string, id: string): Promise<Plan> {
    const host = this.host!;
    if (!host.contracts.has(id)) await this.learn(slug);
    const known = host.contracts.get(id);
    if (known !== undefined) return known.plan;
    const prefix = prefixOf(slug);
    const fields = fieldsIn(await this.connection.command('HGETALL', `${prefix}m:${slug}`));
    for (const [name, text] of fields) {
      if (!/^[cx]:/.test(name)) continue;
      const image = JSON.parse(text) as ContractImage;
      if (image.id === id) return planContract(image.definition, { isStored: true });
    }
    return host.contract(id).plan;
  }

  /** As Redis has it; empty if there is none. */
  async textOf(contract: Contract): Promise<string> {
    const prefix = prefixOf(contract.machine.slug);
    const place = [`${prefix}m:${contract.machine.slug}`, this.placeOf(contract)];
    return (await this.connection.command<string | null>('HGET', ...place)) ?? '';
  }

  placeOf({ id }: Contract): string {
    return this.#places.get(id) ?? '';
  }

  /** Drops a machine that was removed in Redis. @returns whether it was @throws Failure `store_away` */
  async dropRemoved(machine: Machine): Promise<boolean> {
    const { slug } = machine;
    if (!(await wasRemoved(this.connection, slug, machine.head.seq, machine.image.createdCycle))) return false;
    if (this.host?.machines.get(slug) !== machine) return true;
    if (machine.deletedMs === undefined) this.#end(machine, { kind: 'machine_deleted', cycle: 0, at: '' });
    this.host.removeMachine(machine);
    this.deleted.delete(machine);
    this.#stamps.delete(slug);
    this.#removed.delete(slug);
    return true;
  }

  protected async catchUp(slug: string): Promise<void> {
    const prefix = prefixOf(slug);
    const values = await this.connection.command<(string | null)[]>('HMGET', `${prefix}m:${slug}`, ...STAMP);
    if (stampOf(values) !== this.#stamps.get(slug)) await this.learn(slug);
  }

  async learn(slug: string): Promise<void> {
    const prefix = prefixOf(slug);
    const reply = await this.connection.command('HGETALL', `${prefix}m:${slug}`);
    const fields = fieldsIn(reply);
    const host = this.host;
    if (host === undefined) return;
    const text = fields.get('image');
    const image = text === undefined ? undefined : (JSON.parse(text) as MachineImage);
    const before = host.machines.get(slug);
    // It is gone, or another machine has its name.
    const isOther = before !== undefined && before.image.createdCycle !== image?.createdCycle;
    if (isOther && (await this.dropRemoved(before))) return this.learn(slug);
    if (image === undefined) return;
    const end = endIn(fields.get('end'));
    const contracts = [...fields].filter(([name]) => name.startsWith('c:')).sort(([a], [b]) => (a < b ? -1 : 1));
    const images = end === undefined ? contracts.map(([, json]) => JSON.parse(json) as ContractImage) : [];
    const head = { seq: Number(fields.get('seq')), hash: fields.get('hash')! };
    this.#stamps.set(slug, stampOf(STAMP.map((name) => fields.get(name) ?? null)));
    const known = host.machines.get(slug);
    const machine = host.learn(image, images, head, end);
    for (const [index, { id }] of images.entries()) this.#places.set(id, contracts[index]![0]);
    // Contracts that Redis has lost are missing, too: only deleted ones are dropped.
    const removed = Number(fields.get('removed') ?? 0);
    if (removed > (this.#removed.get(slug) ?? 0)) {
      const ids = new Set(images.map(({ id }) => id));
      const deleted = machine.contracts.filter(({ id }) => !ids.has(id));
      host.unlearn(machine, deleted);
      for (const { id } of deleted) this.#places.delete(id);
    }
    this.#removed.set(slug, removed);
    if (known === undefined) {
      if (end !== undefined) this.deleted.add(machine);
      this.onMachine(machine, Number(fields.get('bytes') ?? 0));
    } else if (end !== undefined && machine.deletedMs === undefined) this.#end(machine, end);
  }

  #end(machine: Machine, end: NonNullable<Machine['end']>): void {
    for (const { id } of machine.contracts) this.#places.delete(id);
    this.host?.endLearned(machine, end);
    this.deleted.add(machine);
  }
}

function stampOf(values: readonly (string | null)[]): string {
  return values.map((value) => value ?? '').join('\n');
}

/** Reads unix ms and the cycle. */
function endIn(text: string | undefined): Machine['end'] {
  const [ms, cycle] = text?.split(' ').map(Number) ?? [];
  if (ms === undefined || cycle === undefined) return undefined;
  return { kind: 'machine_deleted', cycle, at: instantText(ms) };
}

export function removedPlace(slug: string): string {
  return `${DIRECTORY}x:${slug}`;
}

/** Whether a record with a row `seq` was removed after its machine was deleted. @throws Failure `store_away` */
export async function wasRemoved(
  connection: RedisConnection,
  slug: string,
  seq: number,
  createdCycle?: number,
): Promise<boolean> {
  const removed = await connection.command<string | null>('GET', removedPlace(slug));
  const [last, created] = removed?.split(' ').map(Number) ?? [];
  return last !== undefined && last >= seq && (createdCycle ?? created) === created;
}

/** The fields of a hash: a map by RESP3, a list of pairs by RESP2. */
export function fieldsIn(reply: unknown): Map<string, string> {
  if (reply instanceof Map) return reply as Map<string, string>;
  if (!Array.isArray(reply)) return new Map(Object.entries(reply as Record<string, string>));
  return new Map(Array.from({ length: reply.length / 2 }, (_, pair) => [reply[2 * pair], reply[2 * pair + 1]]));
}
