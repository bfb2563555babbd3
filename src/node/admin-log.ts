// Logs each admin action: who, what, when, and the ids concerned.
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Route } from './route.js';

/** The only fields of an admin request and answer that are logged: others may be secret. */
interface Named {
  readonly slug?: string;
  readonly contract_id?: string;
  readonly key_id?: string;
}

export function noteAdminAction(
  log: FastifyBaseLogger,
  { method, path }: Route,
  { params, body: given, caller }: FastifyRequest,
  { status, body }: { readonly status: number; readonly body: unknown },
): void {
  const asked = { ...(given as Named | null), ...(params as Named) };
  const made = (body ?? {}) as Named & { readonly contract?: { readonly id?: string } };
  log.info(
    {
      action: `${method} ${path}`,
      by: caller?.key.id,
      owner: caller?.owner,
      machine: asked.slug,
      contract_id: asked.contract_id ?? made.contract?.id,
      key_id: asked.key_id ?? made.key_id,
      next_key_id: asked.key_id === undefined ? undefined : made.key_id,
      status,
    },
    'admin action',
  );
}
