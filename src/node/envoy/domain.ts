// A domain of limits: its contracts on a machine, and what a request counts with them.
import { KeyedContract } from '../../host/keyed-contract.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { planContract } from '../../limiter/validate.js';
import { assert, Failure } from '../../schema/failure.js';
import { countInSteps, type Decision, decisionOf } from '../decision.js';
import { isReserved } from '../ownership.js';
import type { Parts } from '../parts.js';
import { type DescriptorLimit, findLimit, keyOf, limitPerUnit } from './descriptor-limits.js';
import type { DomainLimits } from './limits-file.js';
import { type Descriptor, type Hit, type RateLimitRequest, unitOf } from './rate-limit-messages.js';

/** Counts of a limit at a time, where the file does not say. */
const MAX_KEYS = 10_000;

/** A key is forgotten after so many cycles without a request: an hour of 777 ms, and never before its window is empty. */
const IDLE_CYCLES = 4_634;

/** Limits of a domain that requests bring along: each is a contract. */
const MOST_OVERRIDES = 100;

export class Domain {
  readonly limits: DomainLimits;
  readonly #parts: Parts;
  /** Ids of the contracts, by the path of the limit: contracts are new objects after a full disk. */
  readonly #contracts = new Map<string, string>();
  #overrides = 0;

  /**
   * Makes the machine and the contracts that are not there yet.
   * @throws Failure `invalid_input` where the machine belongs to another owner than the file names: anybody may have made it first
   */
  constructor(parts: Parts, limits: DomainLimits) {
    this.#parts = parts;
    this.limits = limits;
    const { host, ownership } = parts;
    const { machine: slug, owner = 'node', is_public: isPublic = false, domain } = limits;
    if (isReserved(slug))
      throw notDeployed(domain, `The slug "${slug}" is reserved for the node.`, 'Name another machine.');
    let machine = host.machines.get(slug);
    if (machine === undefined) {
      machine = host.createMachine({ slug, owner, isPublic, displayName: domain.slice(0, 100) });
      ownership.add(machine);
    } else if (machine.image.owner !== owner) {
      const expected = limits.owner === undefined ? 'no owner, which means the node itself' : `the owner ${owner}`;
      const why = `The machine "${slug}" belongs to ${machine.image.owner}, and the file names ${expected}.`;
      throw notDeployed(domain, why, `Name another machine, or, to use this one, owner: ${machine.image.owner}.`);
    }
    for (const limit of limits.limits) this.#deploy(limit, machine);
  }

  get machine(): Machine {
    return this.#parts.host.machine(this.limits.machine);
  }

  /** What each descriptor counts; undefined for one that counts nothing and is admitted. */
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

  /** Decides in steps; undefined for a descriptor that counts nothing. */
  *decide(hits: readonly (Hit | undefined)[], cycle: number): Steps<(Decision | undefined)[]> {
    const decisions: (Decision | undefined)[] = [];
    for (const hit of hits) decisions.push(hit === undefined ? undefined : yield* this.#decideOne(hit, cycle));
    return decisions;
  }

  *#decideOne({ limit, key, hits }: Hit, cycle: number): Steps<Decision | undefined> {
    const { host, counts } = this.#parts;
    const id = this.#contractOf(limit);
    yield 1;
    if (id === undefined) return undefined;
    const contract = host.contract(id);
    assert(contract instanceof KeyedContract, 'a limit has a keyed contract');
    const name = contract.nameOf(key);
    if (hits === 0) return decisionOf(contract, 0, 1, 0, name, cycle);
    const admitted = yield* countInSteps(host, this.machine, { contract, kind: 0 }, hits, cycle, undefined, name);
    const decision = decisionOf(contract, 0, hits, admitted, name, cycle);
    counts.decided(hits, admitted, decision.would_limit);
    return decision;
  }

  /** @returns undefined for a limit that counts nothing */
  #contractOf(limit: DescriptorLimit): string | undefined {
    const known = this.#contracts.get(limit.path);
    if (known !== undefined || limit.definition === undefined) return known;
    if (this.#overrides === MOST_OVERRIDES) {
      throw new Failure('limit_reached', {
        what: 'The request was not decided.',
        why: `The domain has had ${MOST_OVERRIDES} limits that came with requests, and each is a contract.`,
        fix: 'Write limits into the file of the domain, or let requests bring fewer different ones.',
      });
    }
    this.#overrides += 1;
    return this.#deploy(limit, this.machine);
  }

  /** @returns the id of the contract; undefined for a limit that counts nothing */
  #deploy(limit: DescriptorLimit, machine: Machine): string | undefined {
    const { host, durability } = this.#parts;
    const { definition, path } = limit;
    if (definition === undefined) return undefined;
    const known = this.#contracts.get(path);
    if (known !== undefined) return known;
    const maxKeys = this.limits.max_keys ?? MAX_KEYS;
    const plan = planContract(definition, host.findOperator);
    const same = machine.contracts.find(
      (one) =>
        one instanceof KeyedContract &&
        one.keyed.maxKeys === maxKeys &&
        JSON.stringify(one.plan.definition) === JSON.stringify(plan.definition),
    );
    const keyed = { maxKeys, idleCycles: IDLE_CYCLES, overflow: 'share', secret: undefined } as const;
    const { id } = same ?? host.createPlanned(machine.slug, plan, { templateId: definition.id, keyed });
    this.#contracts.set(path, id);
    void durability.commit();
    return id;
  }
}

function notDeployed(domain: string, why: string, fix: string): Failure {
  return new Failure('invalid_input', { what: `The limits of the domain "${domain}" were not deployed.`, why, fix });
}

/** The limit that a descriptor brings along. */
function overriding(
  domain: string,
  { requests_per_unit: requests, unit }: NonNullable<Descriptor['limit']>,
): DescriptorLimit {
  const known = unitOf(unit);
  assert(known !== undefined, 'a unit that is not known was refused');
  const path = `${domain}.override_${requests}_${known}`;
  return { path, name: undefined, replaces: [], isShadow: false, ...limitPerUnit(requests, known, path) };
}
