// Which machines belong to an owner, and which a caller may see.
import { firstIndex } from '../core/math/first-index.js';
import { Failure } from '../core/schema/failure.js';
import type { Contract } from './host/contract.js';
import type { Host, HostChange } from './host/host.js';
import { isReserved, type Machine } from './host/machine.js';
import { allows, beyondMachine, type Caller, type Permission, refuseBeyondScope } from './permission.js';
import { isMinted } from './secret.js';
import type { Credentials } from './store/credential-store.js';
import type { Usage } from './usage.js';

const REVIEWED_AT_ONCE = 20;

const READING: Permission = { auth: 'public_or_owner', scope: 'read' };

export class Ownership {
  readonly #host: Host;
  readonly #byOwner = new Map<string, Machine[]>();
  readonly #slugs: string[];
  #unreviewed: Iterator<string> = [].values();
  readonly #usage: Pick<Usage, 'full'>;

  constructor(host: Host, usage: Pick<Usage, 'full'>) {
    this.#host = host;
    this.#usage = usage;
    this.#slugs = [...host.machines.keys()].sort();
    for (const machine of host.machines.values()) this.#own(machine);
    host.changes.subscribe((change) => this.#take(change));
  }

  #take({ kind, machine }: HostChange): void {
    const { slug, image } = machine;
    const place = firstIndex(this.#slugs.length, (index) => this.#slugs[index]! >= slug);
    if (kind === 'machine_added') {
      this.#slugs.splice(place, 0, slug);
      this.#own(machine);
    } else if (kind === 'machine_deleted') {
      const left = this.machinesOf(image.owner).filter((one) => one !== machine);
      if (left.length > 0) this.#byOwner.set(image.owner, left);
      else this.#byOwner.delete(image.owner);
    } else if (kind === 'machine_removed' && this.#slugs[place] === slug) this.#slugs.splice(place, 1);
  }

  /** Looks at some owners, in turn. @returns minted ones without a valid key: what they left can no longer be used */
  *orphans(credentials: Pick<Credentials, 'hasValidKey'>, nowMs: number): Generator<string> {
    for (let left = REVIEWED_AT_ONCE; left > 0; left -= 1) {
      const { value: owner } = this.#unreviewed.next();
      if (owner === undefined) {
        this.#unreviewed = [...this.#byOwner.keys()].values();
        return;
      }
      // Owners named by the operator have no key that could end.
      if (isMinted(owner) && !credentials.hasValidKey(owner, nowMs)) yield owner;
    }
  }

  /** The node's own machines count for no owner. */
  #own(machine: Machine): void {
    if (isReserved(machine.slug) || machine.deletedMs !== undefined) return;
    const owned = this.#byOwner.get(machine.image.owner);
    if (owned === undefined) this.#byOwner.set(machine.image.owner, [machine]);
    else owned.push(machine);
  }

  machinesOf(owner: string): readonly Machine[] {
    return this.#byOwner.get(owner) ?? [];
  }

  /** @throws Failure `store_failed`, `not_owner`, `scope_missing`, `machine_not_found`, `limit_reached` */
  owned(slug: string, caller: Caller): Machine {
    const machine = this.toDelete(slug, caller);
    const full = this.#usage.full(machine.image.owner);
    if (full !== undefined) throw recordsFull(full);
    return machine;
  }

  /** As `owned`, even if the records are full: deleting makes room. */
  toDelete(slug: string, caller: Caller): Machine {
    if (this.#host.failure !== undefined) throw this.#host.failure;
    refuseOtherMachine(slug, caller);
    const machine = this.#host.machines.get(slug);
    const isOwn = machine !== undefined && machine.image.owner === caller.owner;
    if (isOwn && machine.deletedMs !== undefined) throw deleted(machine);
    if (isOwn && !isReserved(slug)) return machine;
    if (machine === undefined || (!machine.image.isPublic && !isOwn)) throw notFound(slug);
    throw new Failure('not_owner', {
      what: `The machine "${slug}" was left as it is.`,
      why: isOwn
        ? 'The node keeps it for you, and only the node writes to it.'
        : 'It belongs to another owner, who lets others look at it and no more.',
      fix: 'Create a machine of your own, or use the key of its owner.',
    });
  }

  /** For callers that may see it, even after the store failed. @throws Failure `machine_not_found`, `scope_missing` */
  visible(slug: string, caller: Caller | undefined): Machine {
    const machine = this.#host.machines.get(slug);
    if (machine !== undefined && isVisible(machine, caller)) return machine;
    if (caller !== undefined) {
      refuseBeyondScope(caller, READING);
      refuseOtherMachine(slug, caller);
    }
    throw notFound(slug);
  }

  /** Scans `most` slugs behind `after`. @returns the visible ones, and where to continue; undefined at the end */
  scan(caller: Caller | undefined, after: string, most: number): { seen: Machine[]; last: string | undefined } {
    const slugs = this.#slugs;
    const first = firstIndex(slugs.length, (index) => slugs[index]! > after);
    const behind = Math.min(slugs.length, first + most);
    const machines = slugs.slice(first, behind).map((slug) => this.#host.machines.get(slug)!);
    const last = behind === slugs.length ? undefined : slugs[behind - 1];
    return { seen: machines.filter((machine) => isVisible(machine, caller)), last };
  }
}

export function contractOf(host: Host, machine: Machine, id: string): Contract {
  const contract = host.contracts.get(id) ?? machine.named.get(id);
  if (contract !== undefined && contract.machine === machine) return contract;
  const ofDefinition = machine.contracts.find(({ plan }) => plan.definition.name === id)?.id;
  throw new Failure('contract_not_found', {
    what: `The machine "${machine.slug}" has no contract "${id}".`,
    why: ofDefinition && `That is the name of the definition of the contract ${ofDefinition}, whose path has its id.`,
    fix: `GET /api/chain/${machine.slug}/contracts lists those it has.`,
  });
}

function isVisible({ image, slug }: Machine, caller: Caller | undefined): boolean {
  return image.isPublic || (image.owner === caller?.owner && opens(caller, slug) && allows(caller, READING));
}

function opens({ key }: Caller, slug: string): boolean {
  return key.machine === undefined || key.machine === slug;
}

/** The same for every other slug, so that nothing is revealed. @throws Failure `scope_missing` */
function refuseOtherMachine(slug: string, caller: Caller): void {
  if (!opens(caller, slug)) throw beyondMachine(caller.key.machine ?? '');
}

export function deleted({ slug, end }: Machine): Failure {
  return new Failure('machine_deleted', {
    what: `The machine "${slug}" was deleted.`,
    why: `That was at ${end?.at}; its record can be read for some time.`,
    fix: 'Create another machine.',
  });
}

function recordsFull(full: string): Failure {
  return new Failure('limit_reached', {
    what: 'Nothing was counted or changed.',
    why: `The records of this owner have as many ${full} as they may have, or as the node has room for.`,
    fix: 'GET /api/limits lists how many; records can be read, and another owner or node can go on.',
  });
}

function notFound(slug: string): Failure {
  return new Failure('machine_not_found', {
    what: `There is no machine "${slug}", or it is private and not yours.`,
    fix: 'Check the slug, and send the key of its owner where it is private.',
  });
}
