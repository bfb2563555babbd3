// Owns the font of charts that are drawn outside a browser. A fresh machine may have no font at all, and text would be missing without
// a word; so the charts bring their own (Inter, SIL Open Font License 1.1), and look the same everywhere.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The families to name in a configuration; the last is what the system has, for scripts that Inter does not know. */
export const chartFont = 'Weir, "Weir Ext", "Weir Greek", "Weir Cyrillic", sans-serif';

const subsets = { Weir: 'latin', 'Weir Ext': 'latin-ext', 'Weir Greek': 'greek', 'Weir Cyrillic': 'cyrillic' } as const;
const weights = [400, 600] as const;

let registered = false;

/** @param registerFont that of the canvas which will draw */
export function registerFonts(registerFont: (path: string, family: string) => unknown): void {
  if (registered) return;
  const files = join(dirname(createRequire(import.meta.url).resolve('@fontsource/inter/package.json')), 'files');
  for (const [family, subset] of Object.entries(subsets)) {
    for (const weight of weights) registerFont(join(files, `inter-${subset}-${weight}-normal.woff2`), family);
  }
  registered = true;
}
