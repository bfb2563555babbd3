// Owns reading scenarios in tests: a scenario, or the faults for which it is refused.

import { standardOperators } from '../../src/operator/registry.js';
import { type LoadedScenario, parseScenario } from '../../src/scenario/load.js';
import { Failure } from '../../src/schema/failure.js';

const operators = standardOperators();
export const findOperator = (id: string) => operators.get(id);

export const read = (text: string, path = 'scenario.yaml'): LoadedScenario => parseScenario(text, path, findOperator);

/** `line 3, column 7 (/pointer): message`, one a fault; nothing when the scenario is taken. */
export function refusalOf(text: string): string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
}
