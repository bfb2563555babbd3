// One thread of replicate.ts: runs a scenario file under the seeds it is given.
import { type LoadedScenario, loadScenario } from '../scenario/load-scenario.js';
import { stretchPeaks } from './band.js';
import { figureList, type Replicate, type ReplicationTask } from './replicate.js';
import { simulate } from './simulate.js';

const loaded = new Map<string, LoadedScenario>();

export default async function replications({ path, seeds }: ReplicationTask): Promise<Replicate[]> {
  const scenario = loaded.get(path) ?? (await loadScenario(path));
  loaded.set(path, scenario);
  const runs: Replicate[] = [];
  for (const seed of seeds) {
    const { outcome, timeline } = await simulate(scenario, { seed, top: 0 });
    const span = { first: outcome.first_cycle ?? 0, last: outcome.last_cycle ?? 0 };
    const held = outcome.expectations.map((expectation) => expectation.held);
    const told = { seed, held, figures: figureList(outcome), span, contracts: outcome.contracts };
    runs.push(
      timeline === undefined || outcome.contracts > 1 ? told : { ...told, peaks: stretchPeaks(timeline, span) },
    );
  }
  return runs;
}
