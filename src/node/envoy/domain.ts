// A domain of limits: its contracts on a machine, and what a request counts in them.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { planContract } from '../../core/limiter/validate.js';
import { assert, Failure } from '../../core/schema/failure.js';
import type { DecisionRequest } from '../counting/decision.js';
import { isReserved, type Machine } from '../host/machine.js';
import { keyedImage } from '../keyed.js';
import type { NodeContext } from '../node-context.js';
import { contractBy } from '../registry/registry.js';
import { type DescriptorLimit, findLimit, keyOf, limitPerUnit } from './descriptor-limits.js';
import type { DomainLimits } from './limits-file.js';
import { type Descriptor, type Hit, type RateLimitRequest, rateUnitOf } from './rate-limit-messages.js';

const MAX_KEYS = 10_000;

/** An hour of cycles of 777 ms; no key is evicted before its window is empty. */
const IDLE_CYCLES = 4_634;

const MOST_OVERRIDES = 100;

export class Domain {
  readonly limits: DomainLimits;
  readonly #context: NodeContext;
  /** By path of the limit. Ids, because contracts are new objects after a full disk. */
  readonly #contracts = new Map<string, string>();
  readonly #making = new Map<string, Promise<string>>();
  #overrides = 0;

  private constructor(context: NodeContext, limits: DomainLimits) {
    this.#context = context;
    this.limits = limits;
  }

  /** Makes what is missing. @throws Failure `invalid_input` if the machine has another owner: anyone may make it */
  static async deploy(context: NodeContext, limits: DomainLimits): Promise<Domain> {
    const { host, registry } = context;
    const { machine: slug, owner = 'node', is_public: isPublic = false, domain } = limits;
    if (isReserved(slug))
      throw notDeployed(domain, `The slug "${slug}" is reserved for the node.`, 'Name another machine.');
    const known = host.machines.get(slug);
    const asked = { slug, owner, isPublic, displayName: domain.slice(0, 100) };
    const { image } = known ?? (await registry.createMachine(asked));
    if (image.owner !== owner) {
      const expected = limits.owner === undefined ? 'no owner, which means the node itself' : `the owner ${owner}`;
      const why = `The machine "${slug}" belongs to ${image.owner}, and the file names ${expected}.`;
      throw notDeployed(domain, why, `Name another machine, or, to use this one, owner: ${image.owner}.`);
    }
    const deployed = new Domain(context, limits);
    for (const { definition, path } of limits.limits)
      if (definition !== undefined) await deployed.#deploy(definition, path);
    return deployed;
  }

  get machine(): Machine {
    return this.#context.host.machine(this.limits.machine);
  }

  /** Undefined: the descriptor counts nothing and is admitted. */
  hitsOf({ descriptors, hits_addend: common }: RateLimitRequest): (Hit | undefined)[] {
    const { domain, root } = this.limits;
    const found = descriptors.map(({ entries, limit: override, hits_addend: own }): Hit | undefined => {
      const limit = override === null ? findLimit(root, entries) : overriding(domain, override);
      if (limit === undefined) return undefined;
      const key = override === null ? keyOf(entries) : keyOf([{ key: '', value: JSON.stringify(entries) }]);
      return { limit, key, hits: own?.value ?? Math.max(1, common) };
    });
    const replaced = new Set(found.flatMap((hit) => hit?.limit.replaces ?? []));
    return found.map((hit) => (hit?.limit.name !== undefined && replaced.has(hit.limit.name) ? undefined : hit));
  }

  /** Undefined for a hit that counts nothing. */
  async askedOf({ limit, key, hits: n }: Hit): Promise<DecisionRequest | undefined> {
    const id = await this.#contractOf(limit);
    if (id === undefined) return undefined;
    const contract = this.#context.host.contract(id);
    const name = contract.nameOf(key);
    assert(name !== undefined, 'the contract of a limit has keys');
    return { machine: this.machine, contract, kind: 0, n: Math.max(1, n), name, peek: n === 0 };
  }

  #contractOf({ path, definition }: DescriptorLimit): string | undefined | Promise<string> {
    const known = this.#contracts.get(path) ?? this.#making.get(path);
    if (known !== undefined || definition === undefined) return known;
    if (this.#overrides === MOST_OVERRIDES) {
      throw new Failure('limit_reached', {
        what: 'The request was not decided.',
        why: `The domain has had ${MOST_OVERRIDES} limits that came with requests, and each is a contract.`,
        fix: 'Write limits into the file of the domain, or let requests bring fewer different ones.',
      });
    }
    this.#overrides += 1;
    const making = this.#deploy(definition, path).finally(() => this.#making.delete(path));
    this.#making.set(path, making);
    return making;
  }

  async #deploy(definition: ContractDefinition, path: string): Promise<string> {
    const { registry } = this.#context;
    const maxKeys = this.limits.max_keys ?? MAX_KEYS;
    const plan = planContract(definition);
    const asked = { max_keys: maxKeys, idle_cycles: IDLE_CYCLES, overflow: 'share' } as const;
    const keyed = keyedImage(asked, this.machine.image.isPublic);
    const options = { templateId: definition.id, keyed };
    const same = contractBy(plan, maxKeys, this.machine);
    const { id } = same ?? (await registry.createContract(this.machine, plan, options));
    this.#contracts.set(path, id);
    return id;
  }
}

function notDeployed(domain: string, why: string, fix: string): Failure {
  return new Failure('invalid_input', { what: `The limits of the domain "${domain}" were not deployed.`, why, fix });
}

function overriding(
  domain: string,
  { requests_per_unit: requests, unit }: NonNullable<Descriptor['limit']>,
): DescriptorLimit {
  const known = rateUnitOf(unit);
  assert(known !== undefined, 'a unit that is not known was refused');
  const path = `${domain}.override_${requests}_${known}`;
  return { path, name: undefined, replaces: [], isShadow: false, ...limitPerUnit(requests, known, path) };
}
