// The folder of an answer that compares runs: its JSON, its table as CSV, and what every report has: page, Markdown, pictures, JUnit.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../core/files/make-folder.js';
import type { ReportDocument } from './block.js';
import { place, safeName, writeDocument } from './folder.js';
import { documentPage } from './page/page.js';

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
