// Who may use a route, and what a caller may do.
import { Failure } from '../core/schema/failure.js';
import type { Key, Scope } from './store/credential-store.js';

export type Auth =
  /** Anyone; credentials are ignored. */
  | 'public'
  /** Anyone for public machines, the owner for private ones. */
  | 'public_or_owner'
  | 'key'
  | 'session'
  | 'key_or_session'
  /** A key; a session sent along must be valid, too, and of the same owner. */
  | 'key_and_session';

/** `scope`: what a credential must allow. `ofOwner`: about the owner as a whole, so a key of one machine is not enough. */
export type Permission =
  | { readonly auth: 'public'; readonly scope?: undefined; readonly ofOwner?: undefined }
  | { readonly auth: Exclude<Auth, 'public'>; readonly scope: RouteScope; readonly ofOwner?: boolean };

type RouteScope = Scope | 'any';

export interface Caller {
  readonly owner: string;
  readonly key: Key;
  readonly session?: Key;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

export function allows({ key }: Caller, { scope = 'any' }: Permission): boolean {
  return scope === 'any' || key.scopes.includes(scope) || key.scopes.includes('admin');
}

/** @throws Failure `scope_missing` */
export function refuseBeyondScope(caller: Caller, needed: Permission): void {
  const { key } = caller;
  const { scope, ofOwner = false } = needed;
  if (ofOwner && key.machine !== undefined) throw beyondMachine(key.machine);
  if (allows(caller, needed)) return;
  throw new Failure('scope_missing', {
    what: 'The request was refused.',
    why: `It needs a key with the scope "${scope}", and this key has ${key.scopes.map((one) => `"${one}"`).join(', ')}.`,
    fix: 'A key with the scope "admin" makes others: POST /api/keys.',
  });
}

export function beyondMachine(machine: string): Failure {
  return new Failure('scope_missing', {
    what: 'The request was refused.',
    why: `The key opens the machine "${machine}" and nothing else.`,
    fix: 'Send a key that opens every machine of its owner.',
  });
}
