// Owns reading scenarios in tests: a scenario, or the faults for which it is refused.

import { type LoadedScenario, parseScenario } from '../../src/scenario/load-scenario.js';
import { Failure } from '../../src/schema/failure.js';

export const read = (text: string, path = 'scenario.yaml'): LoadedScenario => parseScenario(text, path);

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
