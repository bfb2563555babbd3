// The last step of `npm run types`: copies the declarations reachable from the entries of '@weir/cli' from build/types to dist/types.
//
//   weir.d.ts ─► … ─► rxjs, typebox, xstate, node:…       any other package must be a dependency, or its types must not be exposed
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const from = 'build/types';
const into = 'dist/types';
const { exports, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const shared = new RegExp(`^(node:.*|(${Object.keys(dependencies).join('|')})(/.*)?)$`);

const entries = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [relative(into, types)]));
const reached = new Set(entries);
for (const path of reached) {
  const text = readFileSync(join(from, path), 'utf8');
  for (const [, name] of text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm)) {
    if (name.startsWith('.')) reached.add(join(dirname(path), name.replace(/\.js$/, '.d.ts')));
    else if (!shared.test(name)) throw new Error(`${path} names ${name}, which who installs the package does not have`);
  }
}
rmSync(into, { recursive: true, force: true });
for (const path of reached) cpSync(join(from, path), join(into, path));
