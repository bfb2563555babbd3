// The folders of a recommended limit and of rules side by side: the page, the answer as JSON, and a picture.
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../store/make-folder.js';
import { refusalsChart } from './chart/rules.js';
import { place, safeName } from './folder.js';
import { type ComparedReport, comparedHtml } from './page/compare-page.js';
import { type SizingReport, sizingPageHtml } from './page/sizing-page.js';

/** Makes the folder, so that an invalid path fails before the log is read. @throws Failure `unwritable_folder` */
export async function openSizingFolder(
  kind: 'recommend' | 'compare',
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
  return place(path, async () => {
    await writeFile(join(path, 'recommend.json'), `${JSON.stringify(answer)}\n`);
    const page = join(path, 'index.html');
    await writeFile(page, sizingPageHtml(report, ['recommend.json']));
    return page;
  });
}

/** @returns the page @throws Failure `unwritable_folder` */
export function writeCompared(path: string, report: ComparedReport, answer: object): Promise<string> {
  return place(path, async () => {
    await writeFile(join(path, 'compare.json'), `${JSON.stringify(answer)}\n`);
    // Drawing loads a canvas and a font: it is imported only when a report is written.
    const { chartPng } = await import('./chart/png.js');
    await writeFile(join(path, 'refused.png'), chartPng(refusalsChart(report), 'light'));
    const page = join(path, 'index.html');
    await writeFile(page, comparedHtml(report, ['compare.json', 'refused.png']));
    return page;
  });
}
