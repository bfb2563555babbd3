import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { chartsOf } from '../../src/report/chart/charts.js';
import { openReportFolder, safeName } from '../../src/report/folder.js';
import { readRun } from '../../src/report/read-report.js';
import { reportText } from '../../src/report/run-document.js';
import { temporaryFolder } from '../left-behind.js';
import { emptyRun, fleetRun, hostile, liveRun, sampleRun } from './sample.js';

let base: string;
beforeEach(() => {
  base = temporaryFolder();
});

it('openReportFolder makes the folder before anything is written', async () => {
  const { path } = await openReportFolder({ base, scenario: 'burst', run: 7 });
  expect([relative(base, path), await readdir(path)]).toEqual([join('reports', 'burst', '7'), ['charts']]);
});

it('openReportFolder takes exactly the folder that is given', async () => {
  const { path } = await openReportFolder({ base, out: 'here/and there', scenario: 'burst', run: 7 });
  expect(relative(base, path)).toBe(join('here', 'and there'));
});

it('openReportFolder fails where a part of the path is a file', async () => {
  await writeFile(join(base, 'file'), '');
  await expect(openReportFolder({ base, out: 'file/report', scenario: 'burst', run: 7 })).rejects.toMatchObject({
    code: 'unwritable_folder',
    what: `${join(base, 'file', 'report')} cannot be written.`,
    why: 'A part of the path is a file.',
  });
});

it.skipIf(process.getuid?.() === 0)('openReportFolder fails where writing is not allowed', async () => {
  await mkdir(join(base, 'closed'));
  await chmod(join(base, 'closed'), 0o500);
  await expect(openReportFolder({ base, out: 'closed', scenario: 'burst', run: 7 })).rejects.toMatchObject({
    code: 'unwritable_folder',
    why: 'Permission is denied.',
  });
});

it.each([
  ['burst.yaml', 'burst'],
  ['../../etc/passwd', 'etc-passwd'],
  ['..', 'run'],
  ['', 'run'],
  ['a/b\\c:d', 'a-b-c-d'],
  ['.hidden', 'hidden'],
  ['CON', 'CON-'],
  ['access.log', 'access.log'],
  ['Größe 1', 'Größe-1'],
  ['\u0000\u001b[31m', '31m'],
  ['x'.repeat(500), 'x'.repeat(80)],
])('the folder of %j is named %j', (name, expected) => {
  expect(safeName(name)).toBe(expected);
});

function replayOfMany() {
  const { outcome, ...rows } = fleetRun();
  return { ...rows, outcome: { ...outcome, kind: 'replay' as const } };
}

it('a report folder holds every file of a run, nothing of an earlier one, and leaves alone what is not its own', async () => {
  const folder = await openReportFolder({ base, scenario: 'live', run: 7 });
  const { page, files } = await folder.write(liveRun());
  expect([relative(folder.path, page), files.map((file) => relative(folder.path, file)).sort()]).toEqual([
    'index.html',
    [
      'charts/comparison.png',
      'charts/decisions.png',
      'charts/latency.png',
      'charts/percentiles.png',
      'charts/queue.png',
      'charts/window.png',
      'index.html',
      'junit.xml',
      'outcome.json',
      'predicted.ndjson',
      'series.json',
      'summary.md',
      'timeline.csv',
      'timeline.ndjson',
    ],
  ]);
  await writeFile(join(folder.path, 'notes.txt'), 'mine');
  const { files: next } = await folder.write(sampleRun());
  const found = (await readdir(folder.path, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  expect(found.map(({ parentPath, name }) => join(parentPath, name)).sort()).toEqual(
    [...next, join(folder.path, 'notes.txt')].sort(),
  );
});

it.each([
  ['a live run', liveRun],
  ['nothing', emptyRun],
  [
    'a run that was stopped, with hostile names',
    () => sampleRun({ contracts: { [hostile]: [[0, 30]] }, more: { scenario: hostile, partial: true } }),
  ],
])('a report folder reads back as it was written: %s', async (_, make) => {
  const run = make();
  const folder = await openReportFolder({ base, scenario: run.outcome.scenario, run: run.outcome.seed });
  await folder.write({ ...run, command: 'weir replay a' });
  const { outcome, command, charts } = readRun(folder.path);
  expect({ outcome, command, charts }).toEqual({
    outcome: run.outcome,
    command: 'weir replay a',
    charts: JSON.parse(JSON.stringify(chartsOf(run))),
  });
});

it.each([
  ['a run', sampleRun],
  ['a replay of many clients', replayOfMany],
])('a report folder that is read is shown and written again as it was: %s', async (_, make) => {
  const run = make();
  const { path, write } = await openReportFolder({ base, scenario: 'first', run: 7 });
  await write(run);
  const back = readRun(path);
  const again = await openReportFolder({ base, scenario: 'again', run: 7 });
  await again.write(back);
  const texts = (folder: string) =>
    ['index.html', 'summary.md'].map((name) => readFileSync(join(folder, name), 'utf8'));
  const files = /<p class="quiet">Beside this page.*/;
  const shown = (folder: string) => texts(folder).map((text) => text.replace(files, ''));
  expect([reportText(back), shown(again.path)]).toEqual([reportText(run), shown(path)]);
  expect(await readdir(again.path)).not.toContain('timeline.csv');
});

it.each([
  ['a folder without an outcome', undefined, { code: 'unreadable_file', why: 'There is no such file.' }],
  ['what is not JSON', '{"weir": ', { code: 'invalid_json' }],
  ['JSON of something else', '{"name": "x"}', { code: 'invalid_input' }],
  ['JSON that is no object', '[1]', { code: 'invalid_input' }],
])('readRun refuses %s', async (_, text, failure) => {
  if (text !== undefined) await writeFile(join(base, 'outcome.json'), text);
  expect(() => readRun(base)).toThrow(expect.objectContaining(failure));
});

it('readRun names the field that does not fit', async () => {
  const folder = await openReportFolder({ base, scenario: 'sample', run: 7 });
  await folder.write(sampleRun());
  const path = join(folder.path, 'outcome.json');
  await writeFile(path, (await readFile(path, 'utf8')).replace('"limited": 36', '"limited": -1'));
  expect(() => readRun(folder.path)).toThrow(
    expect.objectContaining({ code: 'invalid_input', why: expect.stringContaining('/limited ') }),
  );
});

it('readRun refuses a chart whose picture would be written elsewhere', async () => {
  const { path, write } = await openReportFolder({ base, scenario: 'sample', run: 7 });
  await write(sampleRun());
  const file = join(path, 'outcome.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"id":"window"', '"id":"../window"'));
  expect(() => readRun(path)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
});
