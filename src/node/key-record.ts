// Records what was done to an owner's keys, on a private machine to which only the node writes. It is read and verified like any other.
//
//   weir-keys-5f2a…   1 machine_created   2 admin_action key_made by key_a: key_b   3 admin_action key_revoked by key_a: key_b
import { sha256Hex } from '../core/schema/canonical.js';
import type { NewMachine } from './host/host.js';

export function keyMachineOf(owner: string): NewMachine {
  return { slug: keySlugOf(owner), owner, displayName: 'What was done to your keys' };
}

export function keySlugOf(owner: string): string {
  return `weir-keys-${sha256Hex(owner).slice(0, 24)}`;
}
