// Announced waits, beside what was seen.
import { expect, it } from 'vitest';
import { waitsInWords } from '../../../src/harness/live/announced-waits.js';

/** `10-12 l1000`: sent at 10 ms, answered at 12, limited with a wait of 1000 ms announced. */
function words(...requests: string[]): string | undefined {
  return waitsInWords(
    requests.map((text) => {
      const [, sent, answered, decision, wait] = /^(\d+)-(\d+) ([al])(\d*)$/.exec(text)!;
      return {
        sentMs: Number(sent),
        answeredMs: Number(answered),
        decision: decision === 'a' ? 'admitted' : 'limited',
        announcedMs: wait === '' ? undefined : Number(wait),
      };
    }),
  );
}

// biome-ignore format: one case a line
it.each([
  ['nothing was announced', ['0-2 a', '5-7 l', '900-902 a'], undefined],
  ['as announced', ['0-2 a', '5-7 l1000', '500-502 l1000', '1600-1602 a'], undefined],
  ['too short',
    ['0-2 a', '8-10 l1000', '1610-1612 l', '1700-1702 a'], 'Retry waits sent to clients were too short: sent 1 s, true more than 1.60 s.'],
  ['not too short where another was admitted meanwhile', ['0-2 l1000', '1100-1102 a', '1200-1202 l'], undefined],
  ['too long', ['0-2 a', '10-12 l1000', '400-402 a'], 'Retry waits sent to clients were too long: sent 1 s, true at most 0.39 s.'],
])('announced waits are judged by what was seen: %s', (_, requests, expected) => {
  expect(words(...requests)).toBe(expected);
});
