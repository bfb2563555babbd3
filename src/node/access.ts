// Authentication: which key or session a request carries, and whether it is valid. Ownership: see ownership.ts.
//
//   Authorization: Bearer weir_…   ──► hash ──► key ─────────► caller        looked up once, then cached by the key
//   Cookie: weir_session=…         ──► hash ──► session, key ─► caller        accepted only from pages of this node
import type { FastifyRequest } from 'fastify';
import { Failure } from '../core/schema/failure.js';
import { type Auth, type Caller, type Permission, refuseBeyondScope } from './permission.js';
import { RecentlyUsed } from './recently-used.js';
import { hashOfSecret } from './secret.js';
import { sessionTokenOf } from './session-cookie.js';
import type { Credentials, Scope } from './store/credential-store.js';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/** A key as it is sent: `Bearer <key>`, the password of `Basic <user:password>`, or bare. */
const SENT_KEY = /^(?:(bearer|basic) +)?(\S+)$/i;

const REMEMBERED = 4_096;

export class Access {
  readonly #credentials: Credentials;
  readonly #callers = new RecentlyUsed<Caller>(REMEMBERED);

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /**
   * @returns undefined without a credential, if the route allows that
   * @throws Failure `credential_missing`, `credential_invalid`, `cross_site_refused`, `scope_missing`,
   * `not_owner` (a session of another owner)
   */
  callerOf(request: FastifyRequest, needed: Permission, changes: boolean): Caller | undefined {
    const caller = this.#callerBy(request, needed.auth, changes);
    // What is public is shown to any valid key: the rest is up to `Ownership`.
    if (caller !== undefined && needed.auth !== 'public_or_owner') refuseBeyondScope(caller, needed);
    return caller;
  }

  /** The caller by a gateway's header: `Bearer <key>`, the password of `Basic`, or the key. Undefined if invalid. */
  gatewayOf(header: string | undefined, nowMs: number): Caller | undefined {
    return header === undefined ? undefined : this.#found(gatewayKeyIn(header), nowMs);
  }

  #callerBy(request: FastifyRequest, auth: Auth, changes: boolean): Caller | undefined {
    if (auth === 'public') {
      // A page of another site must not use up the limit of a visitor's address.
      if (changes) refuseOtherSites(request);
      return undefined;
    }
    const caller = auth === 'session' ? undefined : this.#byKey(request.raw.headers.authorization, request.nowMs);
    if (auth === 'key' || auth === 'key_and_session') needed(caller, auth);
    if (auth === 'key' || (caller !== undefined && auth !== 'key_and_session')) return caller;
    const session = this.#bySession(request, changes);
    if (caller !== undefined && session !== undefined && session.owner !== caller.owner) throw ofAnotherOwner();
    return auth === 'public_or_owner' ? session : needed(caller ?? session, auth);
  }

  /** @param header as `Authorization` @throws Failure `credential_missing`, `credential_invalid`, `scope_missing` */
  callerByKey(header: string | undefined, scope: Scope, nowMs: number): Caller {
    const caller = needed(this.#byKey(header, nowMs), 'key');
    refuseBeyondScope(caller, { auth: 'key', scope });
    return caller;
  }

  holdsAt({ key, sessionHash, expiresAtMs }: Caller, nowMs: number): boolean {
    if (nowMs >= expiresAtMs) return false;
    if (sessionHash !== undefined) return nowMs < (this.#session(sessionHash)?.expiresAtMs ?? 0);
    const stored = this.#credentials.keyByHash(key.hash);
    return stored !== undefined && !stored.isRevoked && nowMs < stored.expiresAtMs;
  }

  dropKey(keyId: string): void {
    this.#callers.drop(({ key }) => key.id === keyId);
  }

  #byKey(header: string | undefined, nowMs: number): Caller | undefined {
    if (header === undefined) return undefined;
    const caller = this.#found(bearerKeyIn(header), nowMs);
    if (caller === undefined) throw invalid('key');
    return caller;
  }

  #found(token: string, nowMs: number): Caller | undefined {
    const known = this.#callers.get(token);
    if (known !== undefined && nowMs < known.expiresAtMs) return known;
    const key = token === '' ? undefined : this.#credentials.keyByHash(hashOfSecret(token));
    if (key === undefined || key.isRevoked || nowMs >= key.expiresAtMs) return undefined;
    const caller = { owner: key.owner, key, expiresAtMs: key.expiresAtMs };
    // A copy: a part of a header would keep all of it, however long.
    this.#callers.set(Buffer.from(token).toString(), caller);
    return caller;
  }

  #bySession(request: FastifyRequest, changes: boolean): Caller | undefined {
    const token = sessionTokenOf(request);
    if (token === undefined) return undefined;
    const sessionHash = hashOfSecret(token);
    const caller = this.#session(sessionHash);
    if (caller === undefined || request.nowMs >= caller.expiresAtMs) throw invalid('session');
    if (changes) refuseOtherSites(request);
    return caller;
  }

  #session(sessionHash: string): Caller | undefined {
    const found = this.#credentials.sessionByHash(sessionHash);
    if (found === undefined || found.key.isRevoked) return undefined;
    const { session, key } = found;
    return { owner: key.owner, key, sessionHash, expiresAtMs: Math.min(session.expiresAtMs, key.expiresAtMs) };
  }
}

function bearerKeyIn(header: string): string {
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
}

function gatewayKeyIn(header: string): string {
  const [, scheme, text = ''] = SENT_KEY.exec(header) ?? [];
  if (scheme?.toLowerCase() !== 'basic') return text;
  return Buffer.from(text, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}

/**
 * A browser sends the cookie with requests of any site, and another site must change nothing with it. SameSite=Lax does
 * not stop a link to GET …/gate or another port of the same host. @throws Failure `cross_site_refused`
 */
function refuseOtherSites(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.raw.headers;
  const isOurs = origin === undefined || origin === `${request.protocol}://${request.host}`;
  if (isOurs && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new Failure('cross_site_refused', {
    what: 'The request was refused.',
    why: 'A page of another site made the browser send it.',
    fix: 'Programs send their key as `Authorization: Bearer <key>` instead.',
  });
}

function needed(caller: Caller | undefined, auth: Auth): Caller {
  if (caller !== undefined) return caller;
  const ways = {
    key: 'Send a key as `Authorization: Bearer <key>`; POST /api/demo-key/mint mints one.',
    session: 'Send the cookie that POST /api/session sets.',
  };
  throw new Failure('credential_missing', {
    what: 'The request was refused.',
    why: `It has no ${auth === 'session' ? 'session' : 'key'}, which says who is asking.`,
    fix: auth === 'session' ? ways.session : ways.key,
  });
}

function invalid(what: 'key' | 'session'): Failure {
  return new Failure('credential_invalid', {
    what: `The ${what} is not valid.`,
    why: 'It is unknown, expired or revoked.',
    fix:
      what === 'key' ? 'Get one with `weir node mint` (POST /api/demo-key/mint).' : 'Log in again: POST /api/session.',
  });
}

function ofAnotherOwner(): Failure {
  return new Failure('not_owner', {
    what: 'The request was refused.',
    why: 'Its session belongs to another owner than its key.',
    fix: 'Send the key alone, or end the session first.',
  });
}
