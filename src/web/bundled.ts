// The files of the pages as the build has bundled them, read once each.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export type BundledFile = 'home.html' | 'home.js' | 'home.css' | 'home.svg' | 'report.js' | 'report.css';

const texts = new Map<BundledFile, string>();

/** Found by the `imports` of package.json, from the sources as well as from the build. */
export function bundled(name: BundledFile): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(createRequire(import.meta.url).resolve(`#web/${name}`), 'utf8');
    texts.set(name, text);
  }
  return text;
}
