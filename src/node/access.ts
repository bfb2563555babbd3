// Authentication: which key or session a request carries, and whether it is still valid. Whose machine it is: see ownership.ts.
//
//   Authorization: Bearer weir_…   ──► hash ──► key ─────────► caller        looked up once, then cached by the header
//   Cookie: weir_session=…         ──► hash ──► session, key ─► caller        accepted only from pages of this node
import type { FastifyRequest } from 'fastify';
import { Failure } from '../schema/failure.js';
import type { Credentials, Scope } from '../store/credential-store.js';
import { type Auth, type Caller, type Permission, refuseBeyondScope } from './permission.js';
import { RecentlyUsed } from './recently-used.js';
import { hashOfSecret } from './secret.js';
import { sessionTokenOf } from './session-cookie.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read; undefined for anyone. */
    caller: Caller | undefined;
  }
}

/** A key as it is sent: `Bearer <key>`, the password of `Basic <user:password>`, or bare. */
const SENT_KEY = /^(?:(bearer|basic) +)?(\S+)$/i;

/**
 * Characters of a header that is remembered: `Bearer` and a key have 55, and a user with a long name and a key, in base64, some 200. One key
 * can be written with any number of blanks, and each way of writing it would be another entry.
 */
const LONGEST_REMEMBERED = 256;

const REMEMBERED = 4_096;

export class Access {
  readonly #credentials: Credentials;
  readonly #byHeader = new RecentlyUsed<Caller>(REMEMBERED);
  /** Apart again: here a key may be written in other ways. */
  readonly #byGatewayHeader = new RecentlyUsed<Caller>(REMEMBERED);
  /** Apart from the headers: the hash of a session is no credential. */
  readonly #bySessionHash = new RecentlyUsed<Caller>(REMEMBERED);

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /**
   * Who is asking; undefined for somebody without a credential where the route lets them in.
   * @param changes whether the route changes something
   * @throws Failure `credential_missing`, `credential_invalid`, `cross_site_refused`, `not_owner` (a session of another owner),
   * `scope_missing`
   */
  callerOf(request: FastifyRequest, needed: Permission, changes: boolean, nowMs: number): Caller | undefined {
    const caller = this.#callerBy(request, needed.auth, changes, nowMs);
    if (caller !== undefined) refuseBeyondScope(caller, needed);
    return caller;
  }

  /**
   * Who is asking by a key in a header of a gateway: `Bearer <key>`, the password of `Basic`, or the key alone.
   * @returns undefined where it holds no valid key
   */
  gatewayOf(header: string | undefined, nowMs: number): Caller | undefined {
    if (header === undefined) return undefined;
    const known = this.#byGatewayHeader.get(header);
    if (known !== undefined && nowMs < known.expiresAtMs) return known;
    const [, scheme, text = ''] = SENT_KEY.exec(header) ?? [];
    const token =
      scheme?.toLowerCase() === 'basic'
        ? Buffer.from(text, 'base64')
            .toString()
            .replace(/^[^:]*:/, '')
        : text;
    const caller = this.#callerWith(token, nowMs);
    if (caller !== undefined && header.length <= LONGEST_REMEMBERED) this.#byGatewayHeader.set(header, caller);
    return caller;
  }

  #callerBy(request: FastifyRequest, auth: Auth, changes: boolean, nowMs: number): Caller | undefined {
    if (auth === 'public') {
      // What anyone may do by themselves, a page of another site must not make their browser do: their address is limited for it.
      if (changes) refuseOtherSites(request);
      return undefined;
    }
    const caller = auth === 'session' ? undefined : this.#byKey(request.raw.headers.authorization, nowMs);
    if (auth === 'key' || auth === 'key_and_session') needed(caller, auth);
    if (auth === 'key' || (caller !== undefined && auth !== 'key_and_session')) return caller;
    const session = this.#bySession(request, changes, nowMs);
    if (caller !== undefined && session !== undefined && session.owner !== caller.owner) throw ofAnotherOwner();
    return auth === 'public_or_owner' ? session : needed(caller ?? session, auth);
  }

  /**
   * Who is asking by a key alone, where no request of HTTP carries it.
   * @param header as of `Authorization`
   * @throws Failure `credential_missing`, `credential_invalid`, `scope_missing`
   */
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

  /** For a request that takes its time. @throws Failure `credential_invalid` once its key or session has ended */
  refuseEnded(caller: Caller | undefined, nowMs: number): void {
    if (caller !== undefined && !this.holdsAt(caller, nowMs)) throw invalid('key');
  }

  /** A key was revoked, or expires sooner: those who were let in by it are asked again. */
  forget(keyId: string): void {
    for (const callers of [this.#byHeader, this.#byGatewayHeader, this.#bySessionHash])
      callers.drop(({ key }) => key.id === keyId);
  }

  forgetSession(hash: string): void {
    this.#bySessionHash.delete(hash);
  }

  #byKey(header: string | undefined, nowMs: number): Caller | undefined {
    if (header === undefined) return undefined;
    const known = this.#byHeader.get(header);
    if (known !== undefined && nowMs < known.expiresAtMs) return known;
    const [, token = ''] = /^Bearer +(\S+)$/i.exec(header) ?? [];
    const caller = this.#callerWith(token, nowMs);
    if (caller === undefined) throw invalid('key');
    if (header.length <= LONGEST_REMEMBERED) this.#byHeader.set(header, caller);
    return caller;
  }

  #callerWith(token: string, nowMs: number): Caller | undefined {
    const key = token === '' ? undefined : this.#credentials.keyByHash(hashOfSecret(token));
    if (key === undefined || key.isRevoked || nowMs >= key.expiresAtMs) return undefined;
    return { owner: key.owner, key, expiresAtMs: key.expiresAtMs };
  }

  #bySession(request: FastifyRequest, changes: boolean, nowMs: number): Caller | undefined {
    const token = sessionTokenOf(request);
    if (token === undefined) return undefined;
    const sessionHash = hashOfSecret(token);
    const caller = this.#bySessionHash.get(sessionHash) ?? this.#session(sessionHash);
    if (caller === undefined || nowMs >= caller.expiresAtMs) throw invalid('session');
    if (changes) refuseOtherSites(request);
    return caller;
  }

  #session(sessionHash: string): Caller | undefined {
    const found = this.#credentials.sessionByHash(sessionHash);
    if (found === undefined || found.key.isRevoked) return undefined;
    const { session, key } = found;
    const expiresAtMs = Math.min(session.expiresAtMs, key.expiresAtMs);
    const caller = { owner: key.owner, key, sessionHash, expiresAtMs };
    this.#bySessionHash.set(sessionHash, caller);
    return caller;
  }
}

/**
 * A browser sends the cookie with requests of any site; a page of another site must change nothing in its owner's
 * name. SameSite=Lax stops most of it, but not a link to GET …/gate and not another port of the same host.
 * @throws Failure `cross_site_refused`
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
    what: 'Nothing says who is asking.',
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
