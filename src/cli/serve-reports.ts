// `weir report --serve`: all reports of a folder on loopback, and no other files.
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve, sep } from 'node:path';
import { compareRuns } from '../report/compare-runs.js';
import { comparisonHtml } from '../report/formats.js';
import { reportPolicy } from '../report/page/page.js';
import { type ListedReport, reportsHtml } from '../report/page/reports-page.js';
import { readRun } from '../report/read-report.js';
import { unreadableFailure } from '../schema/text-file.js';
import { untilStopped } from './interrupt.js';
import { HTML, htmlPage, type Page, servePages, TEXT } from './local-pages.js';
import { say } from './say.js';

const MOST_REPORTS = 2_000;
const MOST_DEPTH = 4;
const MOST_COMPARED = 8;

const types: Readonly<Record<string, string>> = {
  '.html': HTML,
  '.png': 'image/png',
  '.json': 'application/json',
  '.ndjson': TEXT,
  '.csv': TEXT,
  '.md': TEXT,
  '.mmd': TEXT,
  '.xml': TEXT,
};

export async function serveReports(folder: string, port: number): Promise<void> {
  const root = await rootOf(folder);
  const policy = reportPolicy();
  const { url, close } = await servePages(port, (asked) => pageFor(root, folder, asked, policy));
  say(`open it here: ${url}\n`);
  await untilStopped();
  await close();
}

async function rootOf(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    await readdir(root);
    return root;
  } catch (error) {
    throw unreadableFailure(
      `The folder ${folder}`,
      error,
      'Name the folder of the reports; a run writes into reports/ where it was started.',
    );
  }
}

async function pageFor(
  root: string,
  folder: string,
  { pathname, searchParams }: URL,
  policy: string,
): Promise<Page | undefined> {
  if (pathname === '/') return htmlPage(reportsHtml(folder, await reportsIn(root), searchParams.get('q') ?? ''));
  if (pathname === '/compare') return compared(root, searchParams.getAll('run'));
  const path = unescaped(pathname);
  if (path === undefined || !path.startsWith('/run/')) return undefined;
  const name = path.endsWith('/') ? `${path}index.html` : path;
  const file = await inside(root, name.slice('/run/'.length));
  const type = types[extname(name)];
  if (file === undefined || type === undefined) return undefined;
  const content = await readFile(file);
  return type === HTML ? { type, content, policy } : { type, content };
}

async function compared(root: string, names: readonly string[]): Promise<Page> {
  if (names.length < 2 || names.length > MOST_COMPARED)
    return { status: 400, type: TEXT, content: `Choose 2 to ${MOST_COMPARED} reports.\n` };
  const runs = [];
  for (const name of names) {
    const outcome = await inside(root, `${name}/outcome.json`);
    const isLinked =
      outcome !== undefined &&
      (await readdir(dirname(outcome), { withFileTypes: true })).some((one) => one.isSymbolicLink());
    if (outcome === undefined || isLinked) return { status: 404, type: TEXT, content: 'There is no such report.\n' };
    runs.push({ name, reported: await readRun(outcome) });
  }
  const comparison = compareRuns(runs.map(({ name, reported: { outcome } }) => ({ name, outcome })));
  return htmlPage(comparisonHtml(comparison, runs));
}

function unescaped(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The real path of a file; undefined if it is outside the folder, hidden, missing or no file. */
async function inside(root: string, name: string): Promise<string | undefined> {
  if (name.includes('\0') || name.split(/[/\\]/).some((part) => part.startsWith('.'))) return undefined;
  try {
    const path = await realpath(resolve(root, `./${name}`));
    if (!path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return undefined;
    return (await stat(path)).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

const kinds = [
  ['recommend.json', 'recommend'],
  ['answer.json', 'identify'],
  ['compare.json', 'rules side by side'],
  ['diff.json', 'change of limits'],
  ['map.ndjson', 'map'],
  ['sweep.ndjson', 'sweep'],
] as const;

async function reportsIn(root: string): Promise<ListedReport[]> {
  const reports: ListedReport[] = [];
  const visit = async (folder: string, steps: readonly string[]): Promise<void> => {
    if (steps.length > MOST_DEPTH || reports.length >= MOST_REPORTS) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const files = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    const listed = steps.length > 0 && files.has('index.html') ? await reportOf(folder, steps, files) : undefined;
    if (listed !== undefined) reports.push(listed);
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith('.'))
        await visit(join(folder, entry.name), [...steps, entry.name]);
  };
  await visit(root, []);
  return reports.sort((a, b) => (a.writtenAt < b.writtenAt ? 1 : -1));
}

async function reportOf(
  folder: string,
  steps: readonly string[],
  files: ReadonlySet<string>,
): Promise<ListedReport | undefined> {
  const path = steps.join('/');
  try {
    const writtenAt = (await stat(join(folder, 'index.html'))).mtime.toISOString();
    if (!files.has('outcome.json')) {
      const kind = kinds.find(([file]) => files.has(file))?.[1];
      return { path, writtenAt, ...(kind === undefined ? {} : { kind }) };
    }
    const { scenario, question, kind, seed, verdict, partial, requests, limited } = JSON.parse(
      await readFile(join(folder, 'outcome.json'), 'utf8'),
    );
    const isOutcome = typeof scenario === 'string' && typeof requests === 'number' && typeof limited === 'number';
    return {
      path,
      writtenAt,
      ...(isOutcome ? { outcome: { scenario, question, kind, seed, verdict, partial, requests, limited } } : {}),
    };
  } catch {
    return undefined;
  }
}
