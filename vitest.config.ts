import { defineConfig } from 'vitest/config';

/** What takes ten seconds of processor time and more each: `npm run test:long`. */
const long = [
  ...[
    'failing-writes',
    'faults',
    'fuzz',
    'generated-client',
    'home',
    'idempotency-kill',
    'keyed-memory',
    'kill-loop',
    'machine-frames',
    'machine-page',
    'many-readers',
    'network-cluster',
    'network-faults',
    'network-page',
    'network-scenarios',
    'slow-clients',
    'stepped-process',
    'stopped',
    'victim',
  ].map((name) => `test/node/${name}.test.ts`),
  ...[
    'compose',
    'follow',
    'load',
    'load-url',
    'load-workers',
    'pinning',
    'serve-reports',
    'serving',
    'sweep',
    'watch',
    'worker',
  ].map((name) => `test/cli/${name}.test.ts`),
  ...['foreign', 'load', 'matrix', 'stopped-generator', 'stress'].map((name) => `test/live/${name}.test.ts`),
  ...['gateways', 'limiters', 'nginx-keys'].map((name) => `test/live/real-${name}.test.ts`),
  ...['investigation', 'log-answer', 'random', 'random-clients', 'real', 'real-clients', 'retry-policy'].map(
    (name) => `test/identify/${name}.test.ts`,
  ),
  'test/actor/client/libraries.test.ts',
  'test/explain/rules.test.ts',
  'test/gateway/real.test.ts',
  'test/explain/search-against-brute-force.test.ts',
  'test/explain/windows.test.ts',
  'test/report/page.test.ts',
  'test/simulate/sweep/collapse-map.test.ts',
  'test/simulate/sweep/rare.test.ts',
  'test/simulate/sweep/recovery-chain.test.ts',
  'test/live/wrong-nodes.test.ts',
  'test/action.test.ts',
  'test/container.test.ts',
  'test/package.test.ts',
  'test/readme.test.ts',
  'test/site.test.ts',
  'test/record/verify-export-bits.test.ts',
  'test/sizing/recorded-logs.test.ts',
  'test/validation/published.test.ts',
  'test/web/play.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: long, isolate: false, maxWorkers: 4 },
      },
      { extends: true, test: { name: 'long', include: long, sequence: { groupOrder: 1 } } },
    ],
    // The machines that run this have two cores. Nearly half of what the short ones take is waiting: for real time to pass, for other
    // processes, for servers. A process of them takes one file after the other, with the modules that are loaded. Of the long ones more
    // measure times, or compute.
    setupFiles: ['test/after-file.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // Only what hangs takes so long: on a busy machine thousands of requests take as long as they take.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
