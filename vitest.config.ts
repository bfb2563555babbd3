import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/compiled-sources.js';

/** What takes ten seconds of processor time and more, or real servers: `npm run test:long`. */
const long = ['test/**/*.long.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: long, isolate: false, maxWorkers: 4 },
      },
      // With compiled sources what computes takes an eighth less.
      {
        extends: true,
        plugins: [compiledSources()],
        test: { name: 'long', include: long, sequence: { groupOrder: 1 } },
      },
    ],
    // The machines that run this have two cores. Half of what tests take is waiting: for real time to pass, for other processes, for servers.
    // A process of the short ones takes one file after the other, with the modules that are loaded. Of the long ones more compute, or measure
    // times.
    maxWorkers: 3,
    // Of those that mostly wait.
    maxConcurrency: 10,
    setupFiles: ['test/after-file.ts'],
    // Where the locale is C, commands print ASCII.
    env: { LANG: 'C.UTF-8', LC_ALL: '', LC_CTYPE: '' },
    server: { deps: { external: [/\/build\/compiled\//] } },
    pool: 'forks',
    // Only what hangs takes so long: on a busy machine thousands of requests take as long as they take.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
