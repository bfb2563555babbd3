import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The machines that run this have two cores: one process per file, and three files at a time, since a third of the suites waits for
    // real time to pass, for other processes, or for a browser.
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
