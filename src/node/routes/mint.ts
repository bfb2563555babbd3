// Owns POST /api/demo-key/mint: a free key for anyone, so many an address. Leaves the limit to mint-limit.ts.

import * as api from '../../api/node.js';
import type { Contract } from '../../host/contract.js';
import { Failure } from '../../schema/failure.js';
import { secondsUntil } from '../../time/cycle.js';
import { retryAfterOf } from '../decision.js';
import type { Parts } from '../node-context.js';
import { route } from '../route.js';
import { newKey, newName } from '../secret.js';

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
    const { contract, isAdmitted } = mintLimit.ask(request.ip ?? '', clock.cycle());
    if (!isAdmitted) {
      await durability.ofRows(mintLimit.machine);
      reply.header('retry-after', secondsUntilAdmitted(parts, contract, nowMs));
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

function secondsUntilAdmitted({ clock }: Parts, contract: Contract, nowMs: number): number {
  const after = retryAfterOf(contract, 0) ?? contract.plan.aggregates[0]!.within;
  return secondsUntil(contract.gate.cycle + after, nowMs, clock.cycleMs);
}

function tooMany({ threshold, within }: Parts['limits']['mint']): Failure {
  return new Failure('too_many_requests', {
    what: 'No key was minted.',
    why: `An address mints ${threshold} keys within ${within} cycles, and refused requests count.`,
    fix: 'Wait as long as Retry-After says; a key can be used for many machines.',
  });
}
