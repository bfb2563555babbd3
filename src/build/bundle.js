// The build: bundles everything shipped, with esbuild. Bundled packages are not dependencies of the package.
//
//   dist/cli/main.js, chunk-*.js  the program `weir`
//   dist/worker/*.js              its threads
//   dist/lib/*.js                 the library: '@weir/cli' and its entries. It shares RxJS, XState and TypeBox with
//                                 its importer; the program has its own copies, and starts sooner
//   dist/chart/canvas.js          chartjs-node-canvas and its own Chart.js, drawing by @napi-rs/canvas instead of the native `canvas`
//   dist/web/node/home.*, …       the pages of a node, from src/web/node
//   dist/web/node/verify.js       the verifier of records, for a browser
//   dist/web/report.*, …          the pages of reports, from src/web
//   dist/web/play.html            the playground: one file, with the core of the simulation and the shipped scenarios
//   dist/schema/*.schema.json     the JSON Schemas of scenarios, reports, and what commands print
//   dist/topics/*.md              the pages of `weir help`
//   dist/openapi.json             what a node answers with at /api/openapi.json
//   dist/fonts/*.woff2            Inter, for charts
//   dist/LICENSES.txt             licences of the bundled packages; build/bundled.json lists them for `npm run sbom`
//
// `npm run types` makes the type declarations when the package is packed.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });

await build({
  entryPoints: ['src/build/build-time.ts'],
  outdir: 'build',
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});
const { documentOf, endpoints, hashed, routes, schemas, scriptJson, themeStyle, topics } = await import(
  pathToFileURL('build/build-time.js').href
);
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

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

/** WeirClient needs no schemas of its endpoints. */
const withoutSchemas = {
  name: 'without-schemas',
  setup({ onLoad }) {
    const routes = Object.entries(endpoints).map(([name, { method, path }]) => [name, `${method} ${path}`]);
    const contents = `const routes = ${JSON.stringify(Object.fromEntries(routes))};
export function routeOf(name) {
  const [method, path] = routes[name].split(' ');
  return { method, path };
}`;
    onLoad({ filter: /client.route-table\.ts$/ }, () => ({ contents }));
  },
};

/** Keeps TypeBox from probing `Function`, which the page's policy forbids with an error message. */
const withoutFunction = { 'globalThis.Function': 'undefined' };

/** Some may be left out. */
const tools = existsSync('src/tools') ? readdirSync('src/tools') : [];

const page = (path, folder = '') => ({ in: path, out: folder + basename(path, extname(path)) });
const pages = await build({
  ...forBrowsers,
  entryPoints: [
    ...['home.html', 'home.tsx', 'machine.html', 'machine.tsx'].map((name) => page(`src/web/node/${name}`, 'node/')),
    ...['icon.svg', 'report.ts', 'weir.css'].map((name) => page(`src/web/${name}`)),
    ...tools.map((name) => ({ in: `src/tools/${name}/page.ts`, out: name })).filter((one) => existsSync(one.in)),
  ],
  outdir: 'dist/web',
  loader: { '.html': 'copy', '.svg': 'copy' },
  plugins: [withoutSchemas],
});

// All pages share one style and the chart palette.
const style = themeStyle + readFileSync('dist/web/weir.css', 'utf8').trim();
put('dist/web/weir.css', style);

const verifier = await build({
  ...forBrowsers,
  entryPoints: { verify: 'src/web/node/verify-worker.ts' },
  outdir: 'dist/web/node',
  format: 'esm',
  alias: { 'node:crypto': './src/web/node/node-in-browser.ts', 'node:buffer': './src/web/node/node-in-browser.ts' },
  inject: ['src/web/node/node-in-browser.ts'],
  define: withoutFunction,
});

const play = tools.includes('play') ? [await playground()] : [];

/** Native or rarely needed packages, installed beside the package if at all, and one whose threads need its files. */
const outside = ['autocannon', ...Object.keys({ ...manifest.optionalDependencies, ...manifest.peerDependencies })];

/** Piscina uses it only to change thread priorities. */
const neverUsed = ['@napi-rs/nice'];

const forNode = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line that threw.
  lineLimit: 160,
  legalComments: 'none',
  outdir: 'dist',
  metafile: true,
  write: false,
};

/** Replaces the computed name by which chartjs-node-canvas loads `canvas`, which a bundler cannot resolve. */
const prebuiltCanvas = {
  name: 'prebuilt-canvas',
  setup({ onLoad }) {
    onLoad({ filter: /chartjs-node-canvas.dist.freshRequire\.js$/ }, () => ({
      contents: `exports.freshRequire = () => require('@napi-rs/canvas');`,
    }));
  },
};

/** Bundles charts separately. Piscina starts threads from a file beside its own. */
const apart = {
  name: 'apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/canvas\.js$/ }, () => ({ path: '../chart/canvas.js', external: true }));
    onLoad({ filter: /piscina.dist.index\.js$/ }, ({ path }) => {
      const own = "(0, node_path_1.resolve)(__dirname, 'worker.js')";
      const text = readFileSync(path, 'utf8');
      if (!text.includes(own)) throw new Error(`${path} starts its threads in another way`);
      return { contents: text.replace(own, `require.resolve('#package/dist/worker/piscina.js')`) };
    });
  },
};

/** Help is ours: yargs would lay out its own with every command, in half of the time that it takes. */
const withoutLayout = {
  name: 'without-layout',
  setup({ onLoad }) {
    const layout = 'export default () => ({ div() {}, span() {}, resetOutput() {}, toString: () => "" });';
    onLoad({ filter: /cliui.index\.mjs$/ }, () => ({ contents: layout }));
    onLoad({ filter: /string-width.index\.js$/ }, () => ({ contents: 'export default ({ length }) => length;' }));
  },
};

const charts = await build({
  ...forNode,
  entryPoints: { 'chart/canvas': 'src/report/chart/canvas.ts' },
  external: outside,
  // It removes every Chart.js from the process's module cache and deletes a global `Image`: neither belongs to it here.
  define: { 'require.cache': '{}', global: '{}' },
  plugins: [prebuiltCanvas],
});

const program = await build({
  ...forNode,
  entryPoints: {
    'cli/main': 'src/cli/main.ts',
    'worker/node': 'src/cli/embedded-node-worker.ts',
    'worker/replicate': 'src/cli/replicate-worker.ts',
    'worker/piscina': 'node_modules/piscina/dist/worker.js',
  },
  splitting: true,
  chunkNames: 'cli/chunk-[hash]',
  external: [...outside, ...neverUsed, '#package/*'],
  plugins: [apart, withoutLayout],
});

const library = await build({
  ...forNode,
  entryPoints: {
    'lib/weir': 'src/weir.ts',
    'lib/limit': 'src/tools/middleware/limit.ts',
    'lib/expect': 'src/tools/expect/expect.ts',
  },
  splitting: true,
  chunkNames: 'lib/chunk-[hash]',
  external: [...outside, ...neverUsed, ...Object.keys(manifest.dependencies), '#package/*'],
  plugins: [apart],
});

const client = await build({
  ...forNode,
  entryPoints: { 'lib/client': 'src/api/client/weir-client.ts' },
  platform: 'neutral',
  mainFields: ['module', 'main'],
  plugins: [withoutSchemas],
});

const asksForModules = 'var __require=';
const requireHere = `import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);\n`;

for (const { path, text } of [charts, program, library, client].flatMap(({ outputFiles }) => outputFiles))
  put(path, text.includes(asksForModules) ? text.replace(/^(#!.*\n)?/, `$1${requireHere}`) : text);

/** Answers of later versions may have more fields; what is written by hand may not. */
const open = (key, value) => (key === 'additionalProperties' && value === false ? undefined : value);
for (const [name, schema] of Object.entries(schemas))
  put(`dist/schema/${name}.schema.json`, `${JSON.stringify(schema, name === 'scenario' ? undefined : open, 2)}\n`);
put('dist/openapi.json', JSON.stringify(await documentOf(routes)));
for (const { name, path } of topics) if (path !== undefined) copy(path, `dist/topics/${name}.md`);
for (const file of ['latin', 'latin-ext', 'greek', 'cyrillic'].flatMap((subset) =>
  [400, 600].map((weight) => `inter-${subset}-${weight}-normal.woff2`),
))
  copy(`node_modules/@fontsource/inter/files/${file}`, `dist/fonts/${file}`);
const chartLibrary = readFileSync('node_modules/chart.js/dist/chart.umd.min.js', 'utf8');
put('dist/web/chart.umd.js', chartLibrary.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n'));

const inputs = [pages, verifier, ...play, charts, program, library, client].flatMap(({ metafile }) =>
  Object.keys(metafile.inputs),
);
const packages = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []));
packages.add('node_modules/@fontsource/inter');
const bundled = [...packages].sort();
put('build/bundled.json', JSON.stringify(bundled));
put('dist/LICENSES.txt', bundled.map(licenceOf).join('\n\n'));

/** One file. Its policy names scripts and style by hash. */
async function playground() {
  const built = await build({
    ...forBrowsers,
    entryPoints: { program: 'src/cli/playground.ts', unpack: 'src/tools/play/unpack.ts' },
    outdir: 'dist/web/play',
    // A page opened from disk cannot start module workers.
    format: 'iife',
    alias: { 'node:net': './src/tools/play/node-in-page.ts' },
    inject: ['src/tools/play/node-in-page.ts'],
    define: withoutFunction,
    write: false,
  });
  const shipped = readdirSync('scenarios').filter((name) => name.endsWith('.yaml'));
  const scenarios = shipped.map((name) => [name.replace('.yaml', ''), readFileSync(`scenarios/${name}`, 'utf8')]);
  const played = (name) => built.outputFiles.find(({ path }) => path.endsWith(name)).text.trim();

  put(
    'dist/web/play.html',
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hashed(played('program.js'))} ${hashed(played('unpack.js'))}; worker-src blob:; style-src ${hashed(style)}; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Weir playground</title>
<link rel="icon" href="data:image/svg+xml;base64,${readFileSync('src/web/icon.svg').toString('base64')}">
<style>${style}</style>
</head>
<body>
<div id="play"><noscript>This page needs JavaScript.</noscript></div>
<script type="application/json" id="scenarios">${scriptJson(Object.fromEntries(scenarios))}</script>
<script type="text/plain" id="program">${gzipSync(played('program.js'), { level: 9 }).toString('base64')}</script>
<script>${played('unpack.js')}</script>
</body>
</html>
`,
  );
  return built;
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e(\.|-|$)/i.test(one));
  return `${name} ${version}: ${license}\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`;
}

function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  // npm makes a program executable when it links it, not after each build.
  writeFileSync(path, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
