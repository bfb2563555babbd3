import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledSources } from './test/compiled-sources.js';

/** What takes ten seconds of processor time and more, or real servers: `npm run test:long`. */
const long = ['test/**/*.long.test.ts'];

/** Those that judge when a request arrives. They run before the rest, beside nothing that computes. */
const live = [
  'harness/live/{foreign,load,matrix,stopped-generator,stress,used-before,wrong-nodes}',
  'cli/load*',
  'readme-live',
].map((of) => `test/${of}.long.test.ts`);

/** Small files that take long. Vitest begins with the largest: these would be the last, each by itself. */
const first =
  /(readme|detach|outsiders|published|real-clients|keyed-memory|real|real-limiters|random|log-answer)\.long\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [true, false].flatMap((isFirst) => sorted.filter(({ moduleId }) => first.test(moduleId) === isFirst));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // With compiled sources what computes takes an eighth less, and nothing is transformed twice.
    projects: [
      {
        extends: true,
        plugins: [compiledSources()],
        test: { name: 'short', include: ['test/**/*.test.ts'], exclude: long, isolate: false },
      },
      {
        extends: true,
        plugins: [compiledSources()],
        test: { name: 'live', include: live, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        plugins: [compiledSources()],
        test: { name: 'long', include: long, exclude: live, sequence: { groupOrder: 2 } },
      },
    ],
    // The machines that run this have two cores. Half of what tests take is waiting: for real time to pass, for other processes, for servers.
    // A process of the short ones takes one file after the other, with the modules that are loaded.
    maxWorkers: 4,
    // Of those that mostly wait.
    maxConcurrency: 10,
    setupFiles: ['test/after-file.ts'],
    // Where the locale is C, commands print ASCII.
    env: { LANG: 'C.UTF-8', LC_ALL: '', LC_CTYPE: '' },
    server: { deps: { external: [/\/build\/compiled\//] } },
    pool: 'forks',
    // What searches allocates much that lives for a moment: in a young generation of this size less of it is copied.
    execArgv: ['--max-semi-space-size=64'],
    // Only what hangs takes so long: on a busy machine thousands of requests take as long as they take.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
