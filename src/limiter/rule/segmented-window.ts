// A window cut into m segments on the grid of a process.
//
//   | 2 | 0 | 5 | 1 |        sum = 8, ok = n <= L - sum
//   ^ W ago         ^ now    each step of W / m gives back what the segment one window ago took
//
// Source: .NET System.Threading.RateLimiting, SlidingWindowRateLimiter.
import type { Static } from 'typebox';
import { Type } from '../../schema/json-schema.js';
import { limit, strict, windowMs } from './fields.js';
import { cycleWindow } from './rolling-count.js';
import type { Rule } from './rule.js';

export const SegmentedWindowParams = Type.Object(
  {
    limit,
    window_ms: windowMs,
    segments: Type.Integer({ minimum: 1, maximum: 10_000, description: 'How many segments the window is cut into.' }),
  },
  strict,
);

export function segmentedWindow({ limit, window_ms, segments }: Static<typeof SegmentedWindowParams>): Rule {
  return cycleWindow({ limit, within: segments, cycleMs: window_ms / segments, countsRefused: false, fromMade: true });
}
