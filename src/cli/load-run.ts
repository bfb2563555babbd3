// Owns the doing of `weir load`: scenarios against a live target one after the other, a line for each cycle while they run.

import { load, mintKey } from '../live/load.js';
import type { WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { type LoadedScenario, loadScenario } from '../scenario/load.js';
import { CycleLines } from './cycle-lines.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { liveOptionsOf } from './live-options.js';
import type { LoadArguments } from './load.js';
import { checkSeed, checkTop, topFlag } from './options.js';
import { commandAgain } from './rerun-command.js';
import { checkSpelling } from './spelling.js';

export async function runLoads(given: LoadArguments): Promise<void> {
  checkSpelling(given, ['scenario']);
  checkSeed(given.seed);
  checkTop(given.top);
  const scenarios: [path: string, scenario: LoadedScenario][] = [];
  for (const path of given.scenario) scenarios.push([path, await loadScenario(path)]);
  const { signal, release } = interruptible();
  const live = { ...liveOptionsOf(given), signal };
  const sharesKey =
    live.url !== undefined &&
    live.key === undefined &&
    scenarios.filter(([, { target }]) => target === undefined).length > 1;
  const common = sharesKey ? { ...live, key: await mintKey(live) } : live;
  const runs: Reported[] = [];
  const reports: (WrittenReport | undefined)[] = [];
  for (const [path, scenario] of scenarios) {
    if (signal.aborted) break;
    const seed = given.seed ?? scenario.seed;
    const folder = await folderFor(given, {
      scenario: `${scenario.name}-live`,
      id: String(seed),
      ofSeveral: scenarios.length > 1,
    });
    const lines = new CycleLines(scenario.name);
    const options = { ...common, seed, top: given.top, onCycle: lines.tell };
    const { observed, predicted, series } = await load(
      scenario,
      given.pacing === undefined ? options : { ...options, pacing: given.pacing },
    );
    lines.clear();
    const { timeline } = predicted;
    const run = {
      ...observed,
      ...(timeline === undefined ? {} : { predicted: timeline }),
      series,
      command: commandFor(path, given),
    };
    runs.push(run);
    reports.push(await folder?.write(run));
  }
  release();
  printFindings(runs, reports, given);
}

function commandFor(path: string, given: LoadArguments): string {
  const { url, cycleMs, seed, pacing, timeout, connections, allowRemote, top } = given;
  return commandAgain('load', [path], {
    url,
    'cycle-ms': cycleMs,
    seed,
    pacing,
    timeout,
    connections,
    'allow-remote': allowRemote,
    ...topFlag(top),
  });
}
