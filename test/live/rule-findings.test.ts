import { expect, it } from 'vitest';
import { definitionOf } from '../../src/limiter/products/products.js';
import type { LiveSeen } from '../../src/live/live-run.js';
import { RequestLog } from '../../src/live/request-log.js';
import { findingsOfRule } from '../../src/live/rule-findings.js';
import { ForeignTarget } from '../../src/live/target.js';

const definition = definitionOf({ like: 'haproxy-http-req-rate', period: '1s', limit: 2 }, 777);

/** Four requests within a second, of which a limit of two refuses only the last. */
function findings(lagMs: number, tookMs: number, transportMs: number | undefined) {
  const requestLog = new RequestLog();
  requestLog.seen.push(
    ...[0, 100, 200, 300].map((sentMs, index) => ({
      sentMs: 1_700_000_000_000 + sentMs,
      answeredMs: 1_700_000_000_000 + sentMs + (index === 3 ? tookMs : 1),
      decision: index < 3 ? ('admitted' as const) : ('limited' as const),
    })),
  );
  const target = new ForeignTarget(
    { origin: 'http://127.0.0.1:1', basePath: '', path: '/' },
    transportMs === undefined ? {} : { transport_ms: transportMs },
    ['all'],
  );
  const seen = {
    requestLog,
    time: { cycleMs: 777 },
    slackMs: 0,
    target,
    lagMs: { p90: 0, most: lagMs },
    apartMs: 0,
  } as unknown as LiveSeen;
  return findingsOfRule(seen, { names: ['all'] }, definition);
}

it.each([
  ['a machine that ran all the time', 5, 2, undefined, 1],
  ['slow answers that nobody promised to be quick', 5, 400, undefined, 1],
  ['answers as quick as promised', 5, 50, 60, 1],
  ['tasks that began 120 ms late', 120, 2, undefined, 0],
  ['a limited answer that came 140 ms later than promised', 5, 200, 60, 0],
])('a limiter is accused only where the machine did not stand still: %s', (_, lagMs, tookMs, transportMs, accused) => {
  const { differences, tooUncertain } = findings(lagMs, tookMs, transportMs);
  expect([differences.length, tooUncertain?.includes('stood still') ?? false]).toEqual([accused, accused === 0]);
});
