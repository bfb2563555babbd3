// One thread of replicate.ts and of a sweep: runs scenarios under the seeds it is given.
import { type LoadedScenario, loadScenario, parseScenario, type ScenarioObject } from '../scenario/load-scenario.js';
import { type Replicate, type ReplicationTask, runReplication } from './replicate.js';

/** The last few: the runs of a cell come one after the other. */
const loaded = new Map<string, LoadedScenario>();
const MOST_LOADED = 8;

export default async function replication({ path, cell, seed }: ReplicationTask): Promise<Replicate> {
  const key = cell === undefined ? path : `${path}#${cell.cell}`;
  let scenario = loaded.get(key);
  if (scenario === undefined) {
    scenario = cell === undefined ? await loadScenario(path) : parseScenario(cell.scenario as ScenarioObject, path);
    loaded.set(key, scenario);
    if (loaded.size > MOST_LOADED) loaded.delete(loaded.keys().next().value!);
  }
  return runReplication(scenario, seed, cell === undefined);
}
