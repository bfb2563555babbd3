// The report folder of a recommended limit, a comparison of rules or a change of limits: page, JSON, Markdown, pictures.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../core/files/make-folder.js';
import { chartsIn, type ReportDocument } from './block.js';
import { place, safeName, writeCharts } from './folder.js';
import { documentMarkdown } from './markdown.js';
import { documentPage } from './page/page.js';

interface AnswerFolder {
  readonly path: string;
  readonly kind: 'recommend' | 'compare' | 'diff';
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

export function writeAnswer(
  { path, kind }: AnswerFolder,
  answer: object,
  document: ReportDocument,
  pageOf = (files: readonly string[]) => documentPage(document, { files }),
): Promise<string> {
  return place(path, async () => {
    await writeFile(join(path, `${kind}.json`), `${JSON.stringify(answer)}\n`);
    const charts = await writeCharts(path, chartsIn(document));
    await writeFile(join(path, 'summary.md'), documentMarkdown(document, charts));
    const page = join(path, 'index.html');
    await writeFile(page, pageOf([`${kind}.json`, 'summary.md', ...charts]));
    return page;
  });
}
