// Owns making values from a schema: most of them fit, some nearly. Leaves what they are for to the tests.
import fc from 'fast-check';
import { anyCharacter } from './draws.js';

export type Schema = Readonly<Record<string, any>>;

/** Values that have broken programs before. */
export const nasty = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -0,
    -1,
    0.5,
    1e21,
    1e308,
    -1e308,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    '',
    '0',
    ' ',
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    '../..',
    '%00',
    "' OR 1=1 --",
    'x'.repeat(5_000),
    [],
    {},
    [[]],
    [null],
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A value of the schema most of the time; now and then, at any depth, something else. */
export function mostly(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 24, arbitrary: fitting(schema) }, nasty);
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema['const']);
  if ('enum' in schema) return fc.constantFrom(...schema['enum']);
  if ('anyOf' in schema) return fc.oneof(...schema['anyOf'].map((one: Schema) => mostly(one)));
  switch (schema['type']) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(mostly(schema['items']), { minLength: schema['minItems'] ?? 0, maxLength: 6 });
    case 'string':
      return textOf(schema);
    case 'integer':
      return wholeOf(schema);
    case 'number':
      return fc.double();
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return nasty;
  }
}

function objectOf({ properties = {}, patternProperties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const known = Object.fromEntries(Object.entries<Schema>(properties).map(([name, of]) => [name, mostly(of)]));
  const own = fc.record(known, { requiredKeys: required });
  const named = Object.values<Schema>(patternProperties).map((of) => fc.dictionary(names, mostly(of), { maxKeys: 4 }));
  const astray = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.dictionary(names, nasty));
  const without = fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, names);
  return fc.tuple(own, astray, without, ...named).map(([own, astray, without, ...named]) => {
    const whole: Record<string, unknown> = Object.assign({}, own, astray, ...named);
    if (without !== undefined) delete whole[without];
    return whole;
  });
}

const names = fc.oneof(
  fc.constantFrom('type', 'count', 'slug', 'S', 'f', 'phi', 'a', '__proto__', 'constructor'),
  fc.string(),
);

function textOf({ pattern, minLength = 0, maxLength = 80 }: Schema): fc.Arbitrary<string> {
  const any = fc.string({ unit: anyCharacter, minLength, maxLength: Math.min(maxLength, 200) });
  return fc.oneof(
    { weight: 20, arbitrary: pattern === undefined ? any : fc.stringMatching(withoutLookahead(pattern)) },
    any,
    fc.constant('x'.repeat(maxLength + 1)),
  );
}

/** fast-check draws no lookaheads: without them a few more texts do not fit. */
function withoutLookahead(pattern: string): RegExp {
  return new RegExp(pattern.replace(/\(\?!.*?\)/, ''), 'u');
}

function wholeOf({ minimum = -(2 ** 53), maximum = 2 ** 53 }: Schema): fc.Arbitrary<number> {
  const within = fc.integer({ min: Math.max(minimum, -1e9), max: Math.min(maximum, 1e9) });
  return fc.oneof(
    { weight: 20, arbitrary: within },
    { weight: 4, arbitrary: fc.constantFrom(minimum, maximum) },
    fc.constantFrom(minimum - 1, maximum + 1),
    fc.maxSafeInteger(),
  );
}
