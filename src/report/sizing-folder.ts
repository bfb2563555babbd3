// The folders of a recommended limit and of rules side by side: the page, the answer as JSON, and a picture.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../store/make-folder.js';
import { chartsIn, type ReportDocument } from './block.js';
import { place, safeName, writeCharts } from './folder.js';
import { documentMarkdown } from './markdown.js';
import { documentPage } from './page/page.js';
import { type SizingReport, sizingPageHtml } from './page/sizing-page.js';
import { type ComparedReport, comparedDocument } from './rules-document.js';
import { adviceDocument } from './sizing-document.js';

/** Makes the folder, so that an invalid path fails before the log is read. @throws Failure `unwritable_folder` */
export async function openSizingFolder(
  kind: 'recommend' | 'compare' | 'diff',
  name: string,
  out: string | undefined,
): Promise<string> {
  const path = out === undefined ? resolve('reports', safeName(name), kind) : resolve(out);
  await place(path, async () => {
    makeFolder(path);
    await writeFile(join(path, `${kind}.json`), '');
  });
  return path;
}

/** @returns the page @throws Failure `unwritable_folder` */
export function writeSizing(path: string, report: SizingReport, answer: object): Promise<string> {
  return writeAnswer(path, 'recommend.json', answer, adviceDocument(report), (files) => sizingPageHtml(report, files));
}

/** @returns the page @throws Failure `unwritable_folder` */
export function writeCompared(path: string, report: ComparedReport, answer: object): Promise<string> {
  const document = comparedDocument(report);
  return writeAnswer(path, 'compare.json', answer, document, (files) => documentPage(document, { files }));
}

/** @returns the page @throws Failure `unwritable_folder` */
export function writeDiff(path: string, document: ReportDocument, answer: object): Promise<string> {
  return writeAnswer(path, 'diff.json', answer, document, (files) => documentPage(document, { files }));
}

function writeAnswer(
  path: string,
  name: string,
  answer: object,
  document: ReportDocument,
  pageOf: (files: readonly string[]) => string,
): Promise<string> {
  return place(path, async () => {
    await writeFile(join(path, name), `${JSON.stringify(answer)}\n`);
    const charts = await writeCharts(path, chartsIn(document));
    await writeFile(join(path, 'summary.md'), documentMarkdown(document, charts));
    const page = join(path, 'index.html');
    await writeFile(page, pageOf([name, 'summary.md', ...charts]));
    return page;
  });
}
