// `weir report`: reads runs and renders them in one format, or writes the report of one run to a folder.
import type { Argv } from 'yargs';
import { compareRuns } from '../report/compare-runs.js';
import { openReportFolder } from '../report/folder.js';
import { formatNamed, type NamedRun, type Rendered, render } from '../report/formats.js';
import { readRun } from '../report/read-report.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo } from './command.js';
import { exitCodes } from './ending.js';
import { noDefault } from './options.js';
import { terminalAtHand } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('run', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      describe: 'report folders, or their outcome.json',
    })
    .option('format', {
      type: 'string',
      default: 'text',
      requiresArg: true,
      describe: 'text, json, csv, junit, markdown, html or png, on standard output',
    })
    .option('out', { type: 'string', requiresArg: true, describe: 'render one run again into this folder' })
    .option('baseline', { type: 'string', requiresArg: true, describe: 'compare the runs with this one' })
    .option('tolerance', {
      type: 'number',
      default: 0.05,
      requiresArg: true,
      describe: 'share by which a figure may be worse: 0.05 is 5 %',
    })
    .option('floor', {
      type: 'number',
      default: 0,
      requiresArg: true,
      describe: 'amount by which a figure may always be worse, in its unit',
    })
    .option('fail-on-worse', {
      type: 'boolean',
      default: false,
      describe: 'exit 1 when a run is worse than the baseline',
    })
    .example('$0 report reports/burst/7', 'one run again, as text')
    .example('$0 report reports/burst/7 --format markdown', 'for a pull request')
    .example('$0 report reports/burst/7 reports/burst/8', 'two runs side by side')
    .example('$0 report new --baseline old --fail-on-worse', 'for CI');

type Given = GivenTo<typeof options>;

export async function run(given: Given): Promise<void> {
  const { run: paths, baseline, format, out, tolerance: share, floor, failOnWorse } = given;
  if (!(share >= 0) || !(floor >= 0)) {
    throw new Failure('wrong_usage', {
      what: '--tolerance and --floor take numbers from 0 on.',
      fix: 'For example --tolerance 0.05.',
    });
  }
  const named = formatNamed(format);
  const runs: NamedRun[] = [];
  for (const name of baseline === undefined ? paths : [baseline, ...paths])
    runs.push({ name, reported: await readRun(name) });
  const [first] = runs;
  if (out !== undefined && first !== undefined) {
    if (runs.length > 1)
      throw new Failure('wrong_usage', { what: '--out takes one run.', fix: 'Name one run, without a baseline.' });
    const { scenario, seed } = first.reported.outcome;
    const folder = await openReportFolder({ out, scenario, run: String(seed) });
    process.stdout.write(`open it here: ${(await folder.write(first.reported)).page}\n`);
    return;
  }
  const tolerance = { share, floor };
  await write(
    await render(named, runs, {
      terminal: terminalAtHand(),
      tolerance,
      ...(baseline === undefined ? {} : { baseline: 0 }),
    }),
  );
  if (runs.length === 1 && first !== undefined) process.exitCode = exitCodes[first.reported.outcome.verdict];
  if (failOnWorse && baseline !== undefined) {
    const outcomes = runs.map(({ name, reported: { outcome } }) => ({ name, outcome }));
    if (compareRuns(outcomes, { baseline: 0, tolerance }).worse.length > 0) process.exitCode = 1;
  }
}

/** Waits for a slow reader, because a timeline may be long. */
async function write(rendered: Rendered): Promise<void> {
  const isText = typeof rendered === 'string';
  const pieces: Iterable<string | Uint8Array> = isText || rendered instanceof Uint8Array ? [rendered] : rendered;
  for (const piece of pieces) {
    if (!process.stdout.write(piece))
      await new Promise<void>((resolve) => process.stdout.once('drain', () => resolve()));
  }
  if (isText && !rendered.endsWith('\n')) process.stdout.write('\n');
}
