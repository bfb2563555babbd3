// Registers an operator for the tests of one file.
import { afterAll, beforeAll } from 'vitest';
import { ko42 } from '../../../src/core/operator/ko42.js';
import type { Operator } from '../../../src/core/operator/operator.js';
import { standardOperators } from '../../../src/core/operator/registry.js';

export function registered(operator: Operator): void {
  const operators = standardOperators() as Map<string, Operator>;
  beforeAll(() => void operators.set(operator.id, operator));
  afterAll(() => void operators.delete(operator.id));
}

/** The operator `STUBBORN` for the tests of one file, which refuses in some cycles. */
export function stubborn(refusesIn: (cycle: number) => boolean): void {
  registered({
    ...{ ...ko42, id: 'STUBBORN', kind: 'physics' },
    compute: ({ cycle = 0 }) => (refusesIn(cycle) ? Number.NaN : 1),
    prove: () => ({ method: '', witness: {}, residual: 0, tolerance: 0 }),
    verify: () => true,
  });
}
