import { expect, it } from 'vitest';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import type { Pause } from '../../../src/harness/explain/seen-request.js';
import { findingsByOrder } from '../../../src/harness/live/findings-by-order.js';
import type { LiveSeen } from '../../../src/harness/live/live-run.js';
import { ForeignTarget } from '../../../src/harness/live/target.js';
import { emptyLog } from './logged.js';

const definition = definitionOf({ like: 'nginx', rate: '10r/s' }, 777);

/** `0-1 a`: sent at 0 ms, answered at 1, admitted; `l`: limited. */
function findings(words: readonly string[], pauses: readonly Pause[], transportMs?: number) {
  const requestLog = emptyLog();
  for (const word of words) {
    const [, sent, answered, decision] = /^(\d+)-(\d+) ([al])$/.exec(word)!;
    const sentMs = BEGIN_MS + Number(sent);
    const request = { contract: 0, cost: undefined, intendedMs: sentMs, sentMs };
    requestLog.end(request, BEGIN_MS + Number(answered), { type: 'decided', admitted: decision === 'a' });
  }
  const target = new ForeignTarget(
    { origin: 'http://127.0.0.1:1', basePath: '', path: '/' },
    transportMs === undefined ? {} : { transport_ms: transportMs },
    ['all'],
  );
  const lagMs = { p90: 0, most: 0 };
  const time = { cycleMs: 777 };
  const seen = {
    asked: { names: ['all'] },
    requestLog,
    time,
    target,
    lagMs,
    pauses,
    apartMs: 0,
  } as unknown as LiveSeen;
  return findingsByOrder(seen, { rules: [definition], isShared: false });
}

const BEGIN_MS = 1_700_000_000_000;
const pause = (fromMs: number, toMs: number): Pause => ({ fromMs: BEGIN_MS + fromMs, toMs: BEGIN_MS + toMs });
const late = ['0-1 a', '250-251 l'];

// One request each 100 ms: what is limited 250 ms after the one before was so by a clock that lost 150 ms, or wrongly.
// biome-ignore format: one case a line
it.each<[string, string[], Pause[], number | undefined, number]>([
  ['a machine that ran all the time', late, [], undefined, 1],
  ['a pause in between, for long enough', late, [pause(20, 180)], undefined, 0],
  ['two of them', late, [pause(20, 120), pause(130, 230)], undefined, 0],
  ['one that was too short', late, [pause(20, 130)], undefined, 1],
  ['one that was too short, unless the clock was read last for the answer before it', late, [pause(120, 230)], undefined, 0],
  ['one before', late, [pause(-300, -100)], undefined, 1],
  ['one afterwards', late, [pause(260, 500)], undefined, 1],
  ['a pause, and a limiter that limits nothing', ['0-1 a', '10-11 a', '20-21 a'], [pause(5, 155)], undefined, 1],
  ['a limited answer that came later than promised', ['0-1 a', '30-181 l', '200-201 l'], [], 20, 0],
  ['the same without a promise', ['0-1 a', '30-181 l', '200-201 l'], [], undefined, 1],
])(
  'a limiter is accused only where no halted clock explains it: %s',
  (_, words, pauses, transportMs, accused) => {
    const { differences, tooUncertain } = findings(words, pauses, transportMs);
    expect([differences.length, tooUncertain?.includes('was stopped') ?? false]).toEqual([accused, accused === 0]);
  },
);

it('findings say linearisable, for readers who know the word', () => {
  expect(findings(late, []).tolerance).toContain('linearisable');
});
