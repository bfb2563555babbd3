// Owns reading scenarios in tests: a scenario, or the faults for which it is refused.
import { Failure } from '../../src/core/failure.js';
import { standardOperators } from '../../src/core/operator/registry.js';
import { type LoadedScenario, parseScenario } from '../../src/scenario/load.js';

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
