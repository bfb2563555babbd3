// `weir sweep`: a scenario in many variants, and the value at which a condition begins to hold.
import { join } from 'node:path';
import type { Argv } from 'yargs';
import type { SweepFolder } from '../report/sweep-files.js';
import { Failure } from '../schema/failure.js';
import type { Found } from '../simulate/sweep/find.js';
import type { SweepPlan, SweepRow, SweepRun } from '../simulate/sweep/sweep.js';
import { CYCLE_MS } from '../time/cycle.js';
import type { GivenTo } from './command.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { checkSeed, jsonOption, outOption, reportOption, seedOption } from './options.js';
import { Progress } from './progress.js';
import { rerunCommand } from './rerun-command.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('scenario', { type: 'string', demandOption: true, describe: 'scenario file (YAML or JSON)' })
    .option('set', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'a field and its values: limiter.threshold=50..200:10, or a=1,2,3; several times for several fields',
    })
    .option('samples', {
      type: 'number',
      requiresArg: true,
      describe: 'draw so many cells instead of all combinations; ranges then need no step',
    })
    .option('sampling', {
      choices: ['latin', 'random'] as const,
      requiresArg: true,
      describe: 'how samples are drawn (default: latin, a Latin hypercube)',
    })
    .option('replications', { type: 'number', default: 1, requiresArg: true, describe: 'runs of each cell' })
    .option('threads', { type: 'number', requiresArg: true, describe: 'threads (default: one for each core)' })
    .option('seed', seedOption)
    .option('figure', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'figure to show, for example limited or clients.retries; several times for several',
    })
    .option('find', {
      type: 'string',
      requiresArg: true,
      describe: "search for the value at which this begins to hold, for example 'limited < 1%'",
    })
    .option('over', { type: 'string', requiresArg: true, describe: 'with --find: field and range that is searched' })
    .option('plan', { type: 'boolean', default: false, describe: 'print the cells, and run nothing' })
    .option('out', { ...outOption, describe: 'folder for the files (default: reports/<scenario>/sweep-<id>)' })
    .option('report', reportOption)
    .option('json', { ...jsonOption, describe: 'print a line of JSON for each cell' })
    .example('$0 sweep scenarios/burst.yaml --set limiter.threshold=50..200:10', 'one line, 16 cells')
    .example(
      '$0 sweep scenarios/shop.yaml --set limiter.threshold=20..60:10 --set limiter.within=30,60,120 --replications 20',
      'a heat map, with intervals',
    )
    .example("$0 sweep scenarios/day.yaml --find 'limited < 1%' --over limiter.threshold=50..500", 'by bisection')
    .epilogue('A sweep that was stopped goes on when the same command is given again.');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
  checkArguments(given);
  const { planSweep } = await import('../simulate/sweep/sweep.js');
  const { seed, replications, samples, sampling } = given;
  const plan = await planSweep(given.scenario, { set: given.set ?? [], samples, sampling }, { seed, replications });
  if (given.find !== undefined) await findAndPrint(plan, given, given.find);
  else if (given.plan) await printPlan(plan, given);
  else await sweepAndPrint(plan, given);
}

function checkArguments({ set = [], find, over, samples, sampling, threads, seed }: Given): void {
  const refuse = (what: string, fix: string) => {
    throw new Failure('wrong_usage', { what, fix });
  };
  if ((find === undefined) !== (over === undefined))
    refuse('--find and --over go together.', "For example --find 'limited < 1%' --over limiter.threshold=1..1000.");
  if (find === undefined && set.length === 0)
    refuse('Nothing is varied.', 'Name a field with its values: --set limiter.threshold=50..200:10.');
  if (sampling !== undefined && samples === undefined)
    refuse('--sampling says how samples are drawn, and there are none.', 'Add for example --samples 100.');
  if (threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= 1024))
    refuse('--threads takes a whole number from 1 to 1024.', 'Leave it out for one a core.');
  checkSeed(seed);
}

async function printPlan({ cells, axes, replications }: SweepPlan, { json }: Given): Promise<void> {
  if (json) {
    for (const cell of cells) process.stdout.write(`${JSON.stringify(cell)}\n`);
    return;
  }
  const { cellTable } = await import('../report/sweep-text.js');
  const { terminalAtHand } = await import('./terminal.js');
  const rows = cells.map((cell) => ({ ...cell, n: replications, held: null, held_share: null, figures: {} }));
  process.stdout.write(`${cellTable(axes, rows, [], terminalAtHand())}\n`);
  process.stdout.write(`${sizeWords({ cells, replications })}; nothing was run.\n`);
}

function sizeWords({ cells, replications }: Pick<SweepPlan, 'cells' | 'replications'>): string {
  const each = replications === 1 ? '1 run' : `${replications} runs`;
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} of ${each}`;
}

async function sweepAndPrint(plan: SweepPlan, given: Given): Promise<void> {
  const { runSweep } = await import('../simulate/sweep/sweep.js');
  const { flatRow, SweepFolder, sweepDigest } = await import('../report/sweep-files.js');
  const { signal, release } = interruptible();
  const path = given.out ?? join('reports', await folderName(plan.name), `sweep-${plan.id.slice(0, 8)}`);
  const folder = given.report ? new SweepFolder(path, plan) : undefined;
  const known = [...(folder?.known ?? [])];
  const all = plan.cells.length * plan.replications;
  if (known.length > 0) say(`${known.length} of ${all} runs are known from before.`);
  const runs = [...known];
  const keep = (run: SweepRun) => {
    folder?.add(run);
    runs.push(run);
  };
  const rows: SweepRow[] = [];
  try {
    if (!signal.aborted) await announce(plan, known, given, keep);
    const progress = new Progress(`sweep of ${plan.name}`);
    const onRun = (run: SweepRun) => {
      keep(run);
      progress.show(runs.length / all, `${runs.length} of ${all}`);
    };
    for await (const row of runSweep(plan, { threads: given.threads, signal, known: [...runs], onRun })) {
      rows.push(row);
      if (given.json) process.stdout.write(`${JSON.stringify(flatRow(row))}\n`);
    }
    progress.clear();
    release();
    if (rows.length < plan.cells.length) {
      process.exitCode = exitOfStop() ?? 1;
      const kept = folder === undefined ? '' : ` They are in ${folder.path}; the same command goes on with the others.`;
      say(`Stopped after ${runs.length} of ${all} runs.${kept}`);
      return;
    }
    const digest = folder?.finish(rows, runs) ?? sweepDigest(plan.name, rows);
    await show(plan, rows, digest, given, folder);
  } finally {
    folder?.close();
  }
}

/** The runs by which the time of a run is measured: the first ones are slow, since nothing is compiled yet. */
const MEASURED = 3;
const MEASURED_MS = 1_000;

/** Makes the first few runs to measure their time, and says how long all of them will take. */
async function announce(
  plan: SweepPlan,
  known: readonly SweepRun[],
  { threads }: Given,
  keep: (run: SweepRun) => void,
): Promise<void> {
  const [{ availableParallelism }, { firstRuns }, { WallClock }] = await Promise.all([
    import('node:os'),
    import('../simulate/sweep/sweep.js'),
    import('../time/wall.js'),
  ]);
  const clock = new WallClock(CYCLE_MS, { onError: () => {} });
  const startMs = clock.monotonicMs();
  let [made, lastMs, eachMs] = [0, startMs, 0];
  for await (const run of firstRuns(plan, known)) {
    keep(run);
    made += 1;
    eachMs = clock.monotonicMs() - lastMs;
    lastMs += eachMs;
    if (made === MEASURED || lastMs - startMs > MEASURED_MS) break;
  }
  const left = plan.cells.length * plan.replications - known.length - made;
  if (made === 0 || left === 0) return;
  const cores = Math.min(threads ?? availableParallelism(), left);
  const about = Math.max(1, Math.round((eachMs * left) / cores / 1000));
  const time = `about ${about} s on ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  say(
    `${plan.name}: ${sizeWords(plan)}, ${time}, if all take as long as the last of ${made}, ${Math.ceil(eachMs)} ms.`,
  );
}

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}

async function folderName(name: string): Promise<string> {
  const { safeName } = await import('../report/folder.js');
  return safeName(name);
}

async function show(
  plan: SweepPlan,
  rows: readonly SweepRow[],
  digest: string,
  given: Given,
  folder: SweepFolder | undefined,
): Promise<void> {
  const [{ cellTable, shownFigures }, { terminalAtHand }] = await Promise.all([
    import('../report/sweep-text.js'),
    import('./terminal.js'),
  ]);
  const figures = shownFigures(rows, given.figure);
  let page: string | undefined;
  if (folder !== undefined) {
    const { writeSweepReport } = await import('../report/sweep-report.js');
    page = await writeSweepReport(folder.path, { plan, rows, figures, digest, command: commandFor(given) });
  }
  if (given.json) return;
  process.stdout.write(`${cellTable(plan.axes, rows, figures, terminalAtHand())}\n\n${digest}\n`);
  if (page !== undefined) process.stdout.write(`\nopen it here: ${page}\n`);
}

function commandFor({ scenario, set, samples, sampling, replications, seed, figure }: Given): string {
  return rerunCommand('sweep', [scenario], {
    set,
    samples,
    sampling,
    replications: replications === 1 ? undefined : replications,
    seed,
    figure,
  });
}

async function findAndPrint(plan: SweepPlan, given: Given, condition: string): Promise<void> {
  const [{ findValues }, { foundText }, { terminalAtHand }] = await Promise.all([
    import('../simulate/sweep/find.js'),
    import('../report/sweep-text.js'),
    import('./terminal.js'),
  ]);
  const { signal, release } = interruptible();
  const progress = new Progress(`search of ${plan.name}`);
  let done = 0;
  progress.show(0);
  const answers: Found['answer'][] = [];
  const find = { condition, over: given.over! };
  for await (const found of findValues(plan, find, { threads: given.threads, signal })) {
    done += 1;
    progress.show(done / plan.cells.length, `${done} of ${plan.cells.length}`);
    progress.clear();
    answers.push(found.answer);
    const text = given.json ? JSON.stringify(found) : foundText(found, condition, terminalAtHand());
    process.stdout.write(`${text}\n`);
  }
  progress.clear();
  release();
  // A value was asked for: without one the question is not answered.
  const isAnswered = answers.every((answer) => answer === 'smallest' || answer === 'largest');
  process.exitCode = exitOfStop() ?? (isAnswered ? 0 : 1);
}
