// Owns one machine alive: its contracts, and the chain on which they are recorded.
import type { MachineImage } from '../store/store.js';
import { Chain, type ChainHead } from './chain.js';
import type { Contract } from './contract.js';

export class Machine extends Chain {
  /** In order of creation. */
  readonly contracts: Contract[] = [];

  constructor(
    readonly image: MachineImage,
    head?: ChainHead,
  ) {
    super(image.slug, head);
  }
}
