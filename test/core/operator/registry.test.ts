// Owns the promises of the registry: what may enter, and how it is found.
import { expect, it } from 'vitest';
import type { Operator } from '../../../src/core/operator/operator.js';
import { findOperator, registered, standardOperators } from '../../../src/core/operator/registry.js';
import { Bug } from '../../../src/core/schema/failure.js';

const newton = standardOperators().get('NEWTON2')!;

it('an operator is looked up by its id, and by nothing else', () => {
  expect(['NEWTON2', 'newton2', 'toString', ''].map(findOperator)).toEqual([newton, undefined, undefined, undefined]);
});

it('operators are listed in the order of registration', () => {
  expect([...registered([newton, { ...newton, id: 'A1' }]).keys()]).toEqual(['NEWTON2', 'A1']);
});

it('the registry of the standard operators is made once', () => {
  expect(standardOperators()).toBe(standardOperators());
});

const [first, second, third] = newton.cases;
// biome-ignore format: one case a line
it.each<[string, Operator[], string]>([
  ['an id twice', [newton, newton], 'the operator id NEWTON2 is free'],
  ['an id in lower case', [{ ...newton, id: 'newton' }], 'the operator id "newton" is of upper-case letters and digits'],
  ['an empty id', [{ ...newton, id: '' }], 'the operator id "" is of upper-case letters and digits'],
  ['physics that was hardly ever looked up',
    [{ ...newton, cases: [first!, second!] }], 'the physics operator NEWTON2 has three reference cases'],
  ['a published value that is not reproduced', [{ ...newton, cases: [first!, second!, { ...third!, result: 4.4482 }] }],
    'NEWTON2 gives 4.4482216152605 for the reference case "NIST SP 811 (2008), appendix B.8: pound-force", published as 4.4482'],
  [
    'a reference case out of range',
    [{ ...newton, cases: [first!, second!, { ...third!, inputs: { m: 0, a: 1 } }] }],
    'NEWTON2 computes the reference case "NIST SP 811 (2008), appendix B.8: pound-force": The input m of NEWTON2 is 0, which does not lie between 1e-31 and 1e+42 kg.',
  ],
])('the registry refuses %s', (_name, operators, message) => {
  expect(() => registered(operators)).toThrow(new Bug(message));
});
