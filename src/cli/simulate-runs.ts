// The runs of `weir simulate`: one scenario after the other, each with its report.
import { join } from 'node:path';
import type { Outcome } from '../outcome/outcome-schema.js';
import type { WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { ruleTable } from '../report/rules-text.js';
import { alignedTable } from '../report/terminal-text.js';
import { type LoadedScenario, loadScenario } from '../scenario/load-scenario.js';
import { type ActorState, actorStates } from '../simulate/actor-states.js';
import { replicate, withReplications } from '../simulate/replicate.js';
import { type Run, simulate } from '../simulate/simulate.js';
import { compareScenario } from '../sizing/compare-scenario.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { durationIn, runPlace, topFlag, watchOf } from './options.js';
import { Progress, progressOut } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import { say, warn } from './say.js';
import type { GivenToSimulate as Given } from './simulate.js';
import { table, terminalAtHand } from './terminal.js';
import { TraceFile } from './trace-file.js';
import type { Watch } from './watch.js';

export async function simulateRuns(given: Given): Promise<void> {
  const watch = await watchOf(given.watch);
  try {
    await watchedRuns(given, watch);
  } finally {
    // A run that failed is shown no longer.
    await watch?.end();
  }
}

async function watchedRuns(given: Given, watch: Watch | undefined): Promise<void> {
  // All files are read before the first run, so that a misspelt path fails immediately.
  const scenarios: [path: string, scenario: LoadedScenario][] = [];
  for (const path of given.scenario) scenarios.push([path, await loadScenario(path)]);
  const { signal, release } = interruptible();
  const runs: Reported[] = [];
  const reports: (WrittenReport | undefined)[] = [];
  for (const [path, scenario] of scenarios) {
    if (signal.aborted) break;
    const place = { scenario: placeOf(scenario, scenarios), id: String(given.seed ?? scenario.seed) };
    const folder = await folderFor(given, { ...place, ofSeveral: scenarios.length > 1 });
    const tracer = tracerFor(given, folder?.path);
    const alone = await runOne(path, scenario, given, signal, tracer, watch);
    const run = { ...(await withCompared(alone, scenario, given, signal)), command: commandFor(path, given) };
    runs.push(run);
    reports.push(await folder?.write(run, tracer?.files));
  }
  await watch?.end(reports.at(-1)?.page);
  release();
  printFindings(runs, reports, given);
  if (!given.json) for (const { outcome } of runs) say(comparedText(outcome));
  const left = scenarios.length - runs.length;
  if (left > 0) warn(`weir: stopped; ${left} of ${scenarios.length} scenarios were not run.\n`);
}

/** The run with those of the rules that its scenario compares with. */
async function withCompared(run: Run, scenario: LoadedScenario, { until }: Given, signal: AbortSignal): Promise<Run> {
  const progress = new Progress(scenario.name);
  const onRule = (rule: string, index: number, rules: number) => progress.show(index / rules, `with ${rule}`);
  const untilCycle = until === undefined ? undefined : durationIn('until', until, scenario.cycleMs);
  const compared = await compareScenario(scenario, run.outcome.seed, { signal, onRule, untilCycle });
  progress.clear();
  return compared === undefined ? run : { ...run, outcome: { ...run.outcome, compared } };
}

function comparedText({ scenario, compared }: Outcome): string {
  if (compared === undefined) return '';
  const { heads, rows, legend } = ruleTable(compared.rules);
  return `\n${scenario} with other rules, fitted to the same rate:\n${table(heads, rows)}\n\n${legend}\n`;
}

function commandFor(path: string, { seed, until, replications, top }: Given): string {
  return rerunCommand('simulate', [path], { seed, until, replications, ...topFlag(top) });
}

/** The name of the scenario, with a number if several scenarios have that name, so that no report replaces another. */
function placeOf(
  scenario: LoadedScenario,
  all: readonly (readonly [path: string, scenario: LoadedScenario])[],
): string {
  const namesakes = all.filter(([, { name }]) => name === scenario.name);
  const number = namesakes.findIndex(([, one]) => one === scenario) + 1;
  return number > 1 ? `${scenario.name}-${number}` : scenario.name;
}

/** The file of the trace, if one is asked for: the one that is named, else one in the folder of the report. */
function tracerFor({ inspect, trace }: Given, folder: string | undefined): TraceFile | undefined {
  const path = trace ?? (inspect === '' && folder !== undefined ? join(folder, 'trace.ndjson') : inspect);
  return path === undefined ? undefined : new TraceFile(path);
}

async function runOne(
  path: string,
  scenario: LoadedScenario,
  given: Given,
  signal: AbortSignal,
  tracer: TraceFile | undefined,
  watch: Watch | undefined,
): Promise<Run> {
  const watched = watch?.runOf(scenario, { kind: 'simulate', seed: given.seed ?? scenario.seed });
  if (watched !== undefined) watch?.begin(watched);
  const progress = new Progress(scenario.name, progressOut(given.watch));
  let states: (() => ActorState[]) | undefined;
  const run = await simulate(scenario, {
    signal,
    top: given.top,
    ...(given.seed === undefined ? {} : { seed: given.seed }),
    ...(given.until === undefined ? {} : { untilCycle: durationIn('until', given.until, scenario.cycleMs) }),
    ...(tracer === undefined ? {} : { inspect: tracer.trace.inspect }),
    onProgress: (cycle, last) => {
      watch?.changed();
      progress.show(
        (cycle - scenario.startCycle) / Math.max(1, last - scenario.startCycle),
        `cycle ${cycle - scenario.startCycle}`,
      );
    },
    onWorld: (world, clients) => {
      if (watched !== undefined) world.rows.subscribe(watched.next);
      tracer?.trace.follow(world, clients);
      states = () => actorStates(world, clients);
    },
  });
  progress.clear();
  tracer?.close();
  if (given.until !== undefined && !given.json) say(`${actorTable(states?.() ?? [])}\n`);
  return given.replications === undefined
    ? run
    : replicated(path, run, given, signal, (done, n) => {
        watched?.part(done / n, [['runs', `${done} of ${n}`]]);
        watch?.changed();
      });
}

async function replicated(
  path: string,
  run: Run,
  given: Given,
  signal: AbortSignal,
  onRun: (done: number, n: number) => void,
): Promise<Run> {
  const { outcome } = run;
  const progress = new Progress(`${outcome.scenario} replications`, progressOut(given.watch));
  const found = await replicate(path, {
    seed: outcome.seed,
    n: given.replications ?? 0,
    signal,
    ...runPlace(given),
    onProgress: (done, n) => {
      onRun(done, n);
      progress.show(done / n, `${done} of ${n}`);
    },
  });
  progress.clear();
  const band = found?.band;
  return {
    ...run,
    outcome: withReplications(outcome, found, given.replications ?? 0),
    ...(band === undefined ? {} : { series: { ...(run.series ?? { cycle: [] }), band } }),
  };
}

/** Actors that are shown one by one; of more only the number is shown. */
const MOST_ACTORS = 40;

function actorTable(states: readonly ActorState[]): string {
  const columns = [{ title: 'actor' }, { title: 'state' }, { title: 'waits for' }];
  const rows = states.slice(0, MOST_ACTORS).map(({ actor, state, waiting }) => [actor, state, waiting]);
  const more = states.length > MOST_ACTORS ? [`and ${states.length - MOST_ACTORS} more actors`] : [];
  return [...alignedTable(columns, rows, terminalAtHand().columns), ...more, ''].join('\n');
}
