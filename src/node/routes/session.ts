// Owns sessions: a key exchanged for a cookie, and the end of it. Leaves checking them to access.ts.
import { assert } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { SESSION_COOKIE } from '../access.js';
import { type Asked, route, type Shapes } from '../route.js';
import { newSession } from '../secret.js';
import { Ok } from '../shapes.js';

const Answer = Type.Object({
  ok: Ok,
  owner: Type.String(),
  expires_at: Type.String({ description: 'ISO 8601; not after the key itself.' }),
});

export const openSession = route({
  method: 'POST',
  path: '/api/session',
  auth: 'key',
  tier: 'account',
  domain: 'keys and sessions',
  summary: `Exchanges a key for a session: sets the cookie ${SESSION_COOKIE}.`,
  answers: { 201: { description: 'The cookie is set.', schema: Answer } },
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
  method: 'DELETE',
  path: '/api/session',
  auth: 'session',
  tier: 'account',
  domain: 'keys and sessions',
  summary: 'Ends the session whose cookie is sent.',
  answers: { 204: { description: 'The session is over.' } },
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
