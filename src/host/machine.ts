// A machine alive: its contracts, in order of creation, the end of its record, and when its contracts wake.
import { Failure } from '../schema/failure.js';
import type { MachineImage } from '../store/store.js';
import { cycleOf } from '../time/cycle.js';
import type { Contract } from './contract.js';
import { type HostContext, nowOf } from './host-context.js';
import { Chain } from './ledger.js';
import { Queue } from './queue.js';
import { Wakes } from './wakes.js';

/** What all machines of a host share. */
export type SharedParts = Omit<HostContext, 'wakes' | 'changed' | 'busyMs'>;

export class Machine extends Chain {
  readonly image: MachineImage;
  /** In order of creation. */
  readonly contracts: Contract[] = [];
  /** What its contracts share. */
  readonly parts: HostContext;

  constructor(image: MachineImage, shared: SharedParts, head?: Chain['head'], end?: Chain['end']) {
    super(image.slug, head, end);
    this.image = image;
    this.parts = { ...shared, wakes: new Wakes(shared.clock), changed: new Queue(), busyMs: undefined };
  }

  /** When it was deleted, unix ms: its record is read, and nothing else; undefined while it is there. */
  get deletedMs(): number | undefined {
    return this.end?.kind === 'machine_deleted' ? Date.parse(this.end.at) : undefined;
  }

  /** The cycle in which whatever happens on the machine now happens. */
  get cycle(): number {
    return cycleOf(nowOf(this.parts), this.parts.clock.cycleMs);
  }
}

/** For a machine that is there already. */
export function slugTaken(slug: string): Failure {
  return new Failure('slug_taken', { what: `The machine "${slug}" exists already.`, fix: 'Choose another slug.' });
}
