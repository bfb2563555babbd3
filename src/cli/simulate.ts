// `weir simulate`: runs scenarios in virtual time, each with its report.
import { join } from 'node:path';
import type { CycleRow } from '../harness/outcome/cycle-row.js';
import type { LoadedScenario } from '../harness/scenario/loaded-scenario.js';
import type { ActorState, Run, SimulatedRun } from '../harness/simulate/simulate.js';
import type { Table } from '../report/block.js';
import { command, type GivenTo, perhaps, text, whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { durationIn, jsonOf, NONE, out, runPlace, scenarios, seed, top, workers } from '../report/command/options.js';
import { Progress } from '../report/command/progress.js';
import { say } from '../report/command/say.js';
import { terminalAtHand } from '../report/command/terminal.js';
import { blocksText } from '../report/terminal-blocks.js';
import type { RunSetting } from './runs.js';
import type { TraceFile } from './trace-file.js';

const options = {
  scenario: scenarios,
  seed,
  replications: whole(2, 100_000, 'number of runs on all cores: with the seed, then with seed/1, seed/2, …'),
  workers: { ...workers, needs: 'replications' },
  inspect: perhaps(
    { value: '', fits: /\.(ndjson|jsonl)$/ },
    'a file whose name ends with .ndjson',
    "write every message between actors, a sequence diagram, and the same for Stately's inspector: trace.ndjson, trace.mmd and trace.stately.ndjson in the report folder, or beside the .ndjson file named",
    { local: true },
  ),
  for: text('stop after this time (120 cycles, or 93s), and show what every actor is doing', {
    without: ['replications'],
  }),
  log: text('file for the requests as a combined log; - for standard output, and nothing is simulated', {
    local: true,
    writes: true,
  }),
  out,
  top,
  json: jsonOf('outcome', ', of several scenarios in an array'),
};

type Given = GivenTo<typeof options>;

export const simulate = command({
  options,
  examples: [
    ['simulate scenarios/burst.yaml', 'one scenario, with its report'],
    ['simulate scenarios/*.yaml', 'all of them, in one table'],
    ['simulate scenarios/day.yaml --replications 20', 'with 95 % intervals'],
    ['simulate scenarios/day.yaml --replications 2000 --workers redis://10.0.0.1', 'on many machines'],
    ['simulate scenarios/herd.yaml --for 160 --inspect', 'what the actors send each other'],
    ['simulate scenarios/many-tenants.yaml --log - | weir replay - --key client', 'a log to try other tools with'],
  ],
  run: async (given, line) => {
    if (given.inspect && given.scenario.length > 1)
      throw usageFailure(
        'A trace in a file of its own takes one scenario at a time.',
        'Name one scenario, or no file.',
      );
    if (given.inspect === '' && given.out === NONE)
      throw usageFailure(
        '--inspect writes into the report folder, and --out none leaves it out.',
        'Say --inspect trace.ndjson.',
      );
    const beside = ['replications', 'inspect', 'for', 'out', 'top', 'json'].find((option) => line.has(option));
    if (given.log === '-' && beside !== undefined)
      throw usageFailure(`--${beside} has no effect with --log -.`, 'Name a file with --log to simulate, too.');
    if (given.log !== undefined && (await writeLog(given, given.log))) return;
    const [{ loadScenario }, { runAll }] = await Promise.all([
      import('../harness/scenario/load-scenario.js'),
      import('./runs.js'),
    ]);
    // Reads all files before the first run, so that a misspelt path fails immediately.
    const all = [];
    for (const path of given.scenario) all.push({ path, scenario: await loadScenario(path) });
    await runAll(given, line, all, async ({ scenario }, place) => {
      const tracer = await tracerFor(given, place.folder?.path);
      const run = await simulateOne(scenario, { given, ...place }, tracer);
      return { run: await withCompared(run, scenario, given, place.signal), ...(tracer && { files: tracer.files }) };
    });
  },
});

async function writeLog({ scenario: paths, seed }: Given, log: string): Promise<boolean> {
  const [path, ...others] = paths;
  if (others.length > 0) throw usageFailure('--log takes one scenario at a time.', 'Name one scenario.');
  const [{ loadScenario }, { writeRequestLog }] = await Promise.all([
    import('../harness/scenario/load-scenario.js'),
    import('./request-log.js'),
  ]);
  await writeRequestLog(log, await loadScenario(path!), seed);
  return log === '-';
}

async function withCompared(run: Run, scenario: LoadedScenario, given: Given, signal: AbortSignal): Promise<Run> {
  const { compareScenario } = await import('../harness/simulate/compare-scenario.js');
  const progress = new Progress(scenario.name);
  const onRule = (rule: string, index: number, rules: number) => progress.show(index / rules, `with ${rule}`);
  const untilCycle = lastCycleOf(given, scenario);
  const compared = await compareScenario(scenario, run.outcome.seed, { signal, onRule, untilCycle });
  return compared === undefined ? run : { ...run, outcome: { ...run.outcome, compared } };
}

function lastCycleOf({ for: text }: Given, { cycleMs }: LoadedScenario): number | undefined {
  return text === undefined ? undefined : durationIn('for', text, cycleMs, 1) - 1;
}

async function tracerFor({ inspect }: Given, folder: string | undefined): Promise<TraceFile | undefined> {
  const path = inspect === '' && folder !== undefined ? join(folder, 'trace.ndjson') : inspect;
  return path === undefined ? undefined : new (await import('./trace-file.js')).TraceFile(path);
}

type Under = RunSetting & { readonly given: Given };

async function simulateOne(scenario: LoadedScenario, under: Under, tracer?: TraceFile): Promise<Run> {
  const [{ followRows }, { simulate$, toRun }] = await Promise.all([
    import('./runs.js'),
    import('../harness/simulate/simulate.js'),
  ]);
  const { given, signal } = under;
  const seed = given.seed ?? scenario.seed;
  const progress = new Progress(scenario.name);
  let states: (() => ActorState[]) | undefined;
  const rows = simulate$(scenario, {
    signal,
    seed,
    untilCycle: lastCycleOf(given, scenario),
    inspect: tracer?.inspect,
  });
  const show = (row: CycleRow<SimulatedRun>) => {
    const { firstCycle, lastCycle, actors } = row.run;
    states = actors;
    const done = row.cycle - firstCycle;
    progress.show(done / Math.max(1, lastCycle - firstCycle), () => `cycle ${done}`);
  };
  const { run } = await followRows(rows, show, toRun(scenario, { seed, top: given.top }));
  tracer?.close();
  if (given.for !== undefined && !given.json) say(`${actorTable(states?.() ?? [])}\n\n`);
  return given.replications === undefined ? run : withReplicated(scenario, run, under);
}

async function withReplicated(scenario: LoadedScenario, run: Run, { given, signal }: Under): Promise<Run> {
  const { replicate, withReplications } = await import('../harness/simulate/replicate.js');
  const { outcome } = run;
  const progress = new Progress(`${outcome.scenario} replications`);
  const found = await replicate(scenario, {
    seed: outcome.seed,
    n: given.replications ?? 0,
    signal,
    ...runPlace(given),
    onProgress: (done, n) => progress.show(done / n, `${done} of ${n}`),
  });
  const band = found?.band;
  return {
    ...run,
    outcome: withReplications(outcome, found, given.replications ?? 0),
    ...(band === undefined ? {} : { series: { ...(run.series ?? { cycle: [] }), band } }),
  };
}

const MOST_ACTORS = 40;

function actorTable(states: readonly ActorState[]): string {
  const table: Table = {
    kind: 'table',
    columns: ['actor', 'state', 'waits for'],
    rows: states.slice(0, MOST_ACTORS).map(({ actor, state, waiting }) => [actor, state, waiting]),
    total: states.length,
    more: 'actors',
  };
  return blocksText([table], terminalAtHand());
}
