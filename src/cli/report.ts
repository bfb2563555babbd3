// `weir report`: renders runs again in one format, side by side, or against a baseline; or writes the report of one run to a folder.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writing } from '../core/schema/unwritable.js';
import { command, type GivenTo, several, text } from '../report/command/command.js';
import { exitCodes, usageFailure } from '../report/command/exit-codes.js';
import { jsonOf, outAs } from '../report/command/options.js';
import { say } from '../report/command/say.js';
import { terminalAtHand } from '../report/command/terminal.js';
import type { NamedRun, Rendered, ReportFormat } from './report-formats.js';

const endings: readonly ReportFormat[] = ['txt', 'json', 'csv', 'xml', 'md', 'html', 'png'];

const options = {
  file: several(text('report folders, or their outcome.json', { place: true, required: true })),
  out: outAs(
    endings,
    `render one run again into this folder, or runs into this file: its name ends with .${endings.join(', .')}`,
    { writes: true },
  ),
  baseline: text('compare the runs with this one; exit code 1 if one is worse, by more than 5 % of a figure'),
  json: { ...jsonOf('report'), without: ['out'] },
};

type Given = GivenTo<typeof options>;

export const report = command({
  options,
  examples: [
    ['report reports/burst/7', 'one run again, as text'],
    ['report reports/burst/7 --out summary.md', 'for a pull request'],
    ['report reports/burst/7 reports/burst/8', 'two runs side by side'],
    ['report new --baseline old', 'for CI: exit code 1 if it is worse'],
  ],
  run: renderRuns,
});

async function renderRuns(given: Given): Promise<void> {
  const [{ compareRuns }, { filesOfRun, openReportFolder }, { render }, { readRun }] = await Promise.all([
    import('./compare-runs.js'),
    import('../report/folder.js'),
    import('./report-formats.js'),
    import('../report/read-report.js'),
  ]);
  const { baseline, out } = given;
  const ending = endings.find((name) => out?.endsWith(`.${name}`));
  const runs: NamedRun[] = [];
  for (const name of baseline === undefined ? given.file : [baseline, ...given.file])
    runs.push({ name, reported: readRun(name) });
  const [first] = runs;
  if (out !== undefined && ending === undefined && first !== undefined) {
    if (runs.length > 1)
      throw usageFailure('--out takes one run for a folder.', 'Name a file, for example --out compared.html.');
    const { scenario, seed } = first.reported.outcome;
    const folder = await openReportFolder({ out, scenario, run: String(seed) });
    const source = first.name.endsWith('.json') ? dirname(first.name) : first.name;
    const beside = filesOfRun.map((name) => join(source, name)).filter((path) => existsSync(path));
    const { page } = await folder.write(first.reported, beside);
    say(`open it here: ${page}\n`);
    return;
  }
  const format = ending ?? (given.json ? 'json' : 'txt');
  const terminal = out === undefined ? terminalAtHand() : { ...terminalAtHand(), color: false };
  await write(await render(format, runs, terminal, baseline !== undefined), out);
  if (runs.length === 1 && first !== undefined) process.exitCode = exitCodes[first.reported.outcome.verdict];
  if (baseline !== undefined) {
    const outcomes = runs.map(({ name, reported: { outcome } }) => ({ name, outcome }));
    if (compareRuns(outcomes, true).worse.length > 0) process.exitCode = 1;
  }
}

async function write(rendered: Rendered, out: string | undefined): Promise<void> {
  if (out === undefined) {
    say(String(rendered).replace(/\n*$/, '\n'));
    return;
  }
  await writing(out, 'Name another file with --out.', () => writeFile(out, rendered));
  say(`${out}\n`);
}
