// Real clients, each started again and again: what is named is what they do, also with settings that a seed draws.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { drawsOf, RandomStream } from '../../../src/core/math/random.js';
import { clientAnswer } from '../../../src/tools/identify/client/client-answer.js';
import { investigateClient } from '../../../src/tools/identify/client/client-investigation.js';
import { playScripts } from '../../../src/tools/identify/client/play-scripts.js';
import { few } from '../../draws.js';
import { isInstalled } from '../../harness/live/real-servers.js';

interface Expected {
  readonly attempts: number;
  readonly growth: string;
  readonly jitter: string;
  readonly base_ms: number;
  readonly factor: number;
}
type RealClient = readonly [name: string, command: readonly string[], expected: Expected];

const program = (library: string, settings: object) => [
  process.execPath,
  join(import.meta.dirname, 'clients/call.mjs'),
  library,
  '{url}',
  JSON.stringify(settings),
];
const grown = { growth: 'exponential', factor: 2 };

function drawn(seed: number): RealClient[] {
  const draw = new RandomStream(seed, 'settings');
  const minTimeout = 10 * draw.integer(15, 80);
  const retries = draw.integer(2, 4);
  const factor = [1.5, 2, 3][draw.integer(0, 2)]!;
  const limits = { minTimeout, maxTimeout: 60_000 };
  return [
    [
      `undici drawn by ${seed}`,
      program('undici', { maxRetries: retries, timeoutFactor: factor, ...limits }),
      { ...grown, attempts: retries + 1, jitter: 'none', base_ms: minTimeout, factor },
    ],
    [
      `p-retry drawn by ${seed}`,
      program('p-retry', { retries, factor, randomize: true, ...limits }),
      { ...grown, attempts: retries + 1, jitter: 'equal', base_ms: 2 * minTimeout, factor },
    ],
  ];
}

const [undici, pRetry] = drawn(7) as [RealClient, RealClient];

const curl: RealClient = [
  'curl --retry 3',
  ['curl', '-s', '--retry', '3', '{url}'],
  { ...grown, attempts: 4, jitter: 'none', base_ms: 1_000 },
];

/** Each takes half a minute of processor time. */
const clients: readonly RealClient[] = [
  pRetry,
  ['ky', program('ky', {}), { ...grown, attempts: 3, jitter: 'none', base_ms: 300 }],
  [
    'axios-retry',
    program('axios-retry', { retries: 4 }),
    { ...grown, attempts: 5, jitter: 'proportional', base_ms: 200 },
  ],
  undici,
  ['openai', program('openai', {}), { ...grown, attempts: 3, jitter: 'subtractive', base_ms: 500 }],
  ['got', program('got', {}), { ...grown, attempts: 3, jitter: 'additive', base_ms: 1_000 }],
  ...(isInstalled('curl') ? [curl] : []),
];

// They wait most of the time.
it.concurrent.each(few(clients, 1))(
  'what is named of a real client is what it does: %s',
  async (name, command, expected) => {
    const { signal } = new AbortController();
    const found = await playScripts(investigateClient(drawsOf(1)('identify client')), {
      port: 0,
      command,
      timeMs: 240_000,
      signal,
      onReady: () => {},
      onProgress: () => {},
    });
    const { verdict, intervals, waits, announced, client } = clientAnswer(name, found);
    // A busy machine may leave more than one policy, or explain none of them: what is named is never another.
    expect(['identified', 'ambiguous', 'undecided', 'none']).toContain(verdict);
    if (verdict === 'none' || verdict === 'undecided') return;
    expect(intervals['max_attempts']).toEqual([expected.attempts, expected.attempts]);
    const [named] = waits;
    if (verdict === 'ambiguous') {
      expect(waits.some(({ others }) => others.length > 0) || announced.ways.length > 1).toBe(true);
      return;
    }
    const { base_ms, factor, growth, jitter } = expected;
    expect([named!.growth, named!.jitter]).toEqual([growth, jitter]);
    expect(Math.abs(named!.parameters['base_ms']! / base_ms - 1)).toBeLessThan(0.05);
    expect(Math.abs(named!.parameters['factor']! / factor - 1)).toBeLessThan(0.05);
    expect(client).not.toBeNull();
  },
);
