// Which use of Retry-After explains the waits after it.
import { expect, it } from 'vitest';
import { type Advised, adviceTaken } from '../../../src/tools/identify/client/retry-after.js';

const late = { offsetMs: 8.56, spreadMs: 11.1 };
/** A client whose own waits are between 0 and 500 ms. */
const after = (announcedMs: number, gapMs: number | undefined): Advised => ({
  announcedMs,
  gapMs,
  watchedMs: gapMs === undefined ? 7_500 : Infinity,
  late,
  hiddenMs: 2 * late.spreadMs,
  own: [{ share: 1, fromMs: 0, toMs: 500 }],
});

it('waits up to 5 s beyond those of the client are found, where the others were later than most', () => {
  const waits = [1_000, 2_000, 5_000].flatMap((ms) => [1, 2, 3].map((k) => after(ms, ms + 2 * k)));
  const long = [40, 120, 210, 330, 470].map((ms) => after(65_000, 5_000 + ms + 10));
  const [best] = adviceTaken([...waits, ...long], 1);
  expect(best).toMatchObject({ way: 'near', reachMs: 5_000 });
});

it.each([
  // Less late than all others seem to be at least: the cap is still the round one.
  ['capped, by a gap that is early by 0.4 ms', 10_008.2],
  ['capped', 10_012],
])('an announcement is found to be obeyed up to 10 s: %s', (_, gapMs) => {
  const short = [0, 1_000, 2_000, 5_000].map((ms, k) => after(ms, ms + [38, 9, 13.8, 11.3][k]!));
  const seen = [...short, after(15_000, undefined), after(32_000, undefined), after(65_000, gapMs)];
  const [best] = adviceTaken(seen, 1);
  expect(best).toMatchObject({ way: 'obeyed', end: { above: 'capped', atMs: 10_000 } });
});

it('an announcement is found to be ignored where an own wait is shorter than the estimate of its law', () => {
  const own = [{ share: 1, fromMs: 163, toMs: 203 }];
  const seen = [1_000, 2_000, 5_000, 1_000, 2_000].map((announcedMs, k) => ({
    ...after(announcedMs, [160.2, 171, 178, 186, 199][k]! + 0.3),
    late: { offsetMs: 0.5, spreadMs: 1 },
    hiddenMs: 2,
    own,
  }));
  expect(adviceTaken(seen, 1.25)[0]).toEqual({ way: 'ignored' });
});

it('an announcement is found to be ignored before any use that says no more: a little longer may be late', () => {
  // On a busy machine, waits of 300 ms ended up to 46 ms later.
  const busy = { offsetMs: 6, spreadMs: 20 };
  const own = [{ share: 1, fromMs: 300, toMs: 300 }];
  const seen = [346, 309, 318, 312, 331, 307].map((gapMs, k) => ({
    ...after([1_000, 2_000, 5_000][k % 3]!, gapMs),
    late: busy,
    hiddenMs: 80,
    own,
  }));
  expect(adviceTaken(seen, 1).map(({ way }) => way)).toEqual(['ignored']);
});
