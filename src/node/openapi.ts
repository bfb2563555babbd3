// Makes the OpenAPI 3.1 document from the registry of routes. Adds to each route its problems, credentials and example.
import type { TObject, TSchema } from 'typebox';
import type { DescribedAnswer } from '../api/endpoint.js';
import { Problem } from '../api/views.js';
import { catalogue, type FailureCode } from '../core/schema/failure.js';
import { VERSION } from '../core/version.js';
import { operationName, SchemaNames } from './openapi-names.js';
import type { Auth } from './permission.js';
import type { Route } from './route.js';

const documents = new WeakMap<object, Buffer>();

/** Each alternative, with the credentials that it needs together. */
const security: Readonly<Record<Auth, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  public: [],
  public_or_owner: [{}, { key: [] }, { session: [] }],
  key: [{ key: [] }],
  session: [{ session: [] }],
  key_or_session: [{ key: [] }, { session: [] }],
  key_and_session: [{ key: [] }, { key: [], session: [] }],
};

export function documentOf(routes: readonly Route[]): Buffer {
  let document = documents.get(routes);
  if (document === undefined) {
    document = Buffer.from(JSON.stringify(made(routes)));
    documents.set(routes, document);
  }
  return document;
}

function made(routes: readonly Route[]): object {
  const names = new SchemaNames();
  for (const route of routes) nameBodies(names, route);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const { path, method } = route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: names.refer(operationOf(route)) };
  }
  const session = 'Set by POST /api/session; by HTTPS its name is __Host-weir_session.';
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: VERSION,
      description: 'The HTTP API of a node that hosts windowed rate limiters and other state machines.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This node.' }],
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key from POST /api/demo-key/mint or POST /api/keys.' },
        session: { type: 'apiKey', in: 'cookie', name: 'weir_session', description: session },
      },
      schemas: names.schemas,
    },
    paths,
  };
}

/** Bodies and answers without a name get that of their operation. */
function nameBodies(names: SchemaNames, route: Route): void {
  const name = operationName(route);
  names.take(route.shapes?.body, `${name}Body`);
  for (const [status, { schema }] of Object.entries(route.answers))
    if (status.startsWith('2')) names.take(schema, `${name}Answer`);
}

function operationOf(route: Route): object {
  const { shapes = {}, summary, domain, tier, example, auth, scope = 'none' } = route;
  const { params, querystring, body } = shapes;
  const parameters = [...parametersOf('path', params), ...parametersOf('query', querystring)];
  return {
    operationId: operationName(route),
    summary,
    tags: [domain],
    security: security[auth],
    'x-tier': tier,
    'x-auth': auth,
    'x-scope': scope,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: bodyOf(body, example?.body) }),
    responses: joined(answersOf(route), problemsOf(errorsOf(route))),
  };
}

function parametersOf(place: 'path' | 'query', shape: TObject | undefined): object[] {
  const required = new Set<string>(shape?.required ?? []);
  return Object.entries(shape?.properties ?? {}).map(
    ([name, { description, ...schema }]: [string, { readonly description?: string }]) => ({
      ...{ name, in: place, required: place === 'path' || required.has(name) },
      ...(description === undefined ? {} : { description }),
      schema,
    }),
  );
}

function bodyOf(schema: TSchema, example: unknown): object {
  const { required = [] } = schema as { readonly required?: readonly string[] };
  const isRequired = required.length > 0 || 'items' in schema;
  return { content: { 'application/json': { schema, example } }, ...(isRequired && { required: true }) };
}

/** Codes with which a route can fail: its own, and those of its path, credentials, body, query and store. */
export function errorsOf({
  auth,
  scope,
  ofOwner = false,
  method,
  path,
  shapes = {},
  errors = [],
  isGate = false,
}: Route): FailureCode[] {
  const touchesStore = auth !== 'public' || path === '/api/demo-key/mint';
  // Makes something to keep; events may bring new keys.
  const keepsMore = method === 'POST' && auth !== 'session' && path !== '/api/core/shift';
  const isOfOwner = auth !== 'public' && auth !== 'public_or_owner';
  const names = auth === 'public' ? {} : (shapes.params?.properties ?? {});
  const codes: FailureCode[] = [
    ...('slug' in names
      ? ([
          'machine_not_found',
          ...(isOfOwner ? (['not_owner', 'machine_deleted', 'limit_reached'] as const) : []),
        ] as const)
      : []),
    ...('contract_id' in names ? (['contract_not_found'] as const) : []),
    ...errors,
    // A query with an unknown name, too.
    ...(path.startsWith('/api/') ? (['invalid_input'] as const) : []),
    ...(method === 'GET' || isGate ? [] : (['invalid_json', 'unsupported_media_type', 'body_too_large'] as const)),
    ...(auth === 'public'
      ? method === 'GET'
        ? []
        : (['cross_site_refused'] as const)
      : (['credential_invalid'] as const)),
    ...(isOfOwner ? (['credential_missing', 'cross_site_refused'] as const) : []),
    'host_refused',
    ...(scope === undefined || (scope === 'any' && !ofOwner) ? [] : (['scope_missing'] as const)),
    ...(touchesStore ? (['store_failed', 'disk_full'] as const) : []),
    ...(keepsMore ? (['memory_low'] as const) : []),
    ...(path === '/healthz' || path === '/readyz' || path === '/metrics' ? [] : (['node_overloaded'] as const)),
  ];
  return [...new Set(codes)];
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

function answersOf({ answers }: Route): Record<string, Response> {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, documented(answer)]));
}

/** A status can be both an answer and a failure, such as 429 of a gate. */
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

function documented({ description, type = 'application/json', schema }: DescribedAnswer): Response {
  if (schema !== undefined) return { description, content: { [type]: { schema } } };
  if (type === 'application/json') return { description };
  return { description, content: { [type]: { schema: { type: 'string' } } } };
}

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
