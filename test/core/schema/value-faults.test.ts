import { expect, it } from 'vitest';
import { planContract } from '../../../src/core/limiter/validate.js';
import { fitsSchema } from '../../../src/core/schema/compile-schema.js';
import { Failure } from '../../../src/core/schema/failure.js';
import { Type } from '../../../src/core/schema/json-schema.js';
import { valueFaults } from '../../../src/core/schema/value-faults.js';
import { Scenario } from '../../../src/harness/scenario/scenario-schema.js';
import { routes } from '../../../src/node/route-list.js';
import { forAll } from '../../draws.js';
import { mostly } from '../../schema-values.js';

const Limiter = Type.Object({ threshold: Type.Integer() }, { additionalProperties: false });
const Law = Type.Object({ limiter: Limiter, 'a/b': Type.Optional(Limiter) }, { additionalProperties: false });

// biome-ignore format: one case a line
it.each([
  ['a name that is near one', { limiter: { treshold: 1 } }, ['/limiter/treshold is not known; did you mean "threshold"?', '/limiter/threshold is required']],
  ['a name that is near none', { limiter: { threshold: 1, zzz: 1 } }, ['/limiter/zzz is not known; allowed here: threshold']],
  ['names that a pointer has to write otherwise',
    { limiter: { threshold: 1 }, 'a/b': { threshold: 1, '~/': 1 } }, ['/a~1b/~0~1 is not known; allowed here: threshold']],
  ['no more names than ten',
    { limiter: { threshold: 1 }, ...unknown(12) }, [...Array(10).keys()].map((n) => `/x${n} is not known; allowed here: limiter, a/b`)],
  ['a missing one', {}, ['/limiter is required']],
])('what does not fit is told: %s', (_name, value, told) => {
  expect(valueFaults(Law, value).map(({ path, message }) => `${path} ${message}`)).toEqual(told);
});

it.each([
  ['a number too large', 2, '/near must be <= 0.99'],
  ['a text', 'x', '/near must be a number or null'],
])('what does not fit in a member that may be null is told: %s', (_name, near, told) => {
  const schema = Type.Object({ near: Type.Union([Type.Null(), Type.Number({ maximum: 0.99 })]) });
  expect(valueFaults(schema, { near })).toMatchObject([{ path: '/near', message: told.slice(6) }]);
});

const bodies = routes.flatMap(({ path, shapes }) => (shapes?.body === undefined ? [] : [[path, shapes.body] as const]));
it.each([...bodies, ['a scenario', Scenario] as const])('what does not fit is said in words: %s', (_name, schema) => {
  forAll([mostly(schema)], (value) => {
    if (fitsSchema(schema, value)) return;
    const faults = valueFaults(schema, value);
    expect(faults).not.toEqual([]);
    for (const { message } of faults) expect(message).not.toBe('');
  });
});

it('a definition is planned, or refused with faults, whatever is in it', () => {
  const schema = routes.find(({ path, method }) => path === '/api/chain/{slug}/contracts' && method === 'POST')?.shapes
    ?.body;
  forAll([mostly(schema ?? {})], (value) => {
    try {
      planContract(value);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      expect(error.faults).not.toEqual([]);
    }
  });
});

function unknown(n: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: n }, (_, index) => [`x${index}`, 1]));
}
