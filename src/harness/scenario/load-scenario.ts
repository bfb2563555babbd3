// Loads a scenario from a file, a text or an object.
import { Failure } from '../../core/schema/failure.js';
import { fileSource, readSource } from './file-source.js';
import type { LoadedScenario } from './loaded-scenario.js';
import { planScenario, type ScenarioObject } from './plan-scenario.js';

export type { LoadedScenario } from './loaded-scenario.js';
export type { ScenarioObject } from './plan-scenario.js';

/** @throws Failure `unreadable_file`, `invalid_yaml`, `invalid_input` with line and column of every fault, or those of `planContract` */
export async function loadScenario(path: string): Promise<LoadedScenario> {
  return planScenario(await readSource(path), fileSource(path));
}

/**
 * @param path names the scenario in outcomes and failures; logs are read from its folder
 * @throws Failure `invalid_yaml`, `invalid_input` with the place of every fault, or those of `planContract`
 */
export function parseScenario(source: string | ScenarioObject, path = 'scenario.yaml'): LoadedScenario {
  return planScenario(source, fileSource(path));
}

/** For untrusted objects: reads no files. @throws Failure as `parseScenario`; `invalid_input` for any other value */
export function parseSent(sent: unknown, path: string): LoadedScenario {
  if (typeof sent !== 'object' || sent === null)
    throw new Failure('invalid_input', {
      what: 'The scenario was not taken.',
      why: 'It is not an object.',
      fix: 'Send it as a value.',
    });
  return planScenario(sent as ScenarioObject, fileSource(path, false));
}
