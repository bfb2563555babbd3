// One thread of a pool of runs.
import {
  type LoadedScenario,
  parseScenario,
  parseSent,
  type ScenarioObject,
} from '../harness/scenario/load-scenario.js';
import { type Replicate, type ReplicationTask, runReplication } from '../harness/simulate/replication.js';
import { addTools } from '../tools.js';

addTools();

/** The last few: runs of a cell are consecutive. */
const loaded = new Map<string, LoadedScenario>();
const MOST_LOADED = 8;

export default function replication({
  path,
  scenario: value,
  seed,
  isSent,
  withPeaks,
}: ReplicationTask): Promise<Replicate> {
  const key = `${isSent === true} ${path} ${JSON.stringify(value)}`;
  let scenario = loaded.get(key);
  if (scenario === undefined) {
    scenario = isSent === true ? parseSent(value, path) : parseScenario(value as ScenarioObject, path);
    loaded.set(key, scenario);
    if (loaded.size > MOST_LOADED) loaded.delete(loaded.keys().next().value!);
  }
  return runReplication(scenario, seed, withPeaks);
}
