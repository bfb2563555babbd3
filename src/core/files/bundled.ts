// The bundled files of the pages, each read once.
import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.js';

export type BundledFile =
  | 'node/home.html'
  | 'node/home.js'
  | 'node/machine.html'
  | 'node/machine.js'
  | 'node/verify.js'
  | 'chart.umd.js'
  | 'icon.svg'
  | 'play.html'
  | 'report.js'
  | 'weir.css'
  | 'sweep.js'
  | 'recommend.js';

const texts = new Map<BundledFile, string>();

export function bundled(name: BundledFile): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(packageFile(`dist/web/${name}`), 'utf8');
    texts.set(name, text);
  }
  return text;
}
