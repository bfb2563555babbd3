// Owns the promises of a firing: complete inputs, a total answer, and words that say what was wrong.
import { expect, it } from 'vitest';
import { fire } from '../../../src/core/operator/fire.js';
import type { Inputs, Operator } from '../../../src/core/operator/operator.js';
import { standardOperators } from '../../../src/core/operator/registry.js';
import { digestOf } from '../../../src/core/schema/canonical.js';
import { Bug } from '../../../src/core/schema/failure.js';

const registry = standardOperators();
const ko42 = registry.get('KO42')!;
const newton = registry.get('NEWTON2')!;
const oscillator = registry.get('OSCILLATOR')!;
const decay = registry.get('DECAY')!;
const CYCLE = 2_372_000_000;

/** An operator with one part that goes wrong. */
function broken(part: Partial<Operator>): Operator {
  return { ...newton, id: 'BROKEN', ...part };
}

it('a firing without a proof says operator, version, inputs, result and equation', () => {
  expect(fire(ko42, { S: 101 }, 750_000)).toEqual({
    ok: true,
    operator: 'KO42',
    version: '1.0',
    inputs: { S: 101, cycle: 750_000 },
    result: 101 * 1.00129,
    equation: 'R(t) = S(t) * (1 + a * sin(2*pi*f*t))',
  });
});

it('a firing of a physics operator is proved, and carries the digest of what was proved', () => {
  expect(fire(newton, { m: 2, a: 3 }, CYCLE)).toEqual({
    ok: true,
    operator: 'NEWTON2',
    version: '1.0',
    inputs: { m: 2, a: 3 },
    result: 6,
    equation: 'F = m * a',
    proofDigest: digestOf({
      operator: 'NEWTON2',
      version: '1.0',
      inputs: { m: { value: 2, unit: 'kg' }, a: { value: 3, unit: 'm/s^2' } },
      result: 6,
      equation: 'F = m * a',
      cycle: CYCLE,
    }),
  });
});

it('a firing of the substrate is proved when somebody asks', () => {
  expect(fire(ko42, {}, CYCLE, { proofRequired: true })).toMatchObject({
    ok: true,
    inputs: { S: 1, cycle: CYCLE },
    proofDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

it('a firing fills in defaults', () => {
  expect(fire(oscillator, { m: 1, k: 1, x0: 2, t: 0 }, 0)).toMatchObject({
    inputs: { m: 1, k: 1, x0: 2, v0: 0, t: 0 },
    result: 2,
  });
});

it('a firing has no -0, which JSON could not say', () => {
  const firing = fire(newton, { m: 1, a: -0 }, 0);
  expect(firing).toMatchObject({ inputs: { m: 1, a: 0 }, result: 0 });
  expect(fire(broken({ compute: () => -0 }), { m: 1, a: 0 }, 0)).toMatchObject({ ok: true, result: 0 });
});

it.each([0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('a firing happens in cycle %d', (cycle) => {
  expect(fire(ko42, { S: 5 }, cycle, { proofRequired: true })).toMatchObject({ ok: true, inputs: { S: 5, cycle } });
});

it('a firing takes the digest of everything it says: another cycle is another digest', () => {
  const digests = [CYCLE, CYCLE + 1].map((cycle) => {
    const firing = fire(newton, { m: 2, a: 3 }, cycle);
    return firing.ok ? firing.proofDigest : undefined;
  });
  expect(new Set(digests).size).toBe(2);
});

const text = (value: unknown) => value as number;
// biome-ignore format: one case a line
it.each<[string, Operator, Inputs, string]>([
  ['missing', newton, { m: 1 }, 'NEWTON2 needs the input a, in m/s^2.'],
  ['missing, without unit', decay, { lambda: 1, t: 1 }, 'DECAY needs the input N0.'],
  ['all missing', newton, {}, 'NEWTON2 needs the input m, in kg.'],
  ['undefined', newton, { m: 1, a: text(undefined) }, 'NEWTON2 needs the input a, in m/s^2.'],
  ['unknown', newton, { m: 1, a: 1, g: 9.81 }, 'NEWTON2 has no input "g"; it has m, a.'],
  ['named like a member of every object', newton, { m: 1, a: 1, toString: 1 } as never, 'NEWTON2 has no input "toString"; it has m, a.'],
  ['a text', newton, { m: text('1'), a: 1 }, 'The input m of NEWTON2 is 1, which is no finite number.'],
  ['NaN', newton, { m: NaN, a: 1 }, 'The input m of NEWTON2 is NaN, which is no finite number.'],
  ['infinite', newton, { m: 1, a: -Infinity }, 'The input a of NEWTON2 is -Infinity, which is no finite number.'],
  ['too small', newton, { m: 0, a: 1 }, 'The input m of NEWTON2 is 0, which does not lie between 1e-31 and 1e+42 kg.'],
  ['too large', newton, { m: 1, a: 1e31 }, 'The input a of NEWTON2 is 1e+31, which does not lie between -1e+30 and 1e+30 m/s^2.'],
  ['too large, without unit',
    decay, { N0: 1e61, lambda: 1, t: 1 }, 'The input N0 of DECAY is 1e+61, which does not lie between 0 and 1e+60.'],
  ['another cycle', ko42, { S: 1, cycle: 6 }, 'The input cycle of KO42 is 6, but it is fired in cycle 7.'],
  ['half a cycle', ko42, { S: 1, cycle: 7.5 }, 'The input cycle of KO42 is 7.5, but it is fired in cycle 7.'],
])('an input is refused in words: %s', (_name, operator, given, why) => {
  expect(fire(operator, given, 7)).toEqual({ ok: false, code: 'compute_failed', why });
});

it.each(
  [...registry.values()].flatMap((operator) =>
    Object.entries(operator.inputs).map(([name, input]) => [operator.id, name, operator, input] as const),
  ),
)('a firing of %s is refused with %s outside of its range, on either side', (_id, name, operator, { min, max }) => {
  const [reference] = operator.cases;
  const outside = [min - Math.max(1, Math.abs(min)), max + Math.max(1, Math.abs(max))];
  const codes = outside.map((value) => fire(operator, { ...reference?.inputs, [name]: value }, 0));
  expect(codes).toMatchObject([{ code: 'compute_failed' }, { code: 'compute_failed' }]);
});

it('null is not taken for a default', () => {
  expect(fire(ko42, { S: null as unknown as number }, 7)).toMatchObject({ ok: false, code: 'compute_failed' });
});

const stop = () => {
  throw new Error('out of paper');
};
const proof = newton.prove({ m: 2, a: 3 }, 6);
// biome-ignore format: one case a line
it.each<[string, Partial<Operator>, string, string]>([
  ['compute throws', { compute: stop }, 'compute_failed', 'BROKEN gave up: out of paper.'],
  ['compute gives NaN', { compute: () => NaN }, 'compute_failed', 'BROKEN gives NaN for m = 2, a = 3, which is no finite number.'],
  ['compute overflows',
    { compute: () => Infinity }, 'compute_failed', 'BROKEN gives Infinity for m = 2, a = 3, which is no finite number.'],
  ['prove throws', { prove: stop }, 'prove_failed', 'BROKEN has no proof of 6: out of paper.'],
  [
    'the methods differ',
    { compute: () => 8 },
    'prove_failed',
    'BROKEN gives 8, and another method (back-substitution: the acceleration that the force gives the mass) differs by 0.25 of its size, more than 1e-12.',
  ],
  [
    'the residual is NaN',
    { prove: () => ({ ...proof, residual: NaN }) },
    'prove_failed',
    'BROKEN gives 6, and another method (back-substitution: the acceleration that the force gives the mass) differs by NaN of its size, more than 1e-12.',
  ],
  ['the proof is of something else', { prove: () => ({ ...proof, residual: 1e-15 }) }, 'verify_failed',
    'The proof that BROKEN gives of 6 does not hold: repeating it gives another result.'],
  ['verify throws', { verify: stop }, 'verify_failed', 'The proof that BROKEN gives of 6 does not hold: out of paper.'],
])('an operator that goes wrong is refused at the first link that does not hold: %s', (_name, part, code, why) => {
  expect(fire(broken(part), { m: 2, a: 3 }, 0)).toEqual({ ok: false, code, why });
});

it.each([0.5, NaN, Infinity, 2 ** 53])('a firing in cycle %d is a bug', (cycle) => {
  expect(() => fire(ko42, {}, cycle)).toThrow(Bug);
});
