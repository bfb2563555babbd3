// Every output of a report against a file that was looked at: `npx vitest run test/report/golden.test.ts -u` writes them anew.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { csvLines, ndjsonLines } from '../../src/outcome/timeline-file.js';
import { chartFile } from '../../src/report/block.js';
import { chartsOf } from '../../src/report/chart/charts.js';
import { formatNames, render } from '../../src/report/formats.js';
import { documentMarkdown } from '../../src/report/markdown.js';
import type { Reported } from '../../src/report/reported.js';
import { reportText, runDocument, runsDocument } from '../../src/report/run-document.js';
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

describe.each(Object.entries(runs))('%s', (name, run) => {
  it('as text', () => expect(reportText(run)).toMatchFileSnapshot(`golden/${name}.txt`));
  it('as Markdown, with pictures beside it', () =>
    expect(documentMarkdown(runDocument(run, 'documents'), chartsOf(run).map(chartFile))).toMatchFileSnapshot(
      `golden/${name}.md`,
    ));
  it('as JUnit', async () =>
    expect(await render('junit', [{ name, reported: run }], { terminal: plainTerminal })).toMatchFileSnapshot(
      `golden/${name}.xml`,
    ));
  it('as charts', () => expect(chartText(chartsOf(run))).toMatchFileSnapshot(`golden/${name}.charts.txt`));
  it('as a page, but for the scripts', async () => {
    const page = (await render('html', [{ name, reported: run }], { terminal: plainTerminal })) as string;
    const bare = page
      .replace(/<style>[\s\S]*?<\/style>/, '<style></style>')
      .replace(/<script>[\s\S]*?<\/script>/g, '<script></script>')
      .replace(/'sha256-[^']+'/g, "'sha256-'");
    await expect(bare).toMatchFileSnapshot(`golden/${name}.html`);
  });
});

describe('sample', () => {
  const run = runs['sample']!;
  it('as text in ASCII and 60 columns', () =>
    expect(reportText(run, { columns: 60, color: false, unicode: false })).toMatchFileSnapshot(
      'golden/sample.ascii.txt',
    ));
  it('as text in colour', () =>
    expect(reportText(run, { columns: 80, color: true, unicode: true })).toMatchFileSnapshot(
      'golden/sample.color.txt',
    ));
  it('as JSON', async () =>
    expect(await render('json', [{ name: 'sample', reported: run }], { terminal: plainTerminal })).toMatchFileSnapshot(
      'golden/sample.json',
    ));
  it('as CSV', () => expect([...csvLines(run.timeline!)].join('')).toMatchFileSnapshot('golden/sample.csv'));
  it('as NDJSON', () => expect([...ndjsonLines(run.timeline!)].join('')).toMatchFileSnapshot('golden/sample.ndjson'));
});

/** The same values in fewer lines. */
function aFigureALine(text: string): string {
  const { figures, ...answer } = JSON.parse(text);
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
  return [answer, ...figures].map((one) => `${JSON.stringify(one)}\n`).join('');
}

describe('several runs', () => {
  const named = ['sample', 'live', 'short'].map((name) => ({ name, reported: runs[name]! }));
  const extensions = {
    text: 'txt',
    json: 'json',
    csv: 'csv',
    junit: 'xml',
    markdown: 'md',
    html: 'html',
    png: 'png',
  } as const;

  it('in one table, a line for each', () =>
    expect(documentText(runsDocument(Object.values(runs).map(({ outcome }) => outcome)))).toMatchFileSnapshot(
      'golden/summary.txt',
    ));

  it.each(formatNames.filter((format) => format !== 'png' && format !== 'html'))(
    'against a baseline as %s',
    async (format) => {
      const rendered = await render(format, named, {
        terminal: { ...plainTerminal, columns: 140 },
        baseline: 0,
        tolerance: { share: 0.05, floor: 1 },
      });
      const text = rendered as string;
      await expect(format === 'json' ? aFigureALine(text) : text).toMatchFileSnapshot(
        `golden/compared.${extensions[format]}`,
      );
    },
  );

  it('against a baseline in 80 columns: a table for each', async () => {
    const rendered = await render('text', named, { terminal: { ...plainTerminal, columns: 80 }, baseline: 0 });
    await expect(rendered as string).toMatchFileSnapshot('golden/compared.narrow.txt');
  });

  it('side by side as text', async () => {
    await expect((await render('text', named, { terminal: plainTerminal })) as string).toMatchFileSnapshot(
      'golden/side-by-side.txt',
    );
  });
});

it('renders the same bytes twice', async () => {
  const digests = await Promise.all(
    [1, 2].map(async () => {
      const page = await render('html', [{ name: 'live', reported: liveRun() }], { terminal: plainTerminal });
      return createHash('sha256')
        .update(page as string)
        .digest('hex');
    }),
  );
  expect(digests[0]).toBe(digests[1]);
});
