// `weir simulate`: runs scenarios in virtual time, one after the other, each with its report.
import { join } from 'node:path';
import type { Argv } from 'yargs';
import type { WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { alignedTable } from '../report/terminal-text.js';
import { type LoadedScenario, loadScenario } from '../scenario/load-scenario.js';
import { Failure } from '../schema/failure.js';
import { type ActorState, actorStates } from '../simulate/actor-states.js';
import { replicate, withReplications } from '../simulate/replicate.js';
import { type Run, simulate } from '../simulate/simulate.js';
import type { GivenTo } from './command.js';
import { folderFor, printFindings } from './findings.js';
import { interruptible } from './interrupt.js';
import {
  checkSeed,
  checkTop,
  durationIn,
  jsonOption,
  outOption,
  reportOption,
  scenariosArgument,
  seedOption,
  topFlag,
  topOption,
} from './options.js';
import { Progress } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import { terminalAtHand } from './terminal.js';
import { TraceFile } from './trace-file.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', scenariosArgument)
    .option('seed', seedOption)
    .option('replications', {
      type: 'number',
      requiresArg: true,
      describe: 'number of runs, with successive seeds, on all cores',
    })
    .option('threads', {
      type: 'number',
      requiresArg: true,
      describe: 'threads for replications (default: one for each core)',
    })
    .option('inspect', {
      type: 'string',
      describe:
        'write every message between actors, and a sequence diagram: trace.ndjson and trace.mmd in the report folder, or the .ndjson file named',
    })
    // The former name of --inspect FILE.
    .option('trace', { type: 'string', requiresArg: true, hidden: true })
    .option('until', {
      type: 'string',
      requiresArg: true,
      describe: 'stop at the end of this cycle (120, or 93s from the start), and show what every actor is doing',
    })
    .option('out', outOption)
    .option('report', reportOption)
    .option('top', topOption)
    .option('json', jsonOption)
    .example('$0 simulate scenarios/burst.yaml', 'one scenario, with its report')
    .example('$0 simulate scenarios/*.yaml', 'all of them, in one table')
    .example('$0 simulate scenarios/day.yaml --replications 20', 'with 95 % intervals')
    .example('$0 simulate scenarios/herd.yaml --until 160 --inspect', 'what the actors send each other');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
  checkArguments(given);
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
  const left = scenarios.length - runs.length;
  if (left > 0) process.stderr.write(`weir: stopped; ${left} of ${scenarios.length} scenarios were not run.\n`);
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

function checkArguments(given: Given): void {
  const { scenario, inspect, trace = inspect, report, replications, threads, until, seed, top } = given;
  const refuse = (what: string, fix: string) => {
    throw new Failure('wrong_usage', { what, fix });
  };
  if (trace && scenario.length > 1)
    refuse('A trace in a file of its own takes one scenario at a time.', 'Name one scenario, or no file.');
  // `--inspect day.yaml` would otherwise write the trace over a scenario.
  if (inspect && !/\.(ndjson|jsonl)$/.test(inspect))
    refuse(`--inspect takes a file whose name ends with .ndjson, and not "${inspect}".`, 'Put --inspect at the end.');
  if (trace === '' && !report)
    refuse('--inspect writes into the report folder, and --no-report leaves it out.', 'Say --inspect trace.ndjson.');
  if (replications !== undefined && !(Number.isInteger(replications) && replications >= 2 && replications <= 100_000)) {
    refuse('--replications takes a whole number from 2 to 100000.', 'For example --replications 20.');
  }
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= 1024))
    refuse('--threads takes a whole number from 1 to 1024.', 'Leave it out for one a core.');
  if (replications !== undefined && until !== undefined)
    refuse('--until cannot be combined with --replications.', 'Shorten the duration of the scenario instead.');
  checkSeed(seed);
  checkTop(top);
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
