// The folder of an answer that compares runs: its JSON, its table as CSV, and what every report has: page, Markdown, pictures, JUnit.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../core/files/make-folder.js';
import { chartsIn, type ReportDocument, shownIn } from './block.js';
import { place, safeName, writeCharts } from './folder.js';
import { documentsJunit } from './junit.js';
import { documentMarkdown } from './markdown.js';
import { documentPage } from './page/page.js';

interface AnswerFolder {
  readonly path: string;
  readonly kind: 'recommend' | 'compare' | 'diff';
}

interface AnswerFiles {
  readonly answer: object;
  readonly csv?: string | undefined;
  readonly document: ReportDocument;
  readonly pageOf?: ((files: readonly string[]) => string) | undefined;
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

export function writeAnswer({ path, kind }: AnswerFolder, { answer, csv, ...files }: AnswerFiles): Promise<string> {
  return place(path, async () => {
    await writeFile(join(path, `${kind}.json`), `${JSON.stringify(answer)}\n`);
    if (csv !== undefined) await writeFile(join(path, `${kind}.csv`), csv);
    return writeDocument(path, files, [`${kind}.json`, ...(csv === undefined ? [] : [`${kind}.csv`])]);
  });
}

/** @param beside names of files that are there already. Returns the path of the page */
async function writeDocument(
  path: string,
  { document, pageOf = (files) => documentPage(document, { files }) }: Omit<AnswerFiles, 'answer' | 'csv'>,
  beside: readonly string[],
): Promise<string> {
  const charts = await writeCharts(path, chartsIn(document));
  await writeFile(join(path, 'summary.md'), documentMarkdown(document, charts));
  const isChecked = shownIn(document.blocks, 'junit').some(({ kind }) => kind === 'checks');
  if (isChecked) await writeFile(join(path, 'junit.xml'), documentsJunit([document]));
  const page = join(path, 'index.html');
  const files = [...beside, 'summary.md', ...(isChecked ? ['junit.xml'] : []), ...charts];
  await writeFile(page, pageOf(files));
  return page;
}
