// A report folder: created before the run, so that an invalid path fails early, and written after it.
import { access, constants, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../core/files/make-folder.js';
import { writing } from '../core/schema/unwritable.js';
import { csvLines, ndjsonLines } from '../harness/outcome/timeline.js';
import { chartFile, chartsIn, type ReportDocument, shownIn } from './block.js';
import { chartsOf } from './chart/charts.js';
import { drawingIfInstalled } from './chart/drawing.js';
import { type ChartSpec, chartIds } from './chart-specs/spec.js';
import { documentsJunit } from './junit.js';
import { documentMarkdown } from './markdown.js';
import { documentPage, pageHtml } from './page/page.js';
import type { Reported } from './reported.js';
import { runDocument } from './run-document.js';

/** Charts are thousands of numbers: they have one line. */
export function outcomeJson({ outcome, command }: Reported, charts?: readonly ChartSpec[]): string {
  const text = JSON.stringify({ ...outcome, ...(command !== undefined && { command }) }, undefined, 2);
  return charts === undefined ? `${text}\n` : `${text.slice(0, -2)},\n  "charts": ${JSON.stringify(charts)}\n}\n`;
}

interface FolderOptions {
  readonly out?: string;
  readonly scenario: string;
  readonly run: string | number;
  readonly base?: string;
}

export interface ReportFolder {
  readonly path: string;
  /** Replaces an earlier report. @param written existing files; those in the folder belong to the report */
  write(reported: Reported, written?: readonly string[]): Promise<WrittenReport>;
  /** After a failed run: removes folders created for it that are still empty. */
  discard(): Promise<void>;
}

export interface WrittenReport {
  readonly page: string;
  readonly files: readonly string[];
}

export async function openReportFolder({ out, scenario, run, base = '.' }: FolderOptions): Promise<ReportFolder> {
  const path =
    out === undefined ? resolve(base, 'reports', safeName(scenario), safeName(String(run))) : resolve(base, out);
  let made: string | undefined;
  await place(path, async () => {
    [made] = makeFolder(join(path, 'charts'));
    await access(path, constants.W_OK);
    await access(join(path, 'charts'), constants.W_OK);
  });
  return {
    path,
    write: (reported, written = []) => place(path, () => write(path, reported, written)),
    discard: () => removeEmpty(join(path, 'charts'), made),
  };
}

async function removeEmpty(path: string, last: string | undefined): Promise<void> {
  if (last === undefined) return;
  for (let folder = path; folder.startsWith(last); folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

const LONGEST_NAME = 80;

/** A folder name valid on every system: no separators, leading dots or Windows device names. */
export function safeName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/\.(ya?ml|json)$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+|[.-]+$/g, '');
  const cut = [...plain]
    .slice(0, LONGEST_NAME)
    .join('')
    .replace(/[.-]+$/, '');
  if (cut === '') return 'run';
  return /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(cut) ? `${cut}-` : cut;
}

/** Only the run itself can write them: a report that is read again has its outcome and charts. */
export const filesOfRun = [
  ...['timeline.ndjson', 'timeline.csv', 'predicted.ndjson', 'series.json'],
  ...['trace.ndjson', 'trace.mmd', 'trace.stately.ndjson'],
];
const notInEveryReport = [...filesOfRun, ...chartIds.map((id) => join('charts', `${id}.png`))];

async function write(path: string, run: Reported, written: readonly string[]): Promise<WrittenReport> {
  const charts = chartsOf(run);
  const reported = { ...run, charts };
  const { timeline, totals, predicted, series } = run;
  const files = written.map((file) => resolve(file)).filter((file) => dirname(file) === path);
  const put = async (name: string, content: string | Iterable<string>) => {
    await writeFile(join(path, name), content);
    files.push(join(path, name));
  };
  // Most important file first, in case the program is stopped.
  await put('outcome.json', outcomeJson(run, charts));
  if (run.charts === undefined) {
    const rows = timeline ?? totals;
    await put('timeline.ndjson', chunksOf(ndjsonLines(rows)));
    await put('timeline.csv', chunksOf(csvLines(rows)));
  }
  if (predicted !== undefined) await put('predicted.ndjson', chunksOf(ndjsonLines(predicted)));
  if (series !== undefined) await put('series.json', `${JSON.stringify(series)}\n`);
  const beside = files.map((file) => file.slice(path.length + 1));
  const document = runDocument(reported, 'documents');
  const { page, names } = await writeDocument(path, document, beside, (all) => pageHtml(reported, all));
  files.push(...names.map((name) => join(path, name)));
  // Files of an earlier run that this run lacks would be mistaken for its own.
  const stale = notInEveryReport.map((name) => join(path, name)).filter((file) => !files.includes(file));
  for (const file of stale) await rm(file, { force: true });
  return { page: join(path, page), files };
}

/**
 * What every report has: pictures, JUnit if something is checked, Markdown, and a page with links to all of them.
 * @param beside names of files that are there already
 */
export async function writeDocument(
  path: string,
  document: ReportDocument,
  beside: readonly string[],
  pageOf: (files: readonly string[]) => string,
): Promise<{ readonly page: string; readonly names: readonly string[] }> {
  const pictures = await writeCharts(path, chartsIn(document));
  const checks = shownIn(document.blocks, 'junit').some(({ kind }) => kind === 'checks');
  const texts = {
    ...(checks && { 'junit.xml': documentsJunit([document]) }),
    'summary.md': documentMarkdown(document, pictures),
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(path, name), text);
  const page = 'index.html';
  await writeFile(join(path, page), pageOf([...beside, ...Object.keys(texts)]));
  return { page, names: [...pictures, ...Object.keys(texts), page] };
}

async function writeCharts(path: string, specs: readonly ChartSpec[]): Promise<string[]> {
  const canvas = await drawingIfInstalled();
  if (canvas === undefined || specs.length === 0) return [];
  makeFolder(join(path, 'charts'));
  for (const spec of specs) await writeFile(join(path, chartFile(spec)), canvas.chartPng(spec, 'light'));
  return specs.map(chartFile);
}

const CHUNK = 64 * 1024;

function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

function place<T>(path: string, write: () => Promise<T>): Promise<T> {
  return writing(path, 'Give another folder with --out, or write none with --out none.', write);
}

// The folder of an answer that compares runs: its JSON, its table as CSV, and what every report has.

interface AnswerFolder {
  readonly path: string;
  readonly kind: 'recommend' | 'compare' | 'diff' | 'explain';
}

interface AnswerFiles {
  readonly answer: object;
  readonly csv?: string | undefined;
  readonly document: ReportDocument;
  readonly pageOf?: (files: readonly string[]) => string;
}

/** Fails on an invalid path before the log is read. @throws Failure `unwritable_folder` */
export async function openAnswerFolder(
  kind: AnswerFolder['kind'],
  name: string,
  out: string | undefined,
): Promise<AnswerFolder> {
  const path = out === undefined ? resolve('reports', safeName(name), kind) : resolve(out);
  await place(path, async () => {
    makeFolder(path);
    await writeFile(join(path, `${kind}.json`), '');
  });
  return { path, kind };
}

/** Returns the path of the page. */
export function writeAnswer({ path, kind }: AnswerFolder, files: AnswerFiles): Promise<string> {
  const { answer, csv, document, pageOf = (names) => documentPage(document, { files: names }) } = files;
  return place(path, async () => {
    await writeFile(join(path, `${kind}.json`), `${JSON.stringify(answer)}\n`);
    if (csv !== undefined) await writeFile(join(path, `${kind}.csv`), csv);
    const names = [`${kind}.json`, ...(csv === undefined ? [] : [`${kind}.csv`])];
    return join(path, (await writeDocument(path, document, names, pageOf)).page);
  });
}
