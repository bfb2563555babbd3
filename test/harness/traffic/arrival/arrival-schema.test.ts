// The shape of arrivals: what fits, what does not and in which words, and rules that every field keeps.
import type { TSchema } from 'typebox';
import Value from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { valueFaults } from '../../../../src/core/schema/value-faults.js';
import { ArrivalSpec, arrivalKinds } from '../../../../src/harness/traffic/arrival/arrival-schema.js';

const smallest = [
  { model: 'constant', rate: 1 },
  { model: 'poisson', rate: '130/s' },
  { model: 'ramp', start_rate: 0, end_rate: '10/s' },
  { model: 'burst', burst_rate: 9 },
  { model: 'spikes', requests: 100 },
  { model: 'sine', rate: 5, amplitude: 5, period: '1 day' },
  { model: 'onoff', on_rate: 9, on_for: '5s', off_for: '1m' },
  { model: 'pareto', rate: 1, shape: 1.5 },
  { model: 'edge', requests: 100 },
  { model: 'counts', counts: [1] },
  { model: 'log', file: 'access.log' },
];

it('every model fits with what it needs alone, with a time to begin and to end, and not without any part of that', () => {
  expect(smallest.map(({ model }) => model)).toEqual(Object.keys(arrivalKinds));
  const fits = (input: unknown): boolean =>
    Value.Check(ArrivalSpec, input) && valueFaults(ArrivalSpec, input).length === 0;
  const fails = (input: unknown): boolean =>
    !Value.Check(ArrivalSpec, input) && valueFaults(ArrivalSpec, input).length > 0;
  expect(smallest.filter((spec) => !fits(spec) || !fits({ ...spec, from: 5, to: '90s' }))).toEqual([]);
  const lacking = smallest.flatMap((spec) =>
    Object.keys(spec).map((gone) => Object.fromEntries(Object.entries(spec).filter(([name]) => name !== gone))),
  );
  expect(lacking.filter((spec) => !fails(spec))).toEqual([]);
});

// biome-ignore format: one case a line
it.each<[input: unknown, faults: [path: string, message: string][]]>([
  [undefined, [['/arrivals/0', 'must be an object with a field model']]],
  [['constant'], [['/arrivals/0', 'must be an object with a field model']]],
  [{ rate: 5 }, [['/arrivals/0/model', expect.stringMatching(/^is required: one of "constant", "poisson/)]]],
  [{ model: 'poison', rate: 5 }, [['/arrivals/0/model', expect.stringMatching(/did you mean "poisson"\?$/)]]],
  [{ model: 'toString' }, [['/arrivals/0/model', expect.stringMatching(/^must be one of "constant/)]]],
  [{ model: 'constant', rat: 5 }, [['/arrivals/0/rat', 'is not known; did you mean "rate"?'], ['/arrivals/0/rate', 'is required']]],
  [{ model: 'constant', rate: -1 }, [['/arrivals/0/rate', 'must be >= 0']]],
  [{ model: 'poisson', rate: 5, placement: 'evenly' }, [['/arrivals/0/placement', 'must be one of "even", "start", "random"; did you mean "even"?']]],
  [{ model: 'spikes', requests: 1.5 }, [['/arrivals/0/requests', 'must be an integer']]],
  [{ model: 'pareto', rate: 1, shape: 1 }, [['/arrivals/0/shape', 'must be >= 1.01']]],
  [{ model: 'counts', counts: [1, -1, 2] }, [['/arrivals/0/counts/1', 'must be >= 0']]],
])('%j is refused with its place and the rules of its own model', (input, faults) => {
  expect(valueFaults(ArrivalSpec, input, '/arrivals/0')).toEqual(faults.map(([path, message]) => ({ path, message })));
});

describe.each(Object.entries(arrivalKinds))('the schema of %s', (_, { schema }) => {
  it('the schema bounds every number, text and list, describes every field, and refuses unknown ones', () => {
    expect([...lapsesIn(schema, '')]).toEqual([]);
  });
});

/** The places of a schema that break the rules of the house. */
function* lapsesIn(schema: TSchema, path: string): Generator<string> {
  const { type, properties, anyOf, items } = schema as Record<string, unknown>;
  const has = (...names: string[]) => names.every((name) => name in schema);
  if ((type === 'number' || type === 'integer') && !has('minimum', 'maximum')) yield `${path} has no bounds`;
  if (type === 'string' && !has('maxLength') && !has('enum') && !has('const')) yield `${path} has no length`;
  if (type === 'array' && !has('minItems', 'maxItems')) yield `${path} has no bounds`;
  if (type === 'object' && (schema as { additionalProperties?: unknown }).additionalProperties !== false) {
    yield `${path} takes unknown fields`;
  }
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, TSchema>)) {
    if (!('description' in field)) yield `${path}/${name} has no description`;
    yield* lapsesIn(field, `${path}/${name}`);
  }
  for (const one of (anyOf ?? []) as TSchema[]) yield* lapsesIn(one, path);
  if (items !== undefined) yield* lapsesIn(items as TSchema, `${path}/-`);
}
