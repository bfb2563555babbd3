// Names for the OpenAPI document: of operations, and of the schemas that it would repeat. Generated clients take theirs from here.
//
//   operation   the name of its endpoint in src/api: countOne, getContract; of pages and figures by method and path: getHealthz
//   schema      one of `shapes` if it is the same; else CountManyAnswer and CountManyBody, by its first operation
import * as contracts from '../api/contracts.js';
import type { Endpoint } from '../api/endpoint.js';
import * as events from '../api/events.js';
import * as keyed from '../api/keyed.js';
import * as keys from '../api/keys.js';
import * as machines from '../api/machines.js';
import * as node from '../api/node.js';
import * as operators from '../api/operators.js';
import * as record from '../api/record.js';
import * as parts from '../api/shapes.js';
import * as views from '../api/views.js';
import { ContractDefinition } from '../limiter/definition.js';
import type { Route } from './route.js';

const declared = Object.entries({
  ...contracts,
  ...events,
  ...keyed,
  ...keys,
  ...machines,
  ...node,
  ...operators,
  ...record,
});

const operationNames = new Map(
  declared.flatMap(([name, value]) => {
    const { method, path } = value as Partial<Endpoint>;
    return method === undefined || path === undefined ? [] : [[`${method} ${path}`, name] as const];
  }),
);

/** The name of an operation: unique, and a name in every language. */
export function operationName({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const known = operationNames.get(`${method} ${path}`);
  if (known !== undefined) return known;
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'api');
  return method.toLowerCase() + (words.length === 0 ? 'Home' : words.map(capitalized).join(''));
}

const shapes: Readonly<Record<string, unknown>> = {
  Problem: views.Problem,
  Machine: views.MachineView,
  MachineSummary: views.MachineSummary,
  Contract: views.ContractView,
  Decision: views.DecisionShape,
  Event: events.EventShape,
  Row: parts.Row,
  Head: parts.Head,
  ContractDefinition,
  GateAdmitted: events.gate.answers[200].schema,
  GateLimited: events.gate.answers[429].schema,
};

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Named = { readonly [name: string]: Json };

/** The document with its schemas under `components`, each once, and references in their places. */
export function withNamedSchemas<D extends object>(document: D): D {
  const { paths, components = {} } = document as { paths: Named; components?: Named };
  const nameOf = new Map(Object.entries(shapes).map(([name, schema]) => [textOf(schema), name]));
  for (const methods of Object.values(paths) as Named[])
    for (const operation of Object.values(methods) as unknown as Operation[]) {
      const name = capitalized(operation.operationId);
      takeName(nameOf, operation.requestBody, `${name}Body`);
      for (const [status, answer] of Object.entries(operation.responses))
        if (status.startsWith('2')) takeName(nameOf, answer, `${name}Answer`);
    }
  const schemas: Record<string, Json> = {};
  // Most schemas stand there many times.
  const known = new Map<string, string | undefined>();
  const found = (schema: Json) => {
    const text = JSON.stringify(schema);
    if (!known.has(text)) known.set(text, nameOf.get(textOf(schema)));
    return known.get(text);
  };
  const replaced = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    const name = 'type' in value && value['type'] === 'object' ? found(value) : undefined;
    if (name === undefined) return mapped(value, replaced);
    // First its place, so that the names stand in the order in which the document uses them.
    if (!(name in schemas)) {
      schemas[name] = {};
      schemas[name] = mapped((plainOf(shapes[name]) ?? value) as Named, replaced);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const named = replaced(paths);
  return { ...document, paths: named, components: { ...components, schemas } };
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly type?: Json } }>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

/** Names the objects of a body that have no name yet. */
function takeName(nameOf: Map<string, string>, body: Content | undefined, name: string): void {
  for (const { schema } of Object.values(body?.content ?? {})) {
    if (schema?.type !== 'object') continue;
    const text = textOf(schema);
    if (!nameOf.has(text)) nameOf.set(text, name);
  }
}

/** The same for a schema and for what the generator makes of it: it turns patterns of names into additional properties. */
function textOf(schema: unknown): string {
  return JSON.stringify(schema, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { patternProperties, ...rest } = value as Record<string, object>;
    const [pattern] = Object.values(patternProperties ?? {});
    const entries = Object.entries(pattern === undefined ? rest : { ...rest, additionalProperties: pattern });
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** A schema as JSON has it. */
function plainOf(schema: unknown): Json | undefined {
  return schema === undefined ? undefined : JSON.parse(JSON.stringify(schema));
}

function mapped(value: readonly Json[] | Named, map: (value: Json) => Json): Json {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one)]));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
