// Loaded anew for each test file.
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { addTools } from '../src/tools.js';
import { tries } from './draws.js';
import { beginTest, endFile, endTest } from './left-behind.js';

// chartjs-node-canvas leaves entries without a module in the cache of the process, which Fastify walks through. The build has a cache of its
// own for it; tests load the package as it is.
const require = createRequire(import.meta.url);
for (const [path, module] of Object.entries(require.cache)) if (module === undefined) delete require.cache[path];

// As in the build (bundle.js): yargs' own help, which nobody sees, would be laid out with every command, in most of the time that it takes.
const { default: shim } = await import(
  new URL('../node_modules/yargs/lib/platform-shims/esm.mjs', import.meta.url).href
);
shim.cliui = () => ({ div() {}, span() {}, resetOutput() {}, toString: () => '' });
shim.stringWidth = ({ length }: string) => length;

// Each node would make functions of its routes, in a third of the time that it takes to start.
require('find-my-way').prototype.compile = () => {};

addTools();

// A property that does not say how often it is tried.
fc.configureGlobal({ numRuns: tries(200) });

beforeEach(beginTest);
afterEach(endTest);
afterAll(endFile);
