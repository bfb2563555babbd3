// What one route of the node is, declared once: where, for whom, what goes in and comes out, an example, and the handler.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyReply,
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import type { FailureCode } from '../schema/failure.js';
import type { Limits } from './limits.js';
import type { Parts } from './parts.js';
import type { Caller, Permission } from './permission.js';

type Tier = 'computation (public)' | 'public' | 'account' | 'machine' | 'operations (public)';

type RouteDomain =
  | 'state machines'
  | 'contract templates'
  | 'contracts'
  | 'events'
  | 'record'
  | 'operators'
  | 'updates'
  | 'compute, wizard surface'
  | 'keys and sessions'
  | 'node'
  | 'home';

/**
 * A request and the status of its answer on a node where the machine `edge-gateway` belongs to the caller and has one contract
 * made from the template. In `params`, the contract id is written as `{contract_id}`.
 */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Media type of a body that is given as text. */
  readonly type?: string;
  readonly status: number;
}

export type Asked<S extends Shapes> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  S,
  TypeBoxTypeProvider
>;

export type Declaration<S extends Shapes> = Served<S> & Permission;

interface Served<S extends Shapes> extends Endpoint {
  readonly tier: Tier;
  readonly domain: RouteDomain;
  readonly summary: string;
  readonly shapes?: S;
  /** Codes that are this route's own; those of its credentials, its body and the store are added by errorsOf. */
  readonly errors?: readonly FailureCode[];
  readonly example: Example;
  /** False where asking by HEAD would make no sense: a GET that never ends. */
  readonly hasHead?: boolean;
  /** Whether it is answered as it comes, and not when the turn of who asks comes: what decides cuts its work itself. */
  readonly isAtOnce?: boolean;
  /** A gate: it counts, whatever method it is asked by, and its body is not read; how long its decisions take is measured. */
  readonly isGate?: boolean;
  /**
   * Who is asking, by a key in a header. A program sends it and no browser, so that a gateway may pass on the name of the host that its
   * client asked for. Undefined: as on every other route.
   */
  readonly gatewayOf?: (parts: Parts, request: FastifyRequest) => Caller | undefined;
  /** The handler checks the body itself, with more precise words; the schema is documentation. */
  readonly checksBody?: boolean;
  /** The body is handed over as the stream it is. */
  readonly takesStream?: boolean;
  /** Answers, or a promise of it; the status is that of `reply`, 200 unless set. What it throws becomes a problem. */
  readonly handle: (parts: Parts, request: Asked<S>, reply: FastifyReply) => unknown;
}

/** A route of any shapes, as those see it who do not call its handler with shapes of their own. */
export type Route = Declaration<Shapes>;

/** Declares a route: the types of params, query and body follow from its schemas. */
export function route<const S extends Shapes>(declared: Declaration<S>): Route {
  return declared as unknown as Route;
}

/** Whom routes are for, as most of them are. */
export const forAnyone = { auth: 'public', tier: 'public' } as const;
export const forReaders = { auth: 'public_or_owner', scope: 'read', tier: 'public' } as const;
export const forOwners = { auth: 'key_or_session', scope: 'read', tier: 'machine' } as const;
export const forAdmins = { auth: 'key_or_session', scope: 'admin', tier: 'machine' } as const;

/** Whether asking changes something, which another site must not make a browser do. */
export function changesState({ method, isGate = false }: Route): boolean {
  return isGate || method !== 'GET';
}

export function bodyLimitOf(
  { shapes, takesLongBody = false, takesStream = false }: Route,
  { longBodyBytes, shortBodyBytes, emptyBodyBytes, eventsBytes }: Limits,
): number {
  if (takesStream) return eventsBytes;
  if (takesLongBody) return longBodyBytes;
  return shapes?.body === undefined ? emptyBodyBytes : shortBodyBytes;
}
