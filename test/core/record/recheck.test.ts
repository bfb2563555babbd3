// Owns the promises of the offline check of a firing: what was fired holds, and whatever was changed afterwards is named.
import { expect, it } from 'vitest';
import { fire } from '../../../src/core/operator/fire.js';
import type { Inputs } from '../../../src/core/operator/operator.js';
import { standardOperators } from '../../../src/core/operator/registry.js';
import { type FiredRow, recheck } from '../../../src/core/record/recheck.js';
import { forAll } from '../../draws.js';
import { cycleOf, inputsOf } from '../operator/sample.js';

const CYCLE = 2_372_000_000;
const ko42 = standardOperators().get('KO42')!;

/** What a row says of a firing, with the substrate beside a physics operator. */
function rowOf(id: string, given: Inputs, cycle: number, proofRequired = false): FiredRow {
  const operator = standardOperators().get(id)!;
  const firing = fire(operator, given, cycle, { proofRequired });
  const base = fire(ko42, { S: 101 }, cycle);
  if (!firing.ok || !base.ok) throw new Error('the firing of a test went wrong');
  return {
    cycle,
    operator: firing.operator,
    operator_version: firing.version,
    inputs: firing.inputs,
    result: firing.result,
    master_equation_block: firing.equation,
    ...(firing.proofDigest === undefined ? {} : { proof_digest: firing.proofDigest }),
    ...(operator === ko42 ? {} : { substrate: { operator: 'KO42', inputs: base.inputs, result: base.result } }),
  };
}

it.each([...standardOperators()])('a row holds, whatever %s was given', (id, operator) => {
  forAll([inputsOf(operator)], (inputs) => {
    const row = rowOf(id, inputs, cycleOf(inputs));
    expect(recheck(row)).toBeUndefined();
    expect(recheck(JSON.parse(JSON.stringify(row)))).toBeUndefined();
  });
});

it('a row holds when the substrate was proved, too', () => {
  expect(recheck(rowOf('KO42', { S: 101 }, CYCLE, true))).toBeUndefined();
});

const substrate = rowOf('KO42', { S: 101 }, CYCLE);
const physics = rowOf('NEWTON2', { m: 2, a: 3 }, CYCLE);
const { substrate: _, ...alone } = physics;
const { result: __, ...open } = physics;
const { proof_digest: ___, ...unproved } = physics;
// biome-ignore format: one case a line
it.each<[string, FiredRow, string]>([
    ['no result', open, 'The row does not say which operator was fired, with which inputs and result.'],
    ['an operator nobody knows', { ...physics, operator: 'NEWTON4' }, 'There is no operator NEWTON4.'],
    ['another version', { ...physics, operator_version: '0.9' }, 'The row was written by version 0.9 of NEWTON2, and this is version 1.0.'],
    ['another equation', { ...physics, master_equation_block: 'F = m * v' }, 'The equation of NEWTON2 is F = m * a, and not F = m * v.'],
    ['another result', { ...physics, result: 6.000000000000001 }, 'NEWTON2 gives 6 for the inputs of the row, and not 6.000000000000001.'],
    ['another input', { ...physics, inputs: { m: 2, a: 4 } }, 'NEWTON2 gives 8 for the inputs of the row, and not 6.'],
    ['an input less', { ...physics, inputs: { m: 2 } }, 'The row lacks the input a of NEWTON2.'],
    ['an input less that has a default', { ...substrate, inputs: { cycle: CYCLE } }, 'The row lacks the input S of KO42.'],
    ['an input more', { ...physics, inputs: { m: 2, a: 3, b: 1 } }, 'NEWTON2 has no input "b"; it has m, a.'],
    ['half a cycle', { ...physics, cycle: 0.5 }, '0.5 is no cycle.'],
    ['another cycle', { ...substrate, cycle: CYCLE + 1 }, `The input cycle of KO42 is ${CYCLE}, but it is fired in cycle ${CYCLE + 1}.`],
    [
      'another digest',
      { ...physics, proof_digest: '0'.repeat(64) },
      `The proof of NEWTON2 has the digest ${physics.proof_digest}, and not ${'0'.repeat(64)}.`,
    ],
    [
      'a digest of nothing',
      { ...substrate, proof_digest: '' },
      `The proof of KO42 has the digest ${rowOf('KO42', { S: 101 }, CYCLE, true).proof_digest}, and not .`,
    ],
    ['no digest', unproved, 'The row lacks the proof digest that NEWTON2 requires.'],
    ['no substrate', alone, 'The row lacks the substrate operator, which is fired beside NEWTON2.'],
    [
      'another result of the substrate',
      { ...physics, substrate: { operator: 'KO42', inputs: { S: 101, cycle: CYCLE }, result: 101 + 1e-9 } },
      `KO42 gives ${substrate.result} for the inputs of the row, and not 101.000000001.`,
    ],
  ])('a row does not hold with %s, which is named', (_name, row, sentence) => {
    expect(recheck(row)).toBe(sentence);
  });
