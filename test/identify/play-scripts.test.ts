// A program under test that makes no call: which failure says why.
import { expect, it } from 'vitest';
import { investigateClient } from '../../src/identify/client/client-investigation.js';
import { playScripts } from '../../src/identify/client/play-scripts.js';
import { drawsOf } from '../../src/math/random.js';

it.each([
  [
    ['no-such-program-here', '{url}'],
    {
      code: 'wrong_usage',
      what: 'no-such-program-here cannot be started.',
      why: 'There is no such program, or it may not be run.',
    },
  ],
  [[process.execPath, '-e', 'process.exit(3)'], { code: 'answer_unreadable', why: 'It ended with exit code 3.' }],
  [
    [process.execPath, '-e', 'console.error("no key"); process.exit(1)'],
    { code: 'answer_unreadable', why: 'It ended with exit code 1. It said: no key' },
  ],
])('%j', async (command, failure) => {
  const played = playScripts(investigateClient(drawsOf(1)('identify client')), {
    port: 0,
    command,
    timeMs: 20_000,
    signal: new AbortController().signal,
    onReady: () => {},
    onProgress: () => {},
  });
  await expect(played).rejects.toMatchObject(failure);
});
