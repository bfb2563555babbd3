// Routes of keys and sessions: a free key for anyone, within the limit of their address; a session cookie for a key.
import type { Shapes } from '../../api/endpoint.js';
import * as api from '../../api/node.js';
import { assert, Failure } from '../../schema/failure.js';
import { secondsUntil } from '../../time/cycle.js';
import { newKey, newName, newSession, SESSION_COOKIE } from '../access.js';
import type { Parts } from '../parts.js';
import { type Asked, route } from '../route.js';

export const mintKey = route({
  ...api.mintKey,
  auth: 'public',
  tier: 'account',
  domain: 'keys and sessions',
  summary: 'Mints a free key. So many an address: a rate-limiter contract of the node decides.',
  errors: ['too_many_requests'],
  example: { status: 201 },
  async handle(parts, request, reply) {
    const { mintLimit, clock, credentials, durability, limits } = parts;
    const nowMs = clock.now();
    const cycle = clock.cycle();
    const after = mintLimit.retryAfterCycles(request.ip ?? '', cycle);
    if (after > 0) {
      await durability.ofRows(mintLimit.machine);
      reply.header('retry-after', secondsUntil(cycle + after, nowMs, clock.cycleMs));
      throw tooMany(limits.mint);
    }
    const secret = newKey();
    const expiresAtMs = Math.floor(nowMs) + limits.keyLifetimeMs;
    const key = { id: newName('key'), owner: newName('owner') };
    credentials.putKey({ ...key, hash: secret.hash, createdAtMs: Math.floor(nowMs), expiresAtMs, isRevoked: false });
    await durability.commit();
    reply.code(201);
    const expires_at = new Date(expiresAtMs).toISOString();
    return { ok: true, key: secret.text, key_id: key.id, owner: key.owner, expires_at };
  },
});

function tooMany({ threshold, within }: Parts['limits']['mint']): Failure {
  return new Failure('too_many_requests', {
    what: 'No key was minted.',
    why: `An address mints ${threshold} keys within ${within} cycles, and refused requests count.`,
    fix: 'Wait as long as Retry-After says; a key can be used for many machines.',
  });
}

export const openSession = route({
  ...api.openSession,
  auth: 'key',
  tier: 'account',
  domain: 'keys and sessions',
  summary: `Exchanges a key for a session: sets the cookie ${SESSION_COOKIE}.`,
  example: { status: 201 },
  async handle({ clock, credentials, durability, limits }, request, reply) {
    const { caller } = request;
    assert(caller !== undefined, 'a session is opened with a key');
    const nowMs = Math.floor(clock.now());
    const expiresAtMs = Math.min(nowMs + limits.sessionLifetimeMs, caller.key.expiresAtMs);
    const { text, hash } = newSession();
    credentials.putSession({ hash, keyId: caller.key.id, expiresAtMs });
    await durability.commit();
    reply.code(201).header('set-cookie', cookie(request, text, Math.floor((expiresAtMs - nowMs) / 1000)));
    return { ok: true, owner: caller.owner, expires_at: new Date(expiresAtMs).toISOString() };
  },
});

export const endSession = route({
  ...api.endSession,
  auth: 'session',
  tier: 'account',
  domain: 'keys and sessions',
  summary: 'Ends the session whose cookie is sent.',
  example: { status: 204 },
  async handle({ access, durability }, request, reply) {
    const hash = request.caller?.sessionHash;
    assert(hash !== undefined, 'a session is ended by its cookie');
    access.end(hash);
    await durability.commit();
    return reply
      .code(204)
      .header('set-cookie', cookie(request, '', 0))
      .send();
  },
});

function cookie(request: Asked<Shapes>, value: string, maxAge: number): string {
  const secure = request.protocol === 'https';
  return request.server.serializeCookie(SESSION_COOKIE, value, {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    maxAge,
  });
}
