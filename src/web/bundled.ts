// The bundled files of the pages, each read once.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export type BundledFile =
  | 'node/home.html'
  | 'node/home.js'
  | 'node/machine.html'
  | 'node/machine.js'
  | 'node/verify.js'
  | 'node/node.css'
  | 'icon.svg'
  | 'play.html'
  | 'watch.html'
  | 'report.js'
  | 'report.css'
  | 'sweep.js'
  | 'recommend.js'
  | 'recommend.css';

const texts = new Map<BundledFile, string>();

/** Resolved by the `imports` of package.json, both from the sources and from the build. */
export function bundled(name: BundledFile): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(createRequire(import.meta.url).resolve(`#web/${name}`), 'utf8');
    texts.set(name, text);
  }
  return text;
}
