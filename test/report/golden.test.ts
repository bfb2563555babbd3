// Every output of a report against a file that was looked at: `npx vitest run test/report/golden.test.ts -u` writes them anew.
import { describe, expect, it } from 'vitest';
import { type ReportFormat, render, reportFormats } from '../../src/cli/report-formats.js';
import { runsDocument } from '../../src/cli/runs-document.js';
import { sha256Hex } from '../../src/core/schema/canonical.js';
import { csvLines, ndjsonLines } from '../../src/harness/outcome/timeline.js';
import { chartFile } from '../../src/report/block.js';
import { chartsOf } from '../../src/report/chart/charts.js';
import { documentMarkdown } from '../../src/report/markdown.js';
import type { Reported } from '../../src/report/reported.js';
import { reportText, runDocument } from '../../src/report/run-document.js';
import { documentText, plainTerminal } from '../../src/report/terminal-blocks.js';
import { chartText } from './chart-text.js';
import { devicesRun, emptyRun, fleetRun, hostile, liveRun, replicatedRun, sampleRun, shortRun } from './sample.js';

const runs: Readonly<Record<string, Reported>> = {
  sample: sampleRun(),
  live: liveRun(),
  devices: devicesRun(),
  fleet: fleetRun(),
  replicated: replicatedRun(),
  short: shortRun(),
  empty: emptyRun(),
  broken: sampleRun({
    more: {
      partial: true,
      verdict: 'not held',
      notes: ['Something a reader should know.'],
      expectations: [{ name: 'nobody is limited', expected: 'limited == 0', actual: 36, held: false }],
    },
  }),
  hostile: sampleRun({ contracts: { [hostile]: [[0, 30]] }, more: { scenario: hostile, question: hostile } }),
};

const rendered = async (format: ReportFormat, name: string, reported: Reported) =>
  (await render(format, [{ name, reported }], plainTerminal)) as string;

type Output = (run: Reported, name: string) => string | Promise<string>;

const outputs: [what: string, suffix: string, output: Output][] = [
  ['text', 'txt', (run) => reportText(run)],
  ['Markdown', 'md', (run) => documentMarkdown(runDocument(run, 'documents'), chartsOf(run).map(chartFile))],
  ['JUnit', 'xml', (run, name) => rendered('xml', name, run)],
  ['charts', 'charts.txt', (run) => chartText(chartsOf(run))],
  ['a page, but for the scripts', 'html', async (run, name) => withoutScripts(await rendered('html', name, run))],
];

const withoutScripts = (page: string) =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '<style></style>')
    .replace(/<script>[\s\S]*?<\/script>/g, '<script></script>')
    .replace(/'sha256-[^']+'/g, "'sha256-'");

describe.each(Object.entries(runs))('%s', (name, run) => {
  it.each(outputs)('the report as %s matches its golden file', async (_, suffix, output) => {
    await expect(await output(run, name)).toMatchFileSnapshot(`golden/${name}.${suffix}`);
  });
});

it.each<[what: string, suffix: string, output: Output]>([
  ['text in ASCII', 'ascii.txt', (run) => reportText(run, { columns: 60, color: false, unicode: false })],
  ['text in colour', 'color.txt', (run) => reportText(run, { columns: 80, color: true, unicode: true })],
  ['JSON', 'json', (run) => rendered('json', 'sample', run)],
  ['CSV', 'csv', ({ timeline }) => [...csvLines(timeline!)].join('')],
  ['NDJSON', 'ndjson', ({ timeline }) => [...ndjsonLines(timeline!)].join('')],
])('the sample as %s matches its golden file', async (_, suffix, output) => {
  await expect(await output(runs['sample']!, 'sample')).toMatchFileSnapshot(`golden/sample.${suffix}`);
});

/** The same values in fewer lines. */
function aFigureALine(text: string): string {
  const { figures, ...answer } = JSON.parse(text);
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
  return [answer, ...figures].map((one) => `${JSON.stringify(one)}\n`).join('');
}

const named = ['sample', 'live', 'short'].map((name) => ({ name, reported: runs[name]! }));
const formats = ['txt', 'json', 'csv', 'xml', 'md'] as const;

it('several runs are in one table, a line for each', () =>
  expect(documentText(runsDocument(Object.values(runs).map(({ outcome }) => outcome)))).toMatchFileSnapshot(
    'golden/summary.txt',
  ));

it('every format of several runs but pages and pictures has a golden file', () => {
  expect(reportFormats.filter((format) => format !== 'png' && format !== 'html').sort()).toEqual(formats.toSorted());
});

it.each(formats)('a comparison with a baseline as %s matches its golden file', async (format) => {
  const terminal = { ...plainTerminal, columns: 140 };
  const text = (await render(format, named, terminal, true)) as string;
  const shown = format === 'json' ? aFigureALine(text) : text;
  await expect(shown).toMatchFileSnapshot(`golden/compared.${format}`);
});

it('a comparison with a baseline has a table for each run in 80 columns', async () => {
  const rendered = await render('txt', named, { ...plainTerminal, columns: 80 }, true);
  await expect(rendered as string).toMatchFileSnapshot('golden/compared.narrow.txt');
});

it('several runs side by side as text match their golden file', async () => {
  await expect((await render('txt', named, plainTerminal)) as string).toMatchFileSnapshot('golden/side-by-side.txt');
});

it('a run is rendered to the same bytes twice', async () => {
  const digestOf = async () => sha256Hex(await rendered('html', 'live', liveRun()));
  expect(await digestOf()).toBe(await digestOf());
});
