// Owns who is asking, and whether they may: keys, sessions, other sites. Leaves whose machine it is to ownership.ts.
//
//   Authorization: Bearer weir_…   ──► hash ──► key ─────────► caller        looked up once, then remembered for a while
//   Cookie: weir_session=…         ──► hash ──► session, key ─► caller        and only from pages of this node
import type { FastifyRequest } from 'fastify';
import { Failure, unreachable } from '../schema/failure.js';
import type { Credentials, Key } from '../store/credentials.js';
import { Recent } from './recent.js';
import { hashOfSecret } from './secret.js';

export const SESSION_COOKIE = 'weir_session';

/** Whom a route is for. */
export type Auth =
  /** Anyone; credentials are not looked at. */
  | 'public'
  /** Anyone where the machine is public, its owner alone where it is private. */
  | 'public_or_owner'
  | 'key'
  | 'session'
  | 'key_or_session'
  /** A key; a session that comes along has to be good, too, and of the same owner. */
  | 'key_and_session';

/** Who is asking, by a credential that holds until `expiresAtMs`. */
export interface Caller {
  readonly owner: string;
  readonly key: Key;
  /** There when the caller came with a session: what it is kept under. */
  readonly sessionHash?: string;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body is read; undefined for anyone. */
    caller: Caller | undefined;
  }
}

/** Callers that are remembered by the very header they sent, so that a request costs a look-up and no hash. */
const REMEMBERED = 4_096;

export class Access {
  readonly #credentials: Credentials;
  readonly #byHeader = new Recent<Caller>(REMEMBERED);

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /**
   * Who is asking; undefined for somebody without a credential where the route lets them in.
   * @param changes whether the route changes something
   * @throws Failure `credential_missing`, `credential_invalid`, `cross_site_refused`, `not_owner` (a session of another owner)
   */
  callerOf(request: FastifyRequest, auth: Auth, changes: boolean, nowMs: number): Caller | undefined {
    const { authorization, cookie } = request.raw.headers;
    switch (auth) {
      case 'public':
        return undefined;
      case 'public_or_owner':
        return this.#byKey(authorization, nowMs) ?? this.#bySession(request, cookie, changes, nowMs);
      case 'key_or_session':
        return needed(this.#byKey(authorization, nowMs) ?? this.#bySession(request, cookie, changes, nowMs), auth);
      case 'session':
        return needed(this.#bySession(request, cookie, changes, nowMs), auth);
      case 'key':
        return needed(this.#byKey(authorization, nowMs), auth);
      case 'key_and_session': {
        const caller = needed(this.#byKey(authorization, nowMs), auth);
        const session = this.#bySession(request, cookie, changes, nowMs);
        if (session !== undefined && session.owner !== caller.owner) throw ofAnotherOwner();
        return caller;
      }
      default:
        return unreachable(auth);
    }
  }

  /** Whether somebody who came in earlier could still come in. */
  holdsAt({ key, sessionHash, expiresAtMs }: Caller, nowMs: number): boolean {
    if (nowMs >= expiresAtMs) return false;
    if (sessionHash !== undefined) return this.#session(sessionHash) !== undefined;
    return this.#credentials.keyByHash(key.hash)?.isRevoked === false;
  }

  /** Ends a session: whoever comes with its cookie from now on is nobody. */
  end(sessionHash: string): void {
    this.#credentials.deleteSession(sessionHash);
    this.#byHeader.delete(sessionHash);
  }

  #byKey(header: string | undefined, nowMs: number): Caller | undefined {
    if (header === undefined) return undefined;
    const known = this.#byHeader.get(header);
    if (known !== undefined && nowMs < known.expiresAtMs) return known;
    const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
    const key = token === undefined ? undefined : this.#credentials.keyByHash(hashOfSecret(token));
    if (key === undefined || key.isRevoked || nowMs >= key.expiresAtMs) throw invalid('key');
    const caller = { owner: key.owner, key, expiresAtMs: key.expiresAtMs };
    this.#byHeader.set(header, caller);
    return caller;
  }

  #bySession(request: FastifyRequest, header: string | undefined, changes: boolean, nowMs: number): Caller | undefined {
    const token = header === undefined ? undefined : request.server.parseCookie(header)[SESSION_COOKIE];
    if (token === undefined) return undefined;
    const sessionHash = hashOfSecret(token);
    const caller = this.#byHeader.get(sessionHash) ?? this.#session(sessionHash);
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
    this.#byHeader.set(sessionHash, caller);
    return caller;
  }
}

/**
 * A browser sends the cookie along whoever made it send the request; a page of another site must change nothing in its owner's
 * name. SameSite=Lax stops most of it, but not a link to GET …/gate and not another port of the same host.
 * @throws Failure `cross_site_refused`
 */
function refuseOtherSites(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.raw.headers;
  const isOurs = origin === undefined || origin === `${request.protocol}://${request.host}`;
  if (isOurs && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new Failure('cross_site_refused', {
    what: 'The request was refused.',
    why: 'It carries a session cookie and was made by a page of another site.',
    fix: 'Programs send their key as `Authorization: Bearer <key>` instead.',
  });
}

function needed(caller: Caller | undefined, auth: Auth): Caller {
  if (caller !== undefined) return caller;
  const ways = {
    key: 'Send a key as `Authorization: Bearer <key>`; POST /api/demo-key/mint mints one.',
    session: `Send the cookie ${SESSION_COOKIE}, which POST /api/session sets.`,
  };
  throw new Failure('credential_missing', {
    what: 'Nothing says who is asking.',
    fix: auth === 'session' ? ways.session : ways.key,
  });
}

function invalid(what: 'key' | 'session'): Failure {
  return new Failure('credential_invalid', {
    what: `The ${what} is not valid.`,
    why: 'It is not one of this node, or it has expired or was ended.',
    fix: what === 'key' ? 'POST /api/demo-key/mint mints another.' : 'POST /api/session opens another.',
  });
}

function ofAnotherOwner(): Failure {
  return new Failure('not_owner', {
    what: 'The request was refused.',
    why: 'Its session belongs to another owner than its key.',
    fix: 'Send the key alone, or end the session first.',
  });
}
