// Finds minted owners without a valid key: what they left can no longer be used. Owners named by the operator have no key that could end.
import type { Credentials } from '../store/credential-store.js';
import type { Ownership } from './ownership.js';
import { isMinted } from './secret.js';

const AT_ONCE = 20;

export class Orphans {
  readonly #ownership: Ownership;
  readonly #credentials: Pick<Credentials, 'hasValidKey'>;
  #owners: Iterator<string> = [].values();

  constructor(ownership: Ownership, credentials: Pick<Credentials, 'hasValidKey'>) {
    this.#ownership = ownership;
    this.#credentials = credentials;
  }

  *found(nowMs: number): Generator<string> {
    for (let left = AT_ONCE; left > 0; left -= 1) {
      const { value: owner } = this.#owners.next();
      if (owner === undefined) {
        this.#owners = [...this.#ownership.owners()].values();
        return;
      }
      if (this.isOrphan(owner, nowMs)) yield owner;
    }
  }

  isOrphan(owner: string, nowMs: number): boolean {
    return isMinted(owner) && !this.#credentials.hasValidKey(owner, nowMs);
  }
}
