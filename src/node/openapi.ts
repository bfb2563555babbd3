// The OpenAPI document: made by @fastify/swagger from the registry, with what a route does not repeat: the problems that its
// failures become, the credentials it needs, its example.
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Answer } from '../api/endpoint.js';
import { Problem } from '../api/views.js';
import { catalogue, type FailureCode } from '../schema/failure.js';
import type { Auth } from './access.js';
import { asOpenApi30 } from './openapi-30.js';
import { operationName, withNamedSchemas } from './openapi-names.js';
import type { Route } from './route.js';

/** Tells swagger of every route that is mounted after it. */
export async function registerOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Weir',
        version,
        description: 'The HTTP API of a node that hosts windowed rate limiters and other state machines.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'This node.' }],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'A key from POST /api/demo-key/mint or POST /api/keys.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'weir_session',
            description: 'Set by POST /api/session; by HTTPS its name is __Host-weir_session.',
          },
        },
      },
    },
    convertConstToEnum: false,
    transformObject: (made) => ('openapiObject' in made ? withNamedSchemas(made.openapiObject) : made.swaggerObject),
    transform: ({ schema, url, route }) => {
      const declared = route.config?.route;
      return { schema: declared === undefined || schema?.['hide'] === true ? schema : described(declared), url };
    },
  });
}

/** Versions of OpenAPI in which the document can be had. */
export const openApiVersions = ['3.1', '3.0'] as const;

type Documents = Readonly<Record<(typeof openApiVersions)[number], Buffer>>;
const documents = new WeakMap<object, Documents>();

/** The documents of the mounted routes. Making them takes 100 ms in one piece: they are made once in a process, before anybody asks for them. */
export function documentsOf(app: FastifyInstance, routes: object): Documents {
  const known = documents.get(routes);
  if (known !== undefined) return known;
  const document = app.swagger();
  const made = {
    '3.1': Buffer.from(JSON.stringify(document)),
    '3.0': Buffer.from(JSON.stringify(asOpenApi30(document))),
  };
  documents.set(routes, made);
  return made;
}

/** Codes with which a route can fail: its own, and those of its credentials, its body, its query and the store. */
export function errorsOf({
  auth,
  scope,
  ofOwner = false,
  method,
  path,
  shapes = {},
  errors = [],
}: Route): FailureCode[] {
  const touchesStore = auth !== 'public' || path === '/api/demo-key/mint';
  // What is made, and kept; events may bring new keys.
  const keepsMore = method === 'POST' && auth !== 'session' && path !== '/api/core/shift';
  const codes: FailureCode[] = [
    ...errors,
    ...(shapes.querystring === undefined && shapes.body === undefined ? [] : (['invalid_input'] as const)),
    ...(method === 'POST'
      ? (['invalid_json', 'unsupported_media_type', 'body_too_large', 'invalid_input'] as const)
      : []),
    ...credentialErrors(auth, method !== 'GET'),
    'host_refused',
    ...(scope === undefined || (scope === 'any' && !ofOwner) ? [] : (['scope_missing'] as const)),
    ...(touchesStore ? (['store_failed', 'disk_full'] as const) : []),
    ...(keepsMore ? (['memory_low'] as const) : []),
    ...(path === '/healthz' || path === '/readyz' || path === '/metrics' ? [] : (['node_overloaded'] as const)),
  ];
  return [...new Set(codes)];
}

function credentialErrors(auth: Auth, changes: boolean): readonly FailureCode[] {
  switch (auth) {
    case 'public':
      return changes ? ['cross_site_refused'] : [];
    case 'public_or_owner':
      return ['credential_invalid'];
    default:
      return ['credential_missing', 'credential_invalid', 'cross_site_refused'];
  }
}

function described(route: Route): FastifySchema & Record<string, unknown> {
  const { shapes = {}, summary, domain, tier, example, auth, scope = 'none' } = route;
  const { body } = shapes;
  return {
    summary,
    operationId: operationName(route),
    tags: [domain],
    security: securityOf(auth),
    'x-tier': tier,
    'x-auth': auth,
    'x-scope': scope,
    ...(shapes.params === undefined ? {} : { params: shapes.params }),
    ...(shapes.querystring === undefined ? {} : { querystring: shapes.querystring }),
    ...(body === undefined
      ? {}
      : { body: route.takesStream ? streamed(body, example.body) : withExample(body, example.body) }),
    response: joined(answersOf(route), problemsOf(errorsOf(route))),
  };
}

function withExample(schema: object, example: unknown): object {
  return example === undefined ? schema : { ...schema, examples: [example] };
}

function streamed(schema: object, example: unknown): object {
  const lines = { type: 'string', description: 'One event a line.', examples: [example] };
  return { content: { 'application/x-ndjson': { schema: lines }, 'application/json': { schema } } };
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

function answersOf({ answers }: Route): Record<string, Response> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, documented(answer)]));
}

/** A status that is an answer and a failure, such as 429 of a gate, may be either. */
function joined(
  answers: Readonly<Record<string, Response>>,
  problems: Readonly<Record<string, Response>>,
): Record<string, Response> {
  const both = Object.entries(problems).map(([status, problem]): [string, Response] => {
    const answer = answers[status];
    if (answer === undefined) return [status, problem];
    const content = { ...answer.content };
    for (const [type, { schema }] of Object.entries(problem.content ?? {}))
      content[type] = { schema: type in content ? { anyOf: [content[type]!.schema, schema] } : schema };
    return [status, { description: `${answer.description} ${problem.description}`, content }];
  });
  return { ...answers, ...Object.fromEntries(both) };
}

function documented({ description, type = 'application/json', schema }: Answer): Response & { readonly type?: 'null' } {
  if (schema !== undefined) return { description, content: { [type]: { schema } } };
  if (type === 'application/json') return { description, type: 'null' };
  return { description, content: { [type]: { schema: { type: 'string' } } } };
}

/** Codes of one status share a response, which lists them. */
function problemsOf(codes: readonly FailureCode[]): Record<string, Response> {
  const byStatus = new Map<number, FailureCode[]>();
  for (const code of codes) {
    const { status } = catalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      {
        description: same.map((code) => `\`${code}\`: ${catalogue[code].title}.`).join(' '),
        content: { 'application/problem+json': { schema: Problem } },
      },
    ]),
  );
}

function securityOf(auth: Auth): Record<string, string[]>[] {
  switch (auth) {
    case 'public':
      return [];
    case 'public_or_owner':
      return [{}, { key: [] }, { session: [] }];
    case 'key':
      return [{ key: [] }];
    case 'session':
      return [{ session: [] }];
    case 'key_or_session':
      return [{ key: [] }, { session: [] }];
    case 'key_and_session':
      return [{ key: [] }, { key: [], session: [] }];
  }
}
