// The declaration of a route: where, for whom, its schemas, an example, and the handler.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyReply,
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify';
import type { Endpoint, Shapes } from '../api/endpoint.js';
import type { FailureCode } from '../core/schema/failure.js';
import type { Limits } from './limits.js';
import type { NodeContext } from './node-context.js';
import type { Auth, Caller, Permission } from './permission.js';

type Tier = 'computation (public)' | 'public' | 'account' | 'machine' | 'operations (public)';

/** For a caller that owns `edge-gateway` with one contract. Its `params` are those beside both. */
interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Where a credential is required, there is a caller. */
export type RouteRequest<S extends Shapes, A extends Auth> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  S,
  TypeBoxTypeProvider
> & { readonly caller: A extends 'public' | 'public_or_owner' ? Caller | undefined : Caller };

type Access = Permission & { readonly tier: Tier };

export interface Served<S extends Shapes, A extends Auth> {
  readonly summary: string;
  /** The route's own codes; `errorsOf` adds those of its path, credentials, body and store. */
  readonly errors?: readonly FailureCode[];
  readonly example?: Example;
  /** False for a GET that never ends. */
  readonly hasHead?: boolean;
  /** Answered on arrival, without the caller's queue: the route slices its work itself. */
  readonly skipsQueue?: boolean;
  /** Counts with any method, ignores the body, and has the time of its decisions measured. */
  readonly isGate?: boolean;
  /** The caller by a key in a gateway's header. Browsers do not send it, so Host may be the client's. Default: none. */
  readonly gatewayOf?: (context: NodeContext, request: FastifyRequest) => Caller | undefined;
  /** The handler checks the body with more precise messages; the schema is documentation. */
  readonly checksBody?: boolean;
  /** The status is that of `reply`, 200 unless set. Exceptions become problems. */
  readonly handle: (context: NodeContext, request: RouteRequest<S, A>, reply: FastifyReply) => unknown;
}

type Declared = Endpoint & Access & Served<Shapes, Auth>;
export type Route = Declared & { readonly domain: string };

type ShapesOf<E extends Endpoint> = E extends { readonly shapes: infer S extends Shapes } ? S : Shapes;

export function route<const E extends Endpoint, const A extends Access>(
  endpoint: E,
  access: A,
  served: Served<ShapesOf<E>, A['auth']>,
): Declared {
  return { ...endpoint, ...access, ...served } as unknown as Declared;
}

export function inDomain(domain: string, routes: readonly Declared[]): Route[] {
  return routes.map((one) => ({ ...one, domain }));
}

export const forAnyone = { auth: 'public', tier: 'public' } as const;
export const forComputation = { auth: 'public', tier: 'computation (public)' } as const;
export const forSupervisors = { auth: 'public', tier: 'operations (public)' } as const;
export const forReaders = { auth: 'public_or_owner', scope: 'read', tier: 'public' } as const;
export const forOwners = { auth: 'key_or_session', scope: 'read', tier: 'machine' } as const;
export const forEvents = { ...forOwners, scope: 'event' } as const;
export const forGates = { ...forOwners, scope: 'gate' } as const;
export const forAdmins = { auth: 'key_or_session', scope: 'admin', tier: 'machine' } as const;

/** If so, another site must not make a browser send it. */
export function changesState({ method, isGate = false }: Route): boolean {
  return isGate || method !== 'GET';
}

export function bodyLimitOf(
  { shapes, takesLongBody = false }: Route,
  { longBodyBytes, shortBodyBytes, emptyBodyBytes }: Limits,
): number {
  if (takesLongBody) return longBodyBytes;
  return shapes?.body === undefined ? emptyBodyBytes : shortBodyBytes;
}
