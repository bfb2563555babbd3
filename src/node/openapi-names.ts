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

/** Moves named schemas to `components`, each once, and leaves references. */
export class SchemaNames {
  readonly schemas: Record<string, unknown> = {};
  readonly #names = new Map(Object.entries(shapes).map(([name, schema]) => [JSON.stringify(schema), name]));
  readonly #known = new Map<object, unknown>();

  take(schema: { readonly type?: unknown } | undefined, name: string): void {
    if (schema?.type !== 'object') return;
    const text = JSON.stringify(schema);
    if (!this.#names.has(text)) this.#names.set(text, name.charAt(0).toUpperCase() + name.slice(1));
  }

  refer(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.refer(one));
    let made = this.#known.get(value);
    if (made === undefined) {
      made = this.#made(value);
      this.#known.set(value, made);
    }
    return made;
  }

  #made(value: object): unknown {
    const name = 'type' in value && value.type === 'object' ? this.#names.get(JSON.stringify(value)) : undefined;
    if (name === undefined) return this.#inside(value);
    // Reserves the place first, so that the names are in the order of their use.
    if (!(name in this.schemas)) {
      this.schemas[name] = {};
      this.schemas[name] = this.#inside(value);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Generators of clients recognize a map by `additionalProperties`, not by a pattern of names. */
  #inside(value: object): object {
    const { patternProperties, ...rest } = value as { readonly patternProperties?: object };
    const [each] = Object.values(patternProperties ?? {});
    const plain = each === undefined ? rest : { ...rest, additionalProperties: each };
    return Object.fromEntries(Object.entries(plain).map(([name, one]) => [name, this.refer(one)]));
  }
}
