// Registers an operator for the tests of one file.
import { afterAll, beforeAll } from 'vitest';
import type { Operator } from '../../src/operator/operator.js';
import { standardOperators } from '../../src/operator/registry.js';

export function registered(operator: Operator): void {
  const operators = standardOperators() as Map<string, Operator>;
  beforeAll(() => void operators.set(operator.id, operator));
  afterAll(() => void operators.delete(operator.id));
}
