// Routes of keys: free keys, within the limit of an address; the keys of an owner: made, listed, rotated, revoked; sessions for keys.
//
//   make, rotate, revoke ─► credential and audit row in one commit ─► cached callers of the key are dropped, its streams end
import * as api from '../../api/keys.js';
import { assert, Failure } from '../../core/schema/failure.js';
import { setSessionCookie } from '../access.js';
import type { NodeContext } from '../node-context.js';
import type { Caller } from '../permission.js';
import { keySlugOf } from '../registry/registry.js';
import { addressNetworkOf } from '../request-source.js';
import { route } from '../route.js';
import { newKey, newName, newOwner, newSession } from '../secret.js';
import type { Key } from '../store/credential-store.js';

const DAY_MS = 86_400_000;

const forNewcomers = { auth: 'public', tier: 'account' } as const;

const mintKey = route(api.mintKey, forNewcomers, {
  summary:
    'Mints a free key, the first admin key of a new owner. A rate limiter of the node bounds how many an address gets.',
  errors: ['mint_off', 'too_many_requests'],
  async handle(context, request, reply) {
    const { bounds, clock, registry, limits, memory } = context;
    memory.refuse('No key was minted.');
    if (limits.mint.threshold === 0)
      throw new Failure('mint_off', {
        what: 'No key was minted.',
        why: 'This node mints no free keys.',
        fix: 'Ask its operator for a key; `weir serve --bound mint=10` mints up to 10 for an address.',
      });
    bounds.mint.take(request);
    const rights = { owner: newOwner(), scopes: ['admin'], machine: undefined } as const;
    const network = addressNetworkOf(request.ip ?? '');
    const { key, secret } = newKeyOf({ ...rights, network }, clock.now(), limits.keyLifetimeMs);
    await registry.changeKeys({ made: key });
    reply.code(201);
    return madeView(key, secret);
  },
});

const common = {
  auth: 'key',
  scope: 'admin',
  ofOwner: true,
  tier: 'account',
} as const;

const makeKey = route(api.makeKey, common, {
  summary:
    'Makes a key for what its scopes name, on every machine of the owner or on one. Leaves a row in the record of the owner.',
  errors: ['machine_not_found', 'not_owner', 'machine_deleted', 'limit_reached'],
  example: { body: { scopes: ['event', 'gate'], machine: 'edge-gateway', expires_in_days: 90 } },
  async handle(context, { body, caller }, reply) {
    const { scopes, machine, expires_in_days: days } = body;
    context.memory.refuse('No key was made.');
    if (machine !== undefined) context.ownership.owned(machine, caller);
    const lifetimeMs = days === undefined ? context.limits.keyLifetimeMs : days * DAY_MS;
    const { owner, key: by } = caller;
    const { key, secret } = newKeyOf({ owner, scopes, machine, network: by.network }, context.clock.now(), lifetimeMs);
    const note = { owner, by: by.id, action: 'key_made', key_id: key.id, ...rights(key) } as const;
    await context.registry.changeKeys({ made: key, note });
    reply.code(201);
    return madeView(key, secret);
  },
});

const listKeys = route(api.listKeys, common, {
  summary: 'Lists the keys of the owner, by id, without their secrets.',
  example: { query: { limit: '10' } },
  handle({ credentials, clock, host }, { query, caller }) {
    const { after = '', limit = 100 } = query;
    const found = credentials.keysOf(caller.owner, after, limit + 1);
    const page = found.slice(0, limit);
    const nowMs = clock.now();
    const keys = page
      .filter(({ expiresAtMs }) => nowMs < expiresAtMs)
      .map(({ id, scopes, machine, createdAtMs, expiresAtMs, isRevoked }) => ({
        key_id: id,
        scopes,
        machine,
        created_at: instant(createdAtMs),
        expires_at: instant(expiresAtMs),
        revoked: isRevoked,
        is_own: id === caller.key.id,
      }));
    const record = host.machines.get(keySlugOf(caller.owner))?.slug;
    return { ok: true, keys, next: found.length > limit ? page.at(-1)!.id : undefined, record };
  },
});

const rotateKey = route(api.rotateKey, common, {
  summary:
    'Rotates a key: makes a new one with the same owner, scopes and machine; both are valid during the overlap, and all if it is rotated again. Leaves a row.',
  errors: ['key_not_found', 'limit_reached'],
  example: { body: { overlap_seconds: 3_600 } },
  async handle(context, { params, body, caller }, reply) {
    context.memory.refuse('No key was made.');
    const before = keyOf(context, caller, params.key_id);
    const { overlap_seconds: overlap = 86_400, expires_in_days: days } = body;
    const { lifetimeMs: former = before.expiresAtMs - before.createdAtMs } = before;
    const lifetimeMs = days === undefined ? former : days * DAY_MS;
    const { key, secret } = newKeyOf(before, context.clock.now(), lifetimeMs);
    const endsAtMs = Math.min(before.expiresAtMs, key.createdAtMs + overlap * 1_000);
    // Without an overlap the old key stays listed, as revoked, until it would have expired.
    const changed = [
      overlap === 0 ? { ...before, isRevoked: true } : { ...before, expiresAtMs: endsAtMs, lifetimeMs: former },
    ];
    const done = { action: 'key_rotated', key_id: before.id, next_key_id: key.id, ...rights(key) } as const;
    const note = { owner: caller.owner, by: caller.key.id, ...done };
    await context.registry.changeKeys({ made: key, changed, note });
    reply.code(201);
    return { ...madeView(key, secret), previous: { key_id: before.id, expires_at: instant(endsAtMs) } };
  },
});

const revokeKey = route(api.revokeKey, common, {
  summary:
    'Ends a key at once, with its sessions and streams. Leaves a row. An owner without an admin key cannot make another: rotate the last one.',
  errors: ['key_not_found'],
  async handle(context, { params, caller }, reply) {
    const key = keyOf(context, caller, params.key_id);
    const note = { owner: caller.owner, by: caller.key.id, action: 'key_revoked', key_id: key.id } as const;
    await context.registry.changeKeys({ changed: [{ ...key, isRevoked: true }], note });
    return reply.code(204).send();
  },
});

type Rights = Pick<Key, 'owner' | 'scopes' | 'machine' | 'network'>;

/** Not stored yet. The secret is in the answer and nowhere else. */
function newKeyOf({ owner, scopes, machine, network }: Rights, nowMs: number, lifetimeMs: number) {
  const { text: secret, hash } = newKey();
  const createdAtMs = Math.floor(nowMs);
  const times = { createdAtMs, expiresAtMs: createdAtMs + lifetimeMs };
  const from = network === undefined ? {} : { network };
  const key: Key = { id: newName('key'), hash, owner, scopes, machine, ...times, isRevoked: false, ...from };
  return { key, secret };
}

function keyOf({ credentials, clock }: NodeContext, { owner }: Caller, id: string): Key {
  const key = credentials.keyById(id);
  if (key !== undefined && key.owner === owner && !key.isRevoked && clock.now() < key.expiresAtMs) return key;
  throw new Failure('key_not_found', {
    what: `There is no key "${id.slice(0, 64)}" to change.`,
    why: 'It is not one of yours, or it has expired or was revoked.',
    fix: 'GET /api/keys lists your keys.',
  });
}

function rights({ scopes, machine, expiresAtMs }: Key) {
  return { scopes, ...(machine === undefined ? {} : { only_machine: machine }), expires_at: instant(expiresAtMs) };
}

function madeView({ id, owner, scopes, machine, expiresAtMs }: Key, secret: string) {
  return { ok: true, key: secret, key_id: id, owner, scopes, machine, expires_at: instant(expiresAtMs) };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

// A session: a cookie in exchange for a key, with its scopes and at most its lifetime.

const withKey = { auth: 'key', scope: 'any', tier: 'account' } as const;
const withSession = { auth: 'session', scope: 'any', tier: 'account' } as const;

const openSession = route(api.openSession, withKey, {
  summary:
    'Exchanges a key for a session: sets the cookie weir_session, by HTTPS __Host-weir_session. It may do what its key may.',
  errors: ['too_many_requests'],
  async handle({ clock, registry, limits, bounds, memory }, request, reply) {
    const { caller } = request;
    memory.refuse('No session was opened.');
    bounds.sessions.take(request);
    const nowMs = Math.floor(clock.now());
    const expiresAtMs = Math.min(nowMs + limits.sessionLifetimeMs, caller.key.expiresAtMs);
    const { text, ...named } = newSession();
    const times = { createdAtMs: nowMs, expiresAtMs };
    const session = { ...named, owner: caller.key.id, scopes: [], machine: undefined, ...times, isRevoked: false };
    await registry.changeKeys({ changed: [session] });
    setSessionCookie(request, reply.code(201), text, Math.floor((expiresAtMs - nowMs) / 1000));
    return { ok: true, owner: caller.owner, expires_at: new Date(expiresAtMs).toISOString() };
  },
});

const endSession = route(api.endSession, withSession, {
  summary: 'Ends the session whose cookie is sent.',
  async handle({ registry }, request, reply) {
    const { session } = request.caller;
    assert(session !== undefined, 'a session is ended by its cookie');
    await registry.changeKeys({ changed: [{ ...session, isRevoked: true }] });
    return setSessionCookie(request, reply.code(204), '', 0).send();
  },
});

export const keyRoutes = [mintKey, makeKey, listKeys, rotateKey, revokeKey, openSession, endSession];
