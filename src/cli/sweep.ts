// `weir sweep`: runs a scenario with every value of some fields: plan, runs, files, table; the search for a value; maps.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { SweepFolder } from '../report/sweep-files.js';
import { blocksText, documentText } from '../report/terminal-blocks.js';
import type { Found } from '../simulate/sweep/find.js';
import type { SweepPlan } from '../simulate/sweep/plan-sweep.js';
import type { SweepRow, SweepRun } from '../simulate/sweep/sweep.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import { type CommandLine, command, type GivenTo, several, text, whole } from './command.js';
import { usageFailure } from './ending.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { json, NONE, outFor, runPlace, scenario, seed, watch, watchOf, workers } from './options.js';
import { Progress, progressOut } from './progress.js';
import { say, warn } from './say.js';
import { drawMap, mapOptions } from './sweep-map.js';
import { terminalAtHand } from './terminal.js';
import type { WatchServer } from './watch.js';
import type { WatchedSweep } from './watched-sweep.js';

const options = {
  scenario,
  set: several(
    text('a field and its values: limiter.threshold=50..200:10, or a=1,2,3; several times for several fields'),
  ),
  samples: whole(
    1,
    10_000_000,
    'draw this number of cells, a Latin hypercube, instead of all combinations; ranges then need no step',
  ),
  replications: whole(
    1,
    100_000,
    'runs of each cell (default: 1); with --map runs per border cell (default: 20), other cells get 4, or 0 where all neighbours agree',
  ),
  workers,
  seed,
  figure: several(
    text('figure to show, for example limited or clients.retries; several times for several', {
      without: ['find'],
    }),
  ),
  find: text("search for the value at which this begins to hold, for example 'limited < 1%'", { needs: ['over'] }),
  over: text(
    'with --find: field and range that is searched, with how near the answer is: limiter.threshold=50..500:10 (default: 3 significant figures)',
    { needs: ['find'] },
  ),
  ...mapOptions,
  watch: { ...watch, without: ['find'] },
  out: { ...outFor('reports/<scenario>/sweep-<id>'), without: ['find'] },
  json: { ...json, description: 'print a line of JSON for each cell' },
};

type Given = GivenTo<typeof options>;

export const sweep = command({
  options,
  examples: [
    ['sweep scenarios/burst.yaml --set limiter.threshold=50..200:10', 'one line, 16 cells'],
    [
      'sweep scenarios/shop.yaml --set limiter.threshold=20..60:10 --set limiter.within=30,60,120 --replications 20',
      'a heat map, with intervals',
    ],
    ["sweep scenarios/day.yaml --find 'limited < 1%' --over limiter.threshold=50..500", 'by bisection'],
    [
      'sweep scenarios/day.yaml --set limiter.threshold=1..1000:1 --workers redis://10.0.0.1',
      'on every machine where weir worker runs',
    ],
    [
      'sweep scenarios/metastable.yaml --map --across arrivals.0.rate=1/s..9/s:1/s --up arrivals.1.rate=0/s..40/s:5/s --set clients.0.max_attempts=1,3',
      'where it stays stuck: one attempt, or three',
    ],
    [
      'sweep scenarios/metastable.yaml --map --across … --up … --cure limiter.threshold=500,400,300 --cure clients.0.max_attempts=2,1',
      'what brings it back, and what that costs',
    ],
  ],
  more: 'A sweep that was stopped goes on when the same command is given again.',
  run: async (given, line) => {
    const { seed, samples, set = [], find, map } = given;
    if (find === undefined && !map && set.length === 0)
      throw usageFailure('Nothing is varied.', 'Name a field with its values: --set limiter.threshold=50..200:10.');
    const { planSweep } = await import('../simulate/sweep/plan-sweep.js');
    const replications = given.replications ?? (map ? 20 : 1);
    const plan = await planSweep(given.scenario, { set, samples }, { seed, replications });
    if (map) return drawMap(plan, given, line);
    // In JSON every line is a row; sweep.json has them.
    if (given.json || find !== undefined) for (const text of plan.notes) note(text);
    if (find !== undefined) await findAndPrint(plan, given, find);
    else await sweepAndPrint(plan, given, line);
  },
});

function sizeWords({ cells, replications }: Pick<SweepPlan, 'cells' | 'replications'>): string {
  const each = replications === 1 ? '1 run' : `${replications} runs`;
  return `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'} of ${each}`;
}

async function sweepAndPrint(plan: SweepPlan, given: Given, line: CommandLine): Promise<void> {
  const [{ safeName }, { flatRow, SweepFolder, sweepDigest }, { runSweep }] = await Promise.all([
    import('../report/folder.js'),
    import('../report/sweep-files.js'),
    import('../simulate/sweep/sweep.js'),
  ]);
  const { signal, release } = interruptible();
  const path = given.out ?? join('reports', safeName(plan.name), `sweep-${plan.id.slice(0, 8)}`);
  const folder = given.out === NONE ? undefined : new SweepFolder(path, plan);
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
    page = await show(plan, rows, digest, { given, folder, command: line.repeat() });
    await watch?.end(page);
  } finally {
    await watch?.end(page);
    folder?.close();
  }
}

async function watchedOf(
  watch: WatchServer,
  plan: SweepPlan,
  { figure }: Given,
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
function estimate(left: number, { workers, watch }: Given): () => void {
  const clock = new WallClock(CYCLE_MS, { onError: () => {} });
  const cores = Math.min(typeof workers === 'number' ? workers : availableParallelism(), left);
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
    const place =
      typeof workers !== 'string' ? `on ${cores} ${cores === 1 ? 'core' : 'cores'}` : 'by the workers of now';
    note(`About ${seconds} s for the next ${left - ended} runs ${place}.`);
  };
}

function note(words: string): void {
  warn(`${words}\n`);
}

/** Prints the cells, and writes them as a report where one is wanted. @returns its page */
async function show(
  plan: SweepPlan,
  rows: readonly SweepRow[],
  digest: string,
  { given, folder, command }: { given: Given; folder: SweepFolder | undefined; command: string },
): Promise<string | undefined> {
  const [{ sweepDocument, writeSweepReport }, { shownFigures }] = await Promise.all([
    import('../report/sweep-report.js'),
    import('../report/sweep-document.js'),
  ]);
  const figures = shownFigures(rows, given.figure);
  const document = sweepDocument({ plan, rows, figures }, { command, facts: digest });
  const files = ['sweep.csv', 'sweep.ndjson', 'runs.csv', 'runs.ndjson', 'sweep.json', 'summary.md'];
  const page = folder && (await writeSweepReport(folder.path, { plan, rows, figures, document, files }));
  if (given.json) return page;
  say(`${documentText(document, terminalAtHand())}\n${digest}\n`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
  return page;
}

async function findAndPrint(plan: SweepPlan, given: Given, condition: string): Promise<void> {
  const [{ foundBlocks }, { findValues }] = await Promise.all([
    import('../report/sweep-document.js'),
    import('../simulate/sweep/find.js'),
  ]);
  const { signal, release } = interruptible();
  const progress = new Progress(`search of ${plan.name}`);
  let done = 0;
  progress.show(0);
  const answers: Found['answer'][] = [];
  const [, over = given.over!, step] = /^(.*\.\.[^:]+):(.+)$/.exec(given.over!) ?? [];
  const resolution = step === undefined ? undefined : Number.parseFloat(step);
  if (resolution !== undefined && !(resolution > 0))
    throw usageFailure(
      `--over takes a resolution above 0, not "${step}".`,
      'For example --over limiter.threshold=50..500:10.',
    );
  const find = { condition, over, resolution };
  for await (const found of findValues(plan, find, { ...runPlace(given), signal })) {
    done += 1;
    progress.show(done / plan.cells.length, `${done} of ${plan.cells.length}`);
    progress.clear();
    answers.push(found.answer);
    const text = given.json ? JSON.stringify(found) : blocksText(foundBlocks(found, condition), terminalAtHand());
    say(`${text}\n`);
  }
  progress.clear();
  release();
  // A value was asked for: without one the question is not answered.
  const isAnswered = answers.every((answer) => answer === 'smallest' || answer === 'largest');
  process.exitCode = exitOfStop() ?? (isAnswered ? 0 : 1);
}
