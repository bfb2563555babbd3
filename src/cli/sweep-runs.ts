// The sweeps of `weir sweep`: plan, runs, files, table; and the search for a value.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { safeName } from '../report/folder.js';
import { flatRow, SweepFolder, sweepDigest } from '../report/sweep-files.js';
import { writeSweepReport } from '../report/sweep-report.js';
import { cellTable, foundText, shownFigures } from '../report/sweep-text.js';
import { type Found, findValues } from '../simulate/sweep/find.js';
import { planSweep, type SweepPlan } from '../simulate/sweep/plan-sweep.js';
import { runSweep, type SweepRow, type SweepRun } from '../simulate/sweep/sweep.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { runPlace, watchOf } from './options.js';
import { Progress, progressOut } from './progress.js';
import { rerunCommand } from './rerun-command.js';
import { say, warn } from './say.js';
import type { GivenToSweep } from './sweep.js';
import { terminalAtHand } from './terminal.js';
import type { Watch } from './watch.js';
import type { WatchedSweep } from './watched-sweep.js';

export async function sweepRuns(given: GivenToSweep): Promise<void> {
  const { seed, replications, samples, sampling } = given;
  const plan = await planSweep(given.scenario, { set: given.set ?? [], samples, sampling }, { seed, replications });
  if (given.find !== undefined) await findAndPrint(plan, given, given.find);
  else if (given.plan) printPlan(plan, given);
  else await sweepAndPrint(plan, given);
}

function printPlan({ cells, axes, replications }: SweepPlan, { json }: GivenToSweep): void {
  if (json) {
    for (const cell of cells) say(`${JSON.stringify(cell)}\n`);
    return;
  }
  const rows = cells.map((cell) => ({ ...cell, n: replications, held: null, held_share: null, figures: {} }));
  say(`${cellTable(axes, rows, [], terminalAtHand())}\n`);
  say(`${sizeWords({ cells, replications })}; nothing was run.\n`);
}

function sizeWords({ cells, replications }: Pick<SweepPlan, 'cells' | 'replications'>): string {
  const each = replications === 1 ? '1 run' : `${replications} runs`;
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} of ${each}`;
}

async function sweepAndPrint(plan: SweepPlan, given: GivenToSweep): Promise<void> {
  const { signal, release } = interruptible();
  const path = given.out ?? join('reports', safeName(plan.name), `sweep-${plan.id.slice(0, 8)}`);
  const folder = given.report ? new SweepFolder(path, plan) : undefined;
  const known = [...(folder?.known ?? [])];
  const all = plan.cells.length * plan.replications;
  note(`${plan.name}: ${sizeWords(plan)}.`);
  if (known.length > 0) note(`${known.length} of ${all} runs are known from before.`);
  const runs = [...known];
  const rows: SweepRow[] = [];
  const watch = await watchOf(given.watch);
  const watched = watch === undefined ? undefined : await watchedOf(watch, plan, given, known);
  let page: string | undefined;
  try {
    const ended = estimate(all - known.length, given);
    const progress = new Progress(`sweep of ${plan.name}`, progressOut(given.watch));
    const onRun = (run: SweepRun) => {
      folder?.add(run);
      runs.push(run);
      ended();
      watched?.add(run);
      watch?.changed();
      progress.show(runs.length / all, `${runs.length} of ${all}`);
    };
    for await (const row of runSweep(plan, { ...runPlace(given), signal, known, onRun })) {
      rows.push(row);
      if (given.json) say(`${JSON.stringify(flatRow(row))}\n`);
    }
    progress.clear();
    release();
    if (rows.length < plan.cells.length) {
      process.exitCode = exitOfStop() ?? 1;
      const kept = folder === undefined ? '' : ` They are in ${folder.path}; the same command goes on with the others.`;
      note(`Stopped after ${runs.length} of ${all} runs.${kept}`);
      return;
    }
    const digest = folder?.finish(rows, runs) ?? sweepDigest(plan.name, rows);
    page = await report(plan, rows, digest, given, folder);
    await watch?.end(page);
    show(plan, rows, digest, given, page);
  } finally {
    await watch?.end(page);
    folder?.close();
  }
}

/** Only those who watch load it. */
async function watchedOf(
  watch: Watch,
  plan: SweepPlan,
  { figure }: GivenToSweep,
  known: readonly SweepRun[],
): Promise<WatchedSweep> {
  const { WatchedSweep } = await import('./watched-sweep.js');
  const watched = new WatchedSweep(plan, figure, known, () => watch.nowMs());
  watch.begin(watched);
  return watched;
}

/** The first runs are slow, since little is compiled yet; by the runs of the time after that the time of a run is measured. */
const WARM_UP_MS = 2_000;
const MEASURED_MS = 1_000;

/** To be called with each run that has ended: says once how long the others will take. */
function estimate(left: number, { threads, workers, watch }: GivenToSweep): () => void {
  const clock = new WallClock(CYCLE_MS, { onError: () => {} });
  const cores = Math.min(threads ?? availableParallelism(), left);
  const startMs = clock.monotonicMs();
  // A view of the whole terminal says it itself.
  let [ended, isSaid] = [0, watch === 'text'];
  let warm: { readonly ms: number; readonly ended: number } | undefined;
  return () => {
    ended += 1;
    const ms = clock.monotonicMs();
    if (ms - startMs < WARM_UP_MS || isSaid) return;
    warm ??= { ms, ended };
    if (ms - warm.ms < MEASURED_MS) return;
    isSaid = true;
    const seconds = Math.round((((ms - warm.ms) / (ended - warm.ended)) * (left - ended)) / 1000);
    if (seconds < 1) return;
    const place = workers === undefined ? `on ${cores} ${cores === 1 ? 'core' : 'cores'}` : 'by the workers of now';
    note(`About ${seconds} s for the next ${left - ended} runs ${place}.`);
  };
}

function note(words: string): void {
  warn(`${words}\n`);
}

/** Writes the report of a sweep; returns its page, undefined where none is wanted. */
async function report(
  plan: SweepPlan,
  rows: readonly SweepRow[],
  digest: string,
  given: GivenToSweep,
  folder: SweepFolder | undefined,
): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const figures = shownFigures(rows, given.figure);
  const files = ['sweep.csv', 'sweep.ndjson', 'runs.csv', 'runs.ndjson', 'sweep.json'];
  return writeSweepReport(folder.path, { plan, rows, figures, digest, command: commandFor(given), files });
}

function show(
  plan: SweepPlan,
  rows: readonly SweepRow[],
  digest: string,
  given: GivenToSweep,
  page: string | undefined,
): void {
  if (given.json) return;
  const figures = shownFigures(rows, given.figure);
  say(`${cellTable(plan.axes, rows, figures, terminalAtHand())}\n\n${digest}\n`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
}

function commandFor({ scenario, set, samples, sampling, replications, seed, figure }: GivenToSweep): string {
  return rerunCommand('sweep', [scenario], {
    set,
    samples,
    sampling,
    replications: replications === 1 ? undefined : replications,
    seed,
    figure,
  });
}

async function findAndPrint(plan: SweepPlan, given: GivenToSweep, condition: string): Promise<void> {
  const { signal, release } = interruptible();
  const progress = new Progress(`search of ${plan.name}`);
  let done = 0;
  progress.show(0);
  const answers: Found['answer'][] = [];
  const find = { condition, over: given.over! };
  for await (const found of findValues(plan, find, { ...runPlace(given), signal })) {
    done += 1;
    progress.show(done / plan.cells.length, `${done} of ${plan.cells.length}`);
    progress.clear();
    answers.push(found.answer);
    const text = given.json ? JSON.stringify(found) : foundText(found, condition, terminalAtHand());
    say(`${text}\n`);
  }
  progress.clear();
  release();
  // A value was asked for: without one the question is not answered.
  const isAnswered = answers.every((answer) => answer === 'smallest' || answer === 'largest');
  process.exitCode = exitOfStop() ?? (isAnswered ? 0 : 1);
}
