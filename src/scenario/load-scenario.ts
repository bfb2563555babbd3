// Loads a scenario from a file, a text or an object.
import type { FindOperator } from '../operator/operator.js';
import { Failure } from '../schema/failure.js';
import { FileSource, NoFiles, readSource } from './file-source.js';
import type { LoadedScenario } from './loaded-scenario.js';
import { planScenario, type ScenarioObject } from './plan-scenario.js';

export type { LoadedScenario } from './loaded-scenario.js';
export type { ScenarioObject } from './plan-scenario.js';

/**
 * @param findOperator operators for definitions; default: the standard ones
 * @throws Failure `unreadable_file`, `invalid_yaml`, `invalid_input` with line and column of every fault, or those of `planContract`
 */
export async function loadScenario(path: string, findOperator?: FindOperator): Promise<LoadedScenario> {
  return planScenario(await readSource(path), new FileSource(path), findOperator);
}

/**
 * @param path names the scenario in outcomes and failures; logs are read from its folder
 * @param findOperator operators for definitions; default: the standard ones
 * @throws Failure `invalid_yaml`, `invalid_input` with the place of every fault, or those of `planContract`
 */
export function parseScenario(
  source: string | ScenarioObject,
  path = 'scenario.yaml',
  findOperator?: FindOperator,
): LoadedScenario {
  return planScenario(source, new FileSource(path), findOperator);
}

/** For untrusted objects: reads no files. @throws Failure as `parseScenario`; `invalid_input` for any other value */
export function parseSent(sent: unknown, path: string): LoadedScenario {
  if (typeof sent !== 'object' || sent === null)
    throw new Failure('invalid_input', {
      what: 'The scenario was not taken.',
      why: 'It is not an object.',
      fix: 'Send it as a value.',
    });
  return planScenario(sent as ScenarioObject, new NoFiles(path));
}
