// One endpoint: method, path, schemas of request and answers. node/route.ts adds the handler; client/api-client.ts derives the types.
import type { TObject, TSchema } from 'typebox';

/** Without a schema, a query or body with any field is refused. */
export interface Shapes {
  readonly params?: TObject;
  readonly querystring?: TObject;
  /** Documentation: the handler reads them. */
  readonly headers?: TObject;
  readonly body?: TSchema;
}

export interface DescribedAnswer {
  readonly description: string;
  /** Media type; `application/json` when absent. */
  readonly type?: string;
  readonly schema?: TSchema;
  readonly alsoType?: string;
}

export interface RouteAddress {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Parameters are in braces: `/api/chain/{slug}/event`. */
  readonly path: string;
}

export interface Endpoint extends RouteAddress {
  readonly shapes?: Shapes;
  /** Whether the body may be as long as a thousand events: see node/limits.ts. */
  readonly takesLongBody?: boolean;
  /** By status. Problems are not listed. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

type Rest = Omit<Endpoint, keyof RouteAddress>;

function endpointsBy<const M extends Endpoint['method']>(method: M) {
  return <const P extends string, const R extends Rest>(path: P, rest: R) => ({ method, path, ...rest });
}

export const get = endpointsBy('GET');
export const post = endpointsBy('POST');
export const patch = endpointsBy('PATCH');
export const remove = endpointsBy('DELETE');
