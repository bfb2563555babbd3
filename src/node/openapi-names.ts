// Names of operations and shared schemas in the OpenAPI document; generated clients use them.
//
//   operation   the name of its endpoint in src/api: countOne, getContract; otherwise by method and path: getHealthz
//   schema      its name in `shapes`; otherwise by its first operation: CountManyAnswer, CountManyBody
import * as endpoints from '../api/client/endpoints.js';
import * as events from '../api/events.js';
import * as views from '../api/views.js';
import { ContractDefinition } from '../core/limiter/definition.js';
import { RowShape } from '../core/record/row.js';
import { HeadShape } from '../core/record/verification.js';
import type { Route } from './route.js';

const { gateBelow, openStream } = events;

const operationNames = new Map(
  Object.entries({ ...endpoints, gateBelow, openStream }).map(([name, { method, path }]) => [
    `${method} ${path}`,
    name,
  ]),
);

export function operationName({ method, path }: Pick<Route, 'method' | 'path'>): string {
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
export function namesIn(routes: readonly Route[]): ReadonlyMap<string, string> {
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
export function referring(value: unknown, names: ReadonlyMap<string, string>, used: Record<string, object>): unknown {
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
