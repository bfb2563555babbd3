// The runs of `weir load`: one scenario after the other, with a line for each cycle.
import { setFlagsFromString } from 'node:v8';
import type { CycleLine } from '../live/live-session.js';
import { type LiveOptions, load, mintKey } from '../live/load.js';
import type { WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { readDocument } from '../scenario/document.js';
import { readSource } from '../scenario/file-source.js';
import { type LoadedScenario, loadScenario } from '../scenario/load-scenario.js';
import { usageFailure } from './ending.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import type { GivenToLoad as Given } from './load.js';
import { topFlag, watchOf } from './options.js';
import { CycleLines, progressOut } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import type { Watch } from './watch.js';

export async function loadRuns(given: Given, options: LiveOptions): Promise<void> {
  const watch = await watchOf(given.watch);
  try {
    await watchedRuns(given, options, watch);
  } finally {
    // A run that failed is shown no longer.
    await watch?.end();
  }
}

async function watchedRuns(given: Given, options: LiveOptions, watch: Watch | undefined): Promise<void> {
  // While answers are slow, requests live long; V8 then allocates all of their kind in old space, where they stay until the next full
  // collection: 3 kB a request, and eight pauses of 10 ms a second. Without that guess it pauses for 3 ms. For this process only, which
  // is the command's own: a library may not set flags.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const scenarios: [path: string, scenario: LoadedScenario][] = [];
  for (const path of given.scenario) scenarios.push([path, await loadScenario(path)]);
  checkEffects(
    given,
    scenarios.map(([, scenario]) => scenario),
  );
  const { signal, release } = interruptible();
  const live = { ...options, signal };
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
    const lines = new CycleLines(scenario.name, progressOut(given.watch));
    const watched = watch?.runOf(scenario.at(live.cycleMs ?? scenario.cycleMs), { kind: 'load', seed });
    if (watched !== undefined) {
      // A log, or a service that only the model has: the run itself says why it cannot be.
      await watched.predict().catch(() => {});
      watch?.begin(watched);
    }
    const onCycle = (line: CycleLine) => {
      lines.show(line);
      watched?.line(line);
      watch?.changed();
    };
    const workers =
      given.workers === undefined ? {} : { workers: { redis: given.workers, scenario: await documentOf(path) } };
    const asked = { ...common, ...workers, seed, top: given.top, onCycle };
    const { observed, predicted, series } = await load(
      scenario,
      given.pacing === undefined ? asked : { ...asked, pacing: given.pacing },
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
  await watch?.end(reports.at(-1)?.page);
  release();
  printFindings(runs, reports, given);
}

/** Which options have an effect depends on the scenarios, too. @throws Failure `wrong_usage` */
function checkEffects(given: Given, scenarios: readonly LoadedScenario[]): void {
  const isOfNode = given.url !== undefined && scenarios.some(({ target }) => target === undefined);
  const isSentElsewhere = given.url !== undefined || scenarios.some(({ target }) => target?.url !== undefined);
  const refuse = (option: string, why: string) => {
    throw usageFailure(`--${option} has no effect: ${why}.`, `Leave --${option} out.`);
  };
  for (const option of ['credential', 'key'] as const)
    if (given[option] !== undefined && !isOfNode)
      refuse(option, 'a node that is started here mints a key, and no other target takes one');
  const sent = { 'allow-remote': given.allowRemote, insecure: given.insecure };
  for (const [option, value] of Object.entries(sent))
    if (value && !isSentElsewhere) refuse(option, 'the node is started on this machine; --url names another one');
  if (given.pacing !== undefined && scenarios.every(({ clients }) => clients.length > 0))
    refuse('pacing', 'clients decide themselves when they send');
}

async function documentOf(path: string): Promise<unknown> {
  return readDocument(await readSource(path), path).value;
}

function commandFor(path: string, given: Given): string {
  const { url, cycleMs, seed, pacing, timeout, connections, allowRemote, insecure, top } = given;
  return rerunCommand('load', [path], {
    url,
    'cycle-ms': cycleMs,
    seed,
    pacing,
    timeout,
    connections,
    'allow-remote': allowRemote,
    insecure,
    ...topFlag(top),
  });
}
