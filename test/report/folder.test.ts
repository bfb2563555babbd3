import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sealed } from '../../src/harness/outcome/assemble.js';
import { openReportFolder, safeName } from '../../src/report/folder.js';
import { readRun } from '../../src/report/read-report.js';
import { temporaryFolder } from '../left-behind.js';
import { emptyRun, fleetRun, hostile, liveRun, sampleRun } from './sample.js';

let base: string;
beforeEach(() => {
  base = temporaryFolder();
});

describe('openReportFolder', () => {
  it('makes the folder before anything is written', async () => {
    const { path } = await openReportFolder({ base, scenario: 'burst', run: 7 });
    expect([relative(base, path), await readdir(path)]).toEqual([join('reports', 'burst', '7'), ['charts']]);
  });

  it('takes exactly the folder that is given', async () => {
    const { path } = await openReportFolder({ base, out: 'here/and there', scenario: 'burst', run: 7 });
    expect(relative(base, path)).toBe(join('here', 'and there'));
  });

  it('fails early where a part of the path is a file', async () => {
    await writeFile(join(base, 'file'), '');
    await expect(openReportFolder({ base, out: 'file/report', scenario: 'burst', run: 7 })).rejects.toMatchObject({
      code: 'unwritable_folder',
      what: `${join(base, 'file', 'report')} cannot be written.`,
      why: 'A part of the path is a file.',
    });
  });

  it.skipIf(process.getuid?.() === 0)('fails early where writing is not allowed', async () => {
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
  ])('names the folder of %j %j', (name, expected) => {
    expect(safeName(name)).toBe(expected);
  });
});

describe('a report folder', () => {
  it('holds every file, of a live run the other arm and the series too', async () => {
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
  });

  it.each([
    ['a run', sampleRun],
    ['a live run', liveRun],
    ['a fleet', fleetRun],
    ['nothing', emptyRun],
    ['hostile names', () => sampleRun({ contracts: { [hostile]: [[0, 30]] }, more: { scenario: hostile } })],
    ['a run that was stopped', () => sampleRun({ more: { partial: true } })],
  ])('reads back as it was written: %s', async (_, make) => {
    const run = make();
    const folder = await openReportFolder({ base, scenario: run.outcome.scenario, run: run.outcome.seed });
    await folder.write(run);
    const back = await readRun(folder.path);
    const told = ({ outcome, timeline, totals, predicted, series }: typeof back) => ({
      outcome,
      timeline: [...(timeline?.rows() ?? [])],
      totals: [...totals.rows()],
      predicted: predicted === undefined ? undefined : [...predicted.rows()],
      series,
    });
    expect(told(back)).toEqual(told(run));
  });

  it('holds nothing of an earlier run that the present one has not, and leaves alone what is not its own', async () => {
    const { path, write } = await openReportFolder({ base, scenario: 'burst', run: 7 });
    await write(liveRun());
    await writeFile(join(path, 'notes.txt'), 'mine');
    const { files } = await write(sampleRun());
    const found = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(found.map(({ parentPath, name }) => join(parentPath, name)).sort()).toEqual(
      [...files, join(path, 'notes.txt')].sort(),
    );
    expect((await readRun(path)).series).toBeUndefined();
  });

  it('keeps the command that gives the run again, outside the digest', async () => {
    const run = sampleRun();
    const folder = await openReportFolder({ base, scenario: 'again', run: 7 });
    await folder.write({ ...run, command: 'weir simulate scenarios/burst.yaml' });
    const { outcome, command } = await readRun(folder.path);
    expect([command, outcome.digest, sealed(outcome).digest]).toEqual([
      'weir simulate scenarios/burst.yaml',
      run.outcome.digest,
      run.outcome.digest,
    ]);
  });

  it('keeps the totals of a fleet that is too large to tell of each contract', async () => {
    const { outcome, totals } = fleetRun();
    const folder = await openReportFolder({ base, scenario: 'fleet', run: 7 });
    await folder.write({ outcome, totals, timeline: undefined });
    const back = await readRun(folder.path);
    expect([back.timeline, [...back.totals.rows()]]).toEqual([undefined, [...totals.rows()]]);
  });
});

describe('readRun', () => {
  it.each([
    ['before the run', { cycle: -1e9 }],
    ['behind the run', { cycle: 1e9 }],
    ['before the row above it', { cycle: 0 }],
    ['that admits more than came', { admitted: 1_000 }],
    ['that holds less than nothing', { count: -1 }],
    ['of no contract', { contract: null }],
  ])('refuses a row %s', async (_, change) => {
    const { path, write } = await openReportFolder({ base, scenario: 'burst', run: 7 });
    await write(sampleRun());
    const file = join(path, 'timeline.ndjson');
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[9] = JSON.stringify({ ...JSON.parse(lines[9] ?? ''), ...change });
    await writeFile(file, lines.join('\n'));
    const faults = [{ path: 'line 10', message: expect.any(String) }];
    await expect(readRun(path)).rejects.toMatchObject({ code: 'invalid_input', faults });
  });

  it.each([
    ['a folder without an outcome', undefined, { code: 'unreadable_file', why: 'There is no such file.' }],
    ['what is not JSON', '{"weir": ', { code: 'invalid_json' }],
    ['JSON of something else', '{"name": "x"}', { code: 'invalid_input' }],
    ['JSON that is no object', '[1]', { code: 'invalid_input' }],
  ])('refuses %s', async (_, text, failure) => {
    if (text !== undefined) await writeFile(join(base, 'outcome.json'), text);
    await expect(readRun(base)).rejects.toMatchObject(failure);
  });

  it('names the field that does not fit', async () => {
    const folder = await openReportFolder({ base, scenario: 'sample', run: 7 });
    await folder.write(sampleRun());
    const path = join(folder.path, 'outcome.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"limited": 36', '"limited": -1'));
    await expect(readRun(folder.path)).rejects.toMatchObject({
      code: 'invalid_input',
      why: expect.stringContaining('/limited '),
    });
  });

  it('names the line of a timeline that is no row', async () => {
    const folder = await openReportFolder({ base, scenario: 'sample', run: 7 });
    await folder.write(sampleRun());
    await writeFile(join(folder.path, 'timeline.ndjson'), '{"cycle":1}\n');
    await expect(readRun(folder.path)).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path: 'line 1' }] });
  });
});
