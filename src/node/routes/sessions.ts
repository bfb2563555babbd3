// Routes of sessions: a cookie in exchange for a key, with its scopes and at most its lifetime.
import * as api from '../../api/keys.js';
import { assert } from '../../schema/failure.js';
import { route } from '../route.js';
import { newSession } from '../secret.js';
import { setSessionCookie } from '../session-cookie.js';

export const openSession = route({
  ...api.openSession,
  auth: 'key',
  scope: 'any',
  tier: 'account',
  domain: 'keys and sessions',
  summary:
    'Exchanges a key for a session: sets the cookie weir_session, by HTTPS __Host-weir_session. It may do what its key may.',
  errors: ['too_many_requests'],
  example: { status: 201 },
  async handle({ clock, registry, limits, rates, memory }, request, reply) {
    const { caller } = request;
    memory.refuse('No session was opened.');
    assert(caller !== undefined, 'a session is opened with a key');
    const asked = { owner: caller.owner, ip: request.ip, units: 1, what: 'A further session' };
    rates.sessions.take(asked, (name, value) => reply.header(name, value));
    const nowMs = Math.floor(clock.now());
    const expiresAtMs = Math.min(nowMs + limits.sessionLifetimeMs, caller.key.expiresAtMs);
    const { text, hash } = newSession();
    await registry.openSession({ hash, keyId: caller.key.id, expiresAtMs });
    setSessionCookie(request, reply.code(201), text, Math.floor((expiresAtMs - nowMs) / 1000));
    return { ok: true, owner: caller.owner, expires_at: new Date(expiresAtMs).toISOString() };
  },
});

export const endSession = route({
  ...api.endSession,
  auth: 'session',
  scope: 'any',
  tier: 'account',
  domain: 'keys and sessions',
  summary: 'Ends the session whose cookie is sent.',
  example: { status: 204 },
  async handle({ registry }, request, reply) {
    const hash = request.caller?.sessionHash;
    assert(hash !== undefined, 'a session is ended by its cookie');
    await registry.endSession(hash);
    return setSessionCookie(request, reply.code(204), '', 0).send();
  },
});
