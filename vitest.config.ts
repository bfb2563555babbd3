import { defineConfig } from 'vitest/config';

/** What takes half a minute and more each: `npm run test:long`. */
const long = [
  ...['faults', 'fuzz', 'kill-loop', 'many-readers', 'slow-clients', 'stopped'].map(
    (name) => `test/node/${name}.test.ts`,
  ),
  ...['load', 'sweep'].map((name) => `test/cli/${name}.test.ts`),
  'test/live/foreign.test.ts',
  ...['haproxy-redis', 'libraries', 'nginx'].map((name) => `test/live/real-${name}.test.ts`),
  'test/live/rule-explanation.test.ts',
  'test/live/wrong-nodes.test.ts',
  'test/package.test.ts',
  'test/readme.test.ts',
  'test/sizing/recorded-logs.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'short', include: ['test/**/*.test.ts'], exclude: long } },
      { extends: true, test: { name: 'long', include: long } },
    ],
    // The machines that run this have two cores: one process per file, and three files at a time, since a third of the suites waits for
    // real time to pass, for other processes, or for a browser.
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
