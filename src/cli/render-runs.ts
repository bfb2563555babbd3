// The work of `weir report`: reads runs and renders them in one format, or writes the report of one run to a folder.
import { compareRuns } from '../report/compare-runs.js';
import { openReportFolder } from '../report/folder.js';
import { formatNamed, type NamedRun, type Rendered, render } from '../report/formats.js';
import { readRun } from '../report/read-report.js';
import { Failure } from '../schema/failure.js';
import { exitCodes } from './ending.js';
import type { GivenToReport } from './report.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

export async function renderRuns(given: GivenToReport & { readonly run: readonly string[] }): Promise<void> {
  const { run: paths, baseline, format, out, tolerance: share, floor, failOnWorse } = given;
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
    say(`open it here: ${(await folder.write(first.reported)).page}\n`);
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
