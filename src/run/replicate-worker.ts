// Owns one thread of replicate.ts: runs a scenario file under the seeds it is given.
import { standardOperators } from '../core/operator/registry.js';
import { type LoadedScenario, loadScenario } from '../scenario/load.js';
import { type FigureList, figureList, type ReplicationTask } from './replicate.js';
import { simulate } from './simulate.js';

const operators = standardOperators();
const findOperator = (id: string) => operators.get(id);
const loaded = new Map<string, LoadedScenario>();

export default async function replications({ path, seeds }: ReplicationTask): Promise<FigureList[]> {
  const scenario = loaded.get(path) ?? (await loadScenario(path, findOperator));
  loaded.set(path, scenario);
  const figures: FigureList[] = [];
  for (const seed of seeds)
    figures.push(figureList((await simulate(scenario, { findOperator, seed, top: 0 })).outcome));
  return figures;
}
