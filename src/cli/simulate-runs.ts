// The runs of `weir simulate`: one scenario after the other, each with its report.
import { join } from 'node:path';
import type { RuleDefinition } from '../limiter/rule/definition.js';
import type { Seed } from '../math/random.js';
import type { WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { percent } from '../report/sizing-text.js';
import { alignedTable } from '../report/terminal-text.js';
import { duration, number as plainNumber } from '../report/words.js';
import { type LoadedScenario, loadScenario } from '../scenario/load-scenario.js';
import { type ActorState, actorStates } from '../simulate/actor-states.js';
import { replicate, runReplication, withReplications } from '../simulate/replicate.js';
import { type Run, simulate } from '../simulate/simulate.js';
import { playedBurst } from '../sizing/worst-burst.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import { durationIn, topFlag } from './options.js';
import { Progress } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import type { GivenToSimulate as Given } from './simulate.js';
import { table, terminalAtHand } from './terminal.js';
import { TraceFile } from './trace-file.js';

export async function simulateRuns(given: Given): Promise<void> {
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
    const run = { ...(await runOne(path, scenario, given, signal, tracer)), command: commandFor(path, given) };
    runs.push(run);
    reports.push(await folder?.write(run, tracer?.files));
  }
  release();
  printFindings(runs, reports, given);
  if (!given.json)
    for (const [, scenario] of scenarios) await printCompared(scenario, given.seed ?? scenario.seed, signal);
  const left = scenarios.length - runs.length;
  if (left > 0) process.stderr.write(`weir: stopped; ${left} of ${scenarios.length} scenarios were not run.\n`);
}

/** Figures of the table of other rules, by their names; a column is left out if no run has it. */
const comparedFigures = {
  limited: 'limited',
  'clients.retries': 'retries',
  'clients.goodput_per_second': 'goodput/s',
  'service.wasted': 'served for nobody',
  'service.refused': 'refused by the service',
} as const;

/** The same scenario and seed with each of the rules that it compares with, its own limiter first. */
async function printCompared(scenario: LoadedScenario, seed: Seed, signal: AbortSignal): Promise<void> {
  const { compared, name, within, cycleMs } = scenario;
  if (compared.length === 0) return;
  const all = [{ rule: 'this limiter', definition: undefined, scenario }, ...compared];
  const runs: [string, RuleDefinition | undefined, Readonly<Record<string, number>>][] = [];
  for (const { rule, definition, scenario: one } of all) {
    if (signal.aborted) return;
    runs.push([rule, definition, (await runReplication(one, seed)).figures]);
  }
  const shown = Object.entries(comparedFigures).filter(([figure]) => runs.some(([, , figures]) => figure in figures));
  const heads = ['rule', ...shown.map(([, title]) => title), 'share', 'limiting', 'most in 1 s'];
  const rows = runs.map(([rule, definition, figures]) => [
    rule,
    ...shown.map(([figure]) => (figures[figure] === undefined ? '-' : plainNumber(figures[figure]))),
    percent(figures['requests'] === 0 ? 0 : figures['limited']! / figures['requests']!),
    duration(figures['limiting_cycles']! * cycleMs),
    definition === undefined ? '-' : playedBurst(definition, within * cycleMs, 1000),
  ]);
  process.stdout.write(`\n${name} with other rules, fitted to the same rate:\n${table(heads, rows)}\n`);
  process.stdout.write('most in 1 s: what one contract can get through if it plays to the rule.\n');
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
): Promise<Run> {
  const progress = new Progress(scenario.name);
  let states: (() => ActorState[]) | undefined;
  const run = await simulate(scenario, {
    signal,
    top: given.top,
    ...(given.seed === undefined ? {} : { seed: given.seed }),
    ...(given.until === undefined ? {} : { untilCycle: durationIn('until', given.until, scenario.cycleMs) }),
    ...(tracer === undefined ? {} : { inspect: tracer.trace.inspect }),
    onProgress: (cycle, last) =>
      progress.show(
        (cycle - scenario.startCycle) / Math.max(1, last - scenario.startCycle),
        `cycle ${cycle - scenario.startCycle}`,
      ),
    onWorld: (world, clients) => {
      tracer?.trace.follow(world, clients);
      states = () => actorStates(world, clients);
    },
  });
  progress.clear();
  tracer?.close();
  if (given.until !== undefined && !given.json) process.stdout.write(`${actorTable(states?.() ?? [])}\n`);
  if (given.replications === undefined || signal.aborted) return run;
  return replicated(path, run, given, signal);
}

async function replicated(path: string, run: Run, given: Given, signal: AbortSignal): Promise<Run> {
  const { outcome } = run;
  const progress = new Progress(`${outcome.scenario} replications`);
  const found = await replicate(path, {
    seed: outcome.seed,
    n: given.replications ?? 0,
    signal,
    ...(given.threads === undefined ? {} : { threads: given.threads }),
    onProgress: (done, n) => progress.show(done / n, `${done} of ${n}`),
  });
  progress.clear();
  if (found === undefined) return run;
  const { band } = found;
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
