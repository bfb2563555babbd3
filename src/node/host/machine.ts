// A live machine: its contracts in order of creation, the end of its record, and the wake-ups of its contracts.
import { Failure } from '../../core/schema/failure.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { MachineImage } from '../store/store.js';
import type { Contract } from './contract.js';
import { type HostContext, nowOf } from './host-context.js';
import { Chain } from './ledger.js';

export class Machine extends Chain {
  readonly image: MachineImage;
  readonly contracts: Contract[] = [];
  readonly named = new Map<string, Contract>();
  readonly context: HostContext;

  constructor(image: MachineImage, context: HostContext, head?: Chain['head'], end?: Chain['end']) {
    super(image.slug, head, end);
    this.image = image;
    this.context = context;
  }

  /** Unix ms of deletion; after that only the record can be read. */
  get deletedMs(): number | undefined {
    return this.end?.kind === 'machine_deleted' ? Date.parse(this.end.at) : undefined;
  }

  rename(contract: Contract, former?: string, isGone = false): void {
    const { name } = contract.image;
    if (former !== undefined) this.named.delete(former);
    if (name !== undefined && !isGone) this.named.set(name, contract);
  }

  refuseName(name: string | undefined): void {
    if (name !== undefined && this.named.has(name)) throw nameTaken(this.slug, name);
  }

  get cycle(): number {
    return cycleOf(nowOf(this.context), this.context.clock.cycleMs);
  }
}

export function nameTaken(slug: string, name: string): Failure {
  return new Failure('name_taken', {
    what: `No contract can be called "${name}".`,
    why: `Another contract of the machine "${slug}" is called that.`,
    fix: 'Choose another name.',
  });
}

export function slugTaken(slug: string): Failure {
  return new Failure('slug_taken', { what: `The machine "${slug}" exists already.`, fix: 'Choose another slug.' });
}

/** Slugs that would hide routes below /api/chain, or that are the node's own. */
export function isReserved(slug: string): boolean {
  return slug === 'active' || slug === 'state-machines' || slug.startsWith('weir-');
}
