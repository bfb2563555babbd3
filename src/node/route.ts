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
import type { FailureCode } from '../schema/failure.js';
import type { Limits } from './limits.js';
import type { NodeContext } from './node-context.js';
import type { Auth, Caller, Permission } from './permission.js';

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

/** For a caller that owns `edge-gateway` with one contract, whose id is written `{contract_id}`. Its `params` are those beside both. */
interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly type?: string;
}

/** Where a credential is required, there is a caller. */
export type RouteRequest<S extends Shapes, A extends Auth> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  S,
  TypeBoxTypeProvider
> & { readonly caller: A extends 'public' | 'public_or_owner' ? Caller | undefined : Caller };

export type Declaration<S extends Shapes, A extends Auth = Auth> = Served<S, A> & Permission;

interface Served<S extends Shapes, A extends Auth> extends Endpoint {
  readonly auth: A;
  readonly tier: Tier;
  readonly summary: string;
  readonly shapes?: S;
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
  readonly takesStream?: boolean;
  /** The status is that of `reply`, 200 unless set. Exceptions become problems. */
  readonly handle: (context: NodeContext, request: RouteRequest<S, A>, reply: FastifyReply) => unknown;
}

export type Route = Declaration<Shapes> & { readonly domain: RouteDomain };

export function route<const S extends Shapes, const A extends Auth>(declared: Declaration<S, A>): Declaration<Shapes> {
  return declared as unknown as Declaration<Shapes>;
}

export function inDomain(domain: RouteDomain, routes: readonly Declaration<Shapes>[]): Route[] {
  return routes.map((one) => ({ ...one, domain }));
}

export const forAnyone = { auth: 'public', tier: 'public' } as const;
export const forReaders = { auth: 'public_or_owner', scope: 'read', tier: 'public' } as const;
export const forOwners = { auth: 'key_or_session', scope: 'read', tier: 'machine' } as const;
export const forAdmins = { auth: 'key_or_session', scope: 'admin', tier: 'machine' } as const;

/** If so, another site must not make a browser send it. */
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
