// The folder of a recommended limit: the page, and the answer as JSON.
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { place, safeName } from './folder.js';
import { type SizingReport, sizingPageHtml } from './page/sizing-page.js';

/** Makes the folder, so that an invalid path fails before the log is read. @throws Failure `unwritable_folder` */
export async function openSizingFolder(name: string, out: string | undefined): Promise<string> {
  const path = out === undefined ? resolve('reports', safeName(name), 'recommend') : resolve(out);
  await place(path, async () => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, ANSWER), '');
  });
  return path;
}

const ANSWER = 'recommend.json';

/** @returns the page @throws Failure `unwritable_folder` */
export function writeSizing(path: string, report: SizingReport, answer: object): Promise<string> {
  return place(path, async () => {
    await writeFile(join(path, ANSWER), `${JSON.stringify(answer)}\n`);
    const page = join(path, 'index.html');
    await writeFile(page, sizingPageHtml(report, [ANSWER]));
    return page;
  });
}
