// The last step of the build: bundles the pages for browsers, and what a package may not ask of the machine that it is installed on.
//
//   dist/web/node/home.*, …       the pages of a node, from src/web/node
//   dist/web/node/verify.js       the verifier of records, for a browser
//   dist/web/report.*, …          those of reports, from src/web
//   dist/web/play.html            the playground: one file, with the core of the simulation and the shipped scenarios
//   dist/web/watch.html           the page of a run while it goes on: one file
//   dist/report/chart/canvas.js   chartjs-node-canvas and its own Chart.js, drawing by @napi-rs/canvas instead of the native `canvas`.
//                                 Nothing is shared with a Chart.js of the program that uses the library.
//   dist/schema/compile-schema.js, …
//                                 packages of many small modules, in the one file that uses each: a process starts sooner
//   dist/client/event-stream.js   the same, so that what imports '@weir/cli/client' in a browser needs no package
//   dist/cli/main.js, chunk-*.js  the program, with the packages that are many small modules: `weir simulate` starts in 0.7 of the time.
//                                 The library stays as it is: who imports it shares RxJS and XState with it.
//   dist/topics/*.md              the pages of `weir help`, wherever their texts are
//   dist/LICENSES.txt             the licences of the packages that were bundled
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { hashed, scriptJson } from '../dist/report/page/html.js';
import { topics } from '../dist/topics/topics.js';
import { themeStyle } from '../dist/web/chart/palette.js';

/** For the pages. */
const forBrowsers = {
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  minify: true,
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
};

/** TypeBox would try whether it may make functions of text: the policy of a page says no, aloud. */
const withoutFunction = { 'globalThis.Function': 'undefined' };

const pages = await build({
  ...forBrowsers,
  entryPoints: [
    'node/home.html',
    'node/home.tsx',
    'node/machine.html',
    'node/machine.tsx',
    'node/node.css',
    'icon.svg',
    'report.ts',
    'report.css',
    'sweep.ts',
    'recommend.ts',
    'recommend.css',
  ].map((name) => `src/web/${name}`),
  outdir: 'dist/web',
  loader: { '.html': 'copy', '.svg': 'copy' },
});

const verifier = await build({
  ...forBrowsers,
  entryPoints: { verify: 'src/web/node/verify-worker.ts' },
  outdir: 'dist/web/node',
  format: 'esm',
  alias: { 'node:crypto': './src/web/node/node-in-browser.ts', 'node:buffer': './src/web/node/node-in-browser.ts' },
  inject: ['src/web/node/node-in-browser.ts'],
  define: withoutFunction,
});

const play = await build({
  ...forBrowsers,
  entryPoints: ['program.ts', 'unpack.ts', 'watch.tsx', 'play.css'].map((name) => `src/web/play/${name}`),
  outdir: 'dist/web/play',
  // A page that was opened from the disk starts no worker that is a module.
  format: 'iife',
  define: withoutFunction,
  write: false,
});
const shipped = readdirSync('scenarios').filter((name) => name.endsWith('.yaml'));
const scenarios = shipped.map((name) => [name.replace('.yaml', ''), readFileSync(`scenarios/${name}`, 'utf8')]);
const played = (name) => play.outputFiles.find(({ path }) => path.endsWith(name)).text.trim();
const style = themeStyle + played('play.css');

writeFileSync(
  'dist/web/play.html',
  page({
    title: 'Weir playground',
    policy: `script-src ${hashed(played('program.js'))} ${hashed(played('unpack.js'))}; worker-src blob:`,
    body: `<script type="application/json" id="scenarios">${scriptJson(Object.fromEntries(scenarios))}</script>
<script type="text/plain" id="program">${gzipSync(played('program.js'), { level: 9 }).toString('base64')}</script>
<script>${played('unpack.js')}</script>`,
  }),
);
writeFileSync(
  'dist/web/watch.html',
  page({
    title: 'Weir: a run',
    policy: `script-src ${hashed(played('watch.js'))}; connect-src 'self'`,
    body: `<script type="module">${played('watch.js').replaceAll('</script', '<\\/script')}</script>`,
  }),
);

/** A page in one file. Its policy names its scripts and its style by their hashes. */
function page({ title, policy, body }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${policy}; style-src ${hashed(style)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml;base64,${readFileSync('src/web/icon.svg').toString('base64')}">
<style>${style}</style>
</head>
<body>
<div id="play"><noscript>This page needs JavaScript.</noscript></div>
${body}
</body>
</html>
`;
}

/** chartjs-node-canvas loads `canvas` by a computed name, which a bundler cannot see: here by a fixed one. */
const prebuiltCanvas = {
  name: 'prebuilt-canvas',
  setup({ onLoad }) {
    onLoad({ filter: /chartjs-node-canvas.dist.freshRequire\.js$/ }, () => ({
      contents: `exports.freshRequire = () => require('@napi-rs/canvas');`,
    }));
  },
};

/** Bundles the packages that a file of the build imports into that file. */
const inPlace = {
  outdir: 'dist',
  outbase: 'src',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'inline',
  banner: {
    js: `import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);`,
  },
  metafile: true,
};

/** The other files of the build stay files of their own: what they export exists once in a process. */
const othersApart = {
  name: 'others-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, importer, kind }) =>
      kind === 'entry-point' || importer.includes('node_modules') ? undefined : { path, external: true },
    );
  },
};

const charts = await build({
  ...inPlace,
  entryPoints: ['src/report/chart/canvas.ts'],
  external: ['@napi-rs/canvas'],
  // It removes every Chart.js from the module cache of the process and deletes a global `Image`: neither is its own here.
  define: { 'require.cache': '{}', global: '{}' },
  plugins: [prebuiltCanvas],
});

const others = await build({
  ...inPlace,
  entryPoints: ['math/durations', 'scenario/document', 'schema/compile-schema'].map((name) => `src/${name}.ts`),
  plugins: [othersApart],
});

const anywhere = await build({
  ...inPlace,
  entryPoints: ['src/client/event-stream.ts'],
  platform: 'neutral',
  mainFields: ['module', 'main'],
  banner: {},
  plugins: [othersApart],
});

/** Other packages stay outside, and the charts, which are bundled above. */
const outside = {
  name: 'outside',
  setup({ onResolve }) {
    const inside = /^(canonicalize|marked|pure-rand|rxjs|typebox|xstate|yaml|yargs)(\/|$)/;
    onResolve({ filter: /^[^.]/ }, ({ path, importer, kind }) =>
      kind === 'entry-point' || importer.includes('node_modules') || inside.test(path)
        ? undefined
        : { path, external: true },
    );
    onResolve({ filter: /\/canvas\.js$/ }, () => ({ path: '../report/chart/canvas.js', external: true }));
  },
};

for (const name of readdirSync('dist/cli')) if (name.startsWith('chunk-')) rmSync(`dist/cli/${name}`);
const program = await build({
  ...inPlace,
  outdir: 'dist/cli',
  outbase: 'src/cli',
  entryPoints: ['src/cli/main.ts'],
  splitting: true,
  chunkNames: 'chunk-[hash]',
  plugins: [outside],
});

for (const { name, path } of topics) copyFileSync(path, `dist/topics/${name}.md`);

const packages = new Set(
  Object.keys({
    ...pages.metafile.inputs,
    ...verifier.metafile.inputs,
    ...charts.metafile.inputs,
    ...others.metafile.inputs,
    ...anywhere.metafile.inputs,
    ...program.metafile.inputs,
    ...play.metafile.inputs,
  }).flatMap((path) => path.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []),
);
const licences = [...packages].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
    .map((file) => join(folder, file))
    .find((path) => existsSync(path));
  return `${name} ${version}: ${license}\n\n${text === undefined ? '' : readFileSync(text, 'utf8')}`;
});
writeFileSync('dist/LICENSES.txt', licences.join('\n\n'));
