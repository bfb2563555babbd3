import { defineConfig } from 'vitest/config';
import { compiledSources } from './test/compiled-sources.js';
import { longestFirst } from './test/longest-first.js';

/** What takes ten seconds of processor time and more each: `npm run test:long`. The longest first; so they start. */
const long = [
  'test/tools/workers/load-workers.test.ts',
  'test/tools/identify/real-clients.test.ts',
  'test/tools/identify/random.test.ts',
  'test/harness/live/real-limiters.test.ts',
  'test/tools/identify/investigation.test.ts',
  'test/published/published.test.ts',
  'test/harness/live/matrix.test.ts',
  'test/readme.test.ts',
  'test/web/play.test.ts',
  'test/node/rolling-restart.test.ts',
  'test/node/network-faults.test.ts',
  'test/tools/workers/command.test.ts',
  'test/tools/identify/log-answer.test.ts',
  'test/node/keyed-memory.test.ts',
  'test/harness/explain/rules.test.ts',
  'test/harness/live/load.test.ts',
  'test/tools/identify/random-clients.test.ts',
  'test/tools/gateway/real.test.ts',
  'test/harness/live/used-before.test.ts',
  'test/harness/live/stopped-generator.test.ts',
  'test/node/machine-page.test.ts',
  'test/harness/live/wrong-nodes.test.ts',
  'test/node/slow-clients.test.ts',
  'test/tools/identify/retry-policy.test.ts',
  'test/tools/identify/client-limits.test.ts',
  'test/report/page.test.ts',
  'test/harness/clients/libraries.test.ts',
  'test/node/many-readers.test.ts',
  'test/tools/sweep/command.test.ts',
  'test/harness/live/stress.test.ts',
  'test/node/idempotency-kill.test.ts',
  'test/node/machine-frames.test.ts',
  'test/node/network-cluster.test.ts',
  'test/detach.test.ts',
  'test/site.test.ts',
  'test/cli/load-url.test.ts',
  'test/package.test.ts',
  'test/container.test.ts',
  'test/harness/explain/windows.test.ts',
  'test/node/fuzz.test.ts',
  'test/cli/load.test.ts',
  'test/harness/live/real-gateways.test.ts',
  'test/node/stopped.test.ts',
  'test/node/network-page.test.ts',
  'test/node/kill-loop.test.ts',
  'test/action.test.ts',
  'test/harness/live/foreign.test.ts',
  'test/cli/serving.test.ts',
  'test/node/home.test.ts',
  'test/node/failing-writes.test.ts',
  'test/harness/explain/search-against-brute-force.test.ts',
  'test/tools/sweep/collapse-map.test.ts',
  'test/tools/recommend/recorded-logs.test.ts',
  'test/node/faults.test.ts',
  'test/node/network-scenarios.test.ts',
  'test/cli/pinning.test.ts',
  'test/node/generated-client.test.ts',
  'test/harness/live/real-nginx-keys.test.ts',
  'test/core/record/verify-export-bits.test.ts',
  'test/cli/compose.test.ts',
  'test/cli/follow.test.ts',
  'test/node/victim.test.ts',
  'test/tools/identify/real.test.ts',
];

/** The longest of the others: fifteen seconds and more, beside others. */
const longestOfShort = [
  'test/harness/live/lost-answers.test.ts',
  'test/node/host/keys-as-contracts.test.ts',
  'test/cli/simulate.test.ts',
  'test/core/limiter/rule/most-starts.test.ts',
  'test/core/math/interval.test.ts',
  'test/report/png.test.ts',
  'test/node/stream.test.ts',
  'test/report/folder.test.ts',
  'test/node/address-networks.test.ts',
  'test/tools/recommend/recommend.test.ts',
  'test/cli/replay.test.ts',
  'test/node/registry.test.ts',
  'test/core/limiter/gate-of-rule.test.ts',
];

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
    // The machines that run this have two cores. Nearly half of what the short ones take is waiting: for real time to pass, for other
    // processes, for servers. A process of them takes one file after the other, with the modules that are loaded. Of the long ones more
    // measure times, or compute.
    setupFiles: ['test/after-file.ts'],
    // Where the locale is C, commands print ASCII.
    env: { LANG: 'C.UTF-8', LC_ALL: '', LC_CTYPE: '' },
    server: { deps: { external: [/\/build\/compiled\//] } },
    pool: 'forks',
    sequence: { sequencer: longestFirst([...longestOfShort, ...long]) },
    maxWorkers: 3,
    maxConcurrency: 10,
    // Only what hangs takes so long: on a busy machine thousands of requests take as long as they take.
    testTimeout: 900_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
