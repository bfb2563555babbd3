// The curve of real request logs beside replays of them. A replay for each threshold: it takes long.
import { expect, it } from 'vitest';
import { recordedLogs } from '../../harness/traffic/log/recorded.js';
import { adviceOn, file, replayOf } from './logs.js';

/** Ten thresholds that a log of this peak has an opinion on. */
const tenOf = (peak: number) =>
  [...new Set([1, 2, 3, 5, 8, ...[0.1, 0.3, 0.5, 0.8, 0.95, 1].map((share) => Math.max(1, Math.floor(share * peak)))])]
    .sort((a, b) => a - b)
    .slice(0, 11);

it.each(
  recordedLogs.flatMap((log) =>
    [undefined, ...(log.understood.startsWith('combined') ? ['client'] : [])].map(
      (key) => [`${log.name}${key === undefined ? '' : ` by ${key}`}`, log, key] as const,
    ),
  ),
)('%s: the shares of ten thresholds are those of ten replays, to the request', async (_, log, keyColumn) => {
  const path = log.path ?? file(log.name, log.text!);
  const options = { ...log.options, keyColumn };
  const { curves } = await adviceOn(path, [60, 7, 300], options);
  for (const [window, { within, peak, points: all }] of curves.entries()) {
    // One replay takes as long as one curve: ten for the window that is asked most, three for the others.
    const wanted = window === 0 ? tenOf(peak) : tenOf(peak).slice(4, 7);
    // Of a high peak the curve has not every threshold: the next lower one.
    const points = [...new Set(wanted.map((most) => all.findLast(({ threshold }) => threshold <= most)!))];
    const replays = [];
    for (const { threshold } of points) {
      const { requests, limited, contracts_limited } = await replayOf(path, threshold, within, options);
      replays.push({ threshold, limited, limited_share: limited / requests, keys_limited: contracts_limited });
    }
    expect(points).toEqual(replays.map((one) => ({ ...one, suspects_limited: expect.any(Number) })));
  }
});
