// The OpenAPI 3.1 document of the routes, by @fastify/swagger: of a server that has them and never listens. Each route gets its problems,
// credentials and example. The build makes it: it takes half a second, too long for a node.
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import Fastify from 'fastify';
import * as endpoints from '../api/client/endpoints.js';
import type { DescribedAnswer } from '../api/endpoint.js';
import * as events from '../api/events.js';
import * as views from '../api/views.js';
import { ContractDefinition } from '../core/limiter/definition.js';
import { RowShape } from '../core/record/row.js';
import { HeadShape } from '../core/record/verification.js';
import { catalogue, type FailureCode } from '../core/schema/failure.js';
import { VERSION } from '../core/version.js';
import type { Auth } from './permission.js';
import type { Route } from './route.js';

/** Each alternative, with the credentials that it needs together. */
const security: Readonly<Record<Auth, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  public: [],
  public_or_owner: [{}, { key: [] }, { session: [] }],
  key: [{ key: [] }],
  session: [{ session: [] }],
  key_or_session: [{ key: [] }, { session: [] }],
  key_and_session: [{ key: [] }, { key: [], session: [] }],
};

const described = {
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
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'weir_session',
        description: 'Set by POST /api/session; by HTTPS its name is __Host-weir_session.',
      },
    },
  },
} as const;

export async function documentOf(routes: readonly Route[]): Promise<object> {
  // Nothing is checked or answered: without these Fastify loads compilers of its own.
  const compilersFactory = { buildValidator: () => () => () => true, buildSerializer: () => () => String };
  const app = Fastify({ schemaController: { compilersFactory: compilersFactory as never }, exposeHeadRoutes: false });
  const refResolver = { buildLocalReference: ({ $id }: { readonly $id?: unknown }) => String($id) };
  const options = { openapi: described, refResolver, convertConstToEnum: false };
  await app.register(swagger, options as unknown as FastifyDynamicSwaggerOptions);
  const names = namesIn(routes);
  const used: Record<string, object> = {};
  for (const route of routes) {
    const { method, path: url } = route;
    app.route({ method, url, schema: referring(operationOf(route), names, used) as object, handler: () => undefined });
  }
  for (const [$id, schema] of Object.entries(used)) app.addSchema({ $id, ...schema });
  await app.ready();
  const document = app.swagger() as { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
  for (const { method, path, shapes, example } of routes) {
    const { requestBody } = document.paths[path]![method.toLowerCase()]!;
    if (requestBody === undefined) continue;
    Object.assign(requestBody.content['application/json']!, example && { example: example.body });
    // Without a required field it may be left out.
    if (!('required' in shapes!.body! || 'items' in shapes!.body!)) delete requestBody.required;
  }
  return document;
}

interface Operation {
  readonly requestBody?: { required?: boolean; readonly content: Readonly<Record<string, object>> };
}

function operationOf(route: Route): object {
  const { shapes = {}, summary, domain, tier, auth, scope = 'none' } = route;
  const { body, ...parameters } = shapes;
  return {
    operationId: operationName(route),
    summary,
    tags: [domain],
    security: security[auth],
    'x-tier': tier,
    'x-auth': auth,
    'x-scope': scope,
    ...parameters,
    ...(body && { body }),
    response: joined(answersOf(route), problemsOf(errorsOf(route))),
  };
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
  readonly type?: 'null';
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

/** A response of type null has no content. */
function documented({ description, type = 'application/json', schema, alsoType }: DescribedAnswer): Response {
  const also = alsoType !== undefined && { [alsoType]: { schema: { type: 'string' } } };
  if (schema !== undefined) return { description, content: { [type]: { schema }, ...also } };
  if (type === 'application/json') return { description, type: 'null' };
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
        content: { 'application/problem+json': { schema: views.Problem } },
      },
    ]),
  );
}

// Names of operations and shared schemas; generated clients use them.
//
//   operation   the name of its endpoint in src/api: countOne, getContract; otherwise by method and path: getHealthz
//   schema      its name in `shapes`; otherwise by its first operation: CountManyAnswer, CountManyBody
const { gateBelow, openStream } = events;

const operationNames = new Map(
  Object.entries({ ...endpoints, gateBelow, openStream }).map(([name, { method, path }]) => [
    `${method} ${path}`,
    name,
  ]),
);

function operationName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const known = operationNames.get(`${method} ${path}`);
  if (known !== undefined) return known;
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'api');
  return (
    method.toLowerCase() +
    (words.length === 0 ? 'Home' : words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''))
  );
}

const shapes: Readonly<Record<string, object>> = {
  Problem: views.Problem,
  Machine: views.MachineView,
  MachineSummary: views.MachineSummary,
  Contract: views.ContractView,
  Decision: views.DecisionShape,
  Event: events.EventShape,
  Row: RowShape,
  Head: HeadShape,
  ContractDefinition,
  GateAdmitted: events.gate.answers[200].schema,
  GateLimited: events.gate.answers[429].schema,
};

/** The names of schemas, by their JSON. Bodies and answers without one get that of their operation. */
function namesIn(routes: readonly Route[]): ReadonlyMap<string, string> {
  const names = new Map(Object.entries(shapes).map(([name, schema]) => [JSON.stringify(schema), name]));
  const take = (schema: { readonly type?: unknown } | undefined, name: string) => {
    const text = JSON.stringify(schema);
    if (schema?.type === 'object' && !names.has(text)) names.set(text, name.charAt(0).toUpperCase() + name.slice(1));
  };
  for (const route of routes) {
    take(route.shapes?.body, `${operationName(route)}Body`);
    for (const [status, { schema }] of Object.entries(route.answers))
      if (status.startsWith('2')) take(schema, `${operationName(route)}Answer`);
  }
  return names;
}

/** Puts references in place of named schemas. @param used gets each of them, in the order of their use */
function referring(value: unknown, names: ReadonlyMap<string, string>, used: Record<string, object>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => referring(one, names, used));
  const name = 'type' in value && value.type === 'object' ? names.get(JSON.stringify(value)) : undefined;
  if (name !== undefined && name in used) return { $ref: `${name}#` };
  if (name !== undefined) used[name] = {};
  const inside = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, referring(one, names, used)]));
  if (name === undefined) return inside;
  used[name] = inside;
  return { $ref: `${name}#` };
}
