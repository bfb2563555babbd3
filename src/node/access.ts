// Authentication: which key or session a request carries, and whether it is valid. Ownership: see ownership.ts.
//
//   Authorization: Bearer weir_…   ──► hash ──► key ─────────► caller        looked up once, then cached by the key
//   Cookie: weir_session=…         ──► hash ──► session, key ─► caller        accepted only from pages of this node
import { fastifyCookie } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../core/schema/failure.js';
import { type Auth, type Caller, type Permission, refuseBeyondScope } from './permission.js';
import { RecentlyUsed } from './recently-used.js';
import { hashOfSecret, isSession } from './secret.js';
import type { Credentials, Key, Scope } from './store/credential-store.js';

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

  holdsAt({ key, session, expiresAtMs }: Caller, nowMs: number): boolean {
    const isStill = ({ hash }: Key) => holds(this.#credentials.keyByHash(hash), nowMs);
    return nowMs < expiresAtMs && isStill(key) && (session === undefined || isStill(session));
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
    if (!holds(key, nowMs) || isSession(key.id)) return undefined;
    const caller = { owner: key.owner, key, expiresAtMs: key.expiresAtMs };
    // A copy: a part of a header would keep all of it, however long.
    this.#callers.set(Buffer.from(token).toString(), caller);
    return caller;
  }

  #bySession(request: FastifyRequest, changes: boolean): Caller | undefined {
    const token = sessionTokenOf(request);
    if (token === undefined) return undefined;
    const session = this.#credentials.keyByHash(hashOfSecret(token));
    const key = session && isSession(session.id) ? this.#credentials.keyById(session.owner) : undefined;
    if (!holds(session, request.nowMs) || !holds(key, request.nowMs)) throw invalid('session');
    if (changes) refuseOtherSites(request);
    return { owner: key.owner, key, session, expiresAtMs: Math.min(session.expiresAtMs, key.expiresAtMs) };
  }
}

function holds(key: Key | undefined, nowMs: number): key is Key {
  return key !== undefined && !key.isRevoked && nowMs < key.expiresAtMs;
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

// The session cookie. Over HTTPS its prefix binds it to this host and to `Secure`; over plain HTTP browsers do not accept that name.
const NAME = 'weir_session';

function nameFor({ protocol }: FastifyRequest): string {
  return protocol === 'https' ? `__Host-${NAME}` : NAME;
}

function sessionTokenOf(request: FastifyRequest): string | undefined {
  const { cookie } = request.raw.headers;
  return cookie === undefined ? undefined : fastifyCookie.parse(cookie)[nameFor(request)];
}

/** @param maxAge seconds; 0 clears it */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  value: string,
  maxAge: number,
): FastifyReply {
  const cookie = fastifyCookie.serialize(nameFor(request), value, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: request.protocol === 'https',
    maxAge,
  });
  return reply.header('set-cookie', cookie);
}
