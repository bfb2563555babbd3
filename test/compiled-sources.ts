// What tests import from src: compiled once, when Vitest starts, and then loaded by Node itself.
//
//   test/…/x.test.ts   import '../../src/y.js'   ─►   build/compiled/y.js
//
// Vitest itself makes each module a function whose imports are getters; what computes then takes an eighth longer. In watch mode a change
// in src shows after a restart.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'vitest/config';

const root = resolve(import.meta.dirname, '..');
const sources = join(root, 'src');
const compiled = join(root, 'build/compiled');

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

let done: Promise<void> | undefined;

/** Redirects imports of src to what was compiled. */
export function compiledSources(): Plugin {
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    async resolveId(source, importer) {
      const path = source.startsWith('.') && importer !== undefined ? join(dirname(importer), source) : source;
      if (!path.startsWith(sources + sep)) return null;
      done ??= compile();
      await done;
      return { id: join(compiled, relative(sources, path)), external: true };
    },
  };
}

async function compile(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: filesIn(sources).filter((path) => /\.tsx?$/.test(path)),
    outdir: compiled,
    outbase: sources,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
  });
  mkdirSync(compiled, { recursive: true });
  const wanted = new Set(outputFiles.map(({ path }) => path));
  for (const path of filesIn(compiled)) if (!wanted.has(path)) rmSync(path, { force: true });
  for (const { path, text } of outputFiles) {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    mkdirSync(dirname(path), { recursive: true });
    // Another Vitest may read it at this moment.
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
  }
}
