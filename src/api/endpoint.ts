// What one endpoint of the node's API looks like from outside: method, path, and the schemas of what goes in and what comes out.
// The node adds who may ask and what it does (node/route.ts); the client reads its types from here (client/api-client.ts).
import type { TObject, TSchema } from 'typebox';

/** The schemas of a request. What is left out takes nothing: a query or body with any field is refused. */
export interface Shapes {
  readonly params?: TObject;
  readonly querystring?: TObject;
  readonly body?: TSchema;
}

/** What an answer with one status looks like. */
export interface Answer {
  readonly description: string;
  /** Media type; `application/json` when absent. */
  readonly type?: string;
  readonly schema?: TSchema;
}

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters in braces: `/api/chain/{slug}/event`. */
  readonly path: string;
  readonly shapes?: Shapes;
  /** By status. Errors are not listed here. */
  readonly answers: Readonly<Record<number, Answer>>;
}
