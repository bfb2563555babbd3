// Runs a sweep or a map: resumes earlier runs, appends each run to the files, shows progress, text and page.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { digestOf } from '../../core/schema/canonical.js';
import { monotonicNowMs } from '../../core/time/wall.js';
import type { Axis, Cell } from '../../harness/scenario/grid.js';
import { type Block, sentence } from '../../report/block.js';
import type { CommandLine } from '../../report/command/command.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import { NONE, runPlace } from '../../report/command/options.js';
import { Progress } from '../../report/command/progress.js';
import { say, warn } from '../../report/command/say.js';
import { terminalAtHand } from '../../report/command/terminal.js';
import { safeName } from '../../report/folder.js';
import { documentText } from '../../report/terminal-blocks.js';
import { counted } from '../../report/words.js';
import { mapCollapse, RECOVERY } from './collapse-map.js';
import { isMatrix, matrixFigures } from './matrix.js';
import type { SweepPlan } from './plan-sweep.js';
import { type RunSweepOptions, runSweep, type SweepRow, type SweepRun } from './sweep.js';
import { mapBlocks, matrixBlocks, shownFigures, sweepDocument, writeSweepReport } from './sweep-document.js';
import { flatRow, RunFolder, sweepDigest } from './sweep-files.js';

interface Given {
  readonly set: readonly string[] | undefined;
  readonly find: string | undefined;
  readonly map: boolean;
  readonly workers: number | string | undefined;
  readonly out: string | undefined;
  readonly json: boolean;
}

interface RunTable {
  readonly rows: readonly SweepRow[];
  readonly axes: readonly Axis[];
  readonly cells: readonly Cell[];
  readonly figures: readonly string[];
  readonly says?: readonly Block[] | undefined;
  readonly border?: number;
  readonly answer?: object;
}

type Make = (options: RunSweepOptions) => Promise<RunTable | undefined>;

export async function makeRuns(planned: SweepPlan, given: Given, line: CommandLine): Promise<void> {
  const question = given.map ? mapQuestion(given) : undefined;
  const kind = question === undefined ? 'sweep' : 'map';
  const plan = question === undefined ? planned : { ...planned, id: digestOf({ of: planned.id, question }) };
  const make: Make = question === undefined ? sweepOf(plan, given) : mapOf(plan, question);
  const { name } = plan;
  const signal = stopSignal();
  const path = given.out ?? join('reports', safeName(name), `${kind}-${plan.id.slice(0, 8)}`);
  const folder = given.out === NONE ? undefined : new RunFolder(path, kind, plan);
  const known = folder?.known ?? [];
  const runs = [...known];
  const all = question === undefined ? plan.cells.length * plan.replications : undefined;
  const of = all === undefined ? '' : ` of ${all}`;
  if (all !== undefined)
    note(`${name}: ${counted(plan.cells.length, 'cell')} of ${counted(plan.replications, 'run')}.`);
  if (known.length > 0) note(`${known.length}${of} runs are known from before.`);
  try {
    const ended = all === undefined ? () => {} : estimate(all - known.length, given);
    const progress = new Progress(`${kind} of ${name}`);
    const onRun = (run: SweepRun) => {
      folder?.add(run);
      runs.push(run);
      ended();
      progress.show(all && runs.length / all, `${runs.length}${of} runs`);
    };
    const table = await make({ ...runPlace(given), signal, known, onRun });
    if (table === undefined) {
      process.exitCode = exitOfStop() ?? 1;
      const kept = folder === undefined ? '' : ` They are in ${path}; the same command goes on with the others.`;
      note(`Stopped after ${runs.length}${of} runs.${kept}`);
      return;
    }
    const { rows, axes, cells, figures, says, border, answer } = table;
    const digest = folder?.finish(rows, runs, cells) ?? sweepDigest(name, rows);
    const swept = {
      plan: { ...plan, axes, cells: border === undefined ? plan.cells : rows },
      rows,
      figures,
      says,
      border,
      isMatrix: border === undefined && isMatrix(axes),
    };
    const document = sweepDocument(swept, { command: line.repeat(), facts: digest });
    const page = folder && (await writeSweepReport(path, { ...swept, document, files: folder.names }));
    if (answer !== undefined && given.json) say(`${JSON.stringify({ rows: rows.map(flatRow), ...answer, digest })}\n`);
    if (!given.json) say(`${documentText(document, terminalAtHand())}\n${digest}\n`);
    if (page !== undefined && !given.json) say(`\nopen it here: ${page}\n`);
  } finally {
    folder?.close();
  }
}

function sweepOf(plan: SweepPlan, { json }: Given): Make {
  return async (options) => {
    const rows: SweepRow[] = [];
    for await (const row of runSweep(plan, options)) {
      rows.push(row);
      if (json) say(`${JSON.stringify(flatRow(row))}\n`);
    }
    const { axes, cells } = plan;
    if (rows.length < cells.length) return undefined;
    if (!isMatrix(axes)) return { rows, axes, cells, figures: shownFigures(rows) };
    const figures = matrixFigures.filter((name) => rows.some((row) => name in row.figures));
    return { rows, axes, cells, figures, says: matrixBlocks(axes, rows, figures) };
  };
}

type Question = Parameters<typeof mapCollapse>[1];

function mapQuestion({ set = [], find }: Given): Question {
  const [across = '', up = ''] = set;
  return { across, up, stuck: find ?? 'clients.succeeded < clients.jobs / 2' };
}

function mapOf(plan: SweepPlan, question: Question): Make {
  return async (options) => {
    const map = await mapCollapse(plan, question, options);
    if (map === undefined) return undefined;
    const { columns, runs, runsOfAll } = map;
    const needed = runs < runsOfAll ? `${runs} of ${runsOfAll} runs needed` : counted(runs, 'run');
    const notes = plan.notes.length > 0 && { notes: plan.notes };
    const says = [...mapBlocks(map), sentence(`${needed}.`)];
    const names = ['stuck', RECOVERY, 'runs'];
    const figures = names.filter((name) => map.rows.some((row) => name in row.figures));
    return {
      ...map,
      figures,
      says,
      border: 0.5,
      answer: { columns, runs, ...notes },
    };
  };
}

/** The first runs are slow (little is compiled); the run time is measured after them. */
const WARM_UP_MS = 2_000;
const MEASURED_MS = 1_000;

/** Call it after each run: it reports the remaining time once. */
function estimate(left: number, { workers }: Given): () => void {
  const cores = Math.min(typeof workers === 'number' ? workers : availableParallelism(), left);
  const startMs = monotonicNowMs();
  let [ended, isSaid] = [0, false];
  let warm: { readonly ms: number; readonly ended: number } | undefined;
  return () => {
    ended += 1;
    const ms = monotonicNowMs();
    if (ms - startMs < WARM_UP_MS || isSaid) return;
    warm ??= { ms, ended };
    if (ms - warm.ms < MEASURED_MS) return;
    isSaid = true;
    const seconds = Math.round((((ms - warm.ms) / (ended - warm.ended)) * (left - ended)) / 1000);
    if (seconds < 1) return;
    const place = typeof workers === 'string' ? 'by the workers of now' : `on ${counted(cores, 'core')}`;
    note(`About ${seconds} s for the next ${left - ended} runs ${place}.`);
  };
}

function note(words: string): void {
  warn(`${words}\n`);
}
