// A machine alive: its contracts, in order of creation, the end of its record, and when its contracts wake.
import type { MachineImage } from '../store/store.js';
import type { Contract, HostParts } from './contract.js';
import { Chain } from './ledger.js';
import { Wakes } from './wakes.js';

/** What all machines of a host share. */
export type SharedParts = Omit<HostParts, 'wakes' | 'changed'>;

export class Machine extends Chain {
  readonly image: MachineImage;
  /** In order of creation. */
  readonly contracts: Contract[] = [];
  /** What its contracts share. */
  readonly parts: HostParts;
  /** The cycle in which its time stands still, since it counts an event in turns; undefined while it does not. */
  busyCycle: number | undefined;

  constructor(image: MachineImage, shared: SharedParts, head?: Chain['head'], end?: Chain['end']) {
    super(image.slug, head, end);
    this.image = image;
    this.parts = { ...shared, wakes: new Wakes(shared.clock), changed: [] };
  }

  /** The cycle in which whatever happens on the machine now happens. */
  get cycle(): number {
    return this.busyCycle ?? this.parts.clock.cycle();
  }
}
