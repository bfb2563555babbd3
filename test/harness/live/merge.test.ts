// What generators saw, merged, is what one generator would have seen.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RequestLog, type RequestObserver } from '../../../src/harness/live/request-log.js';
import type { RequestEnd } from '../../../src/harness/live/target.js';
import {
  type GeneratorShare,
  merged,
  PackedRequests,
  type Row,
  type ShareEnd,
} from '../../../src/tools/workers/load-job.js';
import { forAll } from '../../draws.js';
import { fault } from './logged.js';

const CYCLE_MS = 100;
const FIRST = 170_000_000;
const START_MS = FIRST * CYCLE_MS;
const whole = {
  cycleMs: CYCLE_MS,
  phases: { late: { from: 3, to: 6 } },
  firstCycle: FIRST,
  slackMs: 2,
  plansByCycle: true,
};
const ended: ShareEnd = {
  rows: 0,
  pauses: [],
  lagMs: { p90: 1, most: 2 },
  connections: 1,
  waited: 0,
  apartMs: 0,
  movedMs: 0,
};
const asText = (rows: readonly Row[]): Row[] => JSON.parse(JSON.stringify(rows));

interface Request {
  readonly by: number;
  readonly contract: number;
  readonly atMs: number;
  readonly lateMs: number;
  readonly tookMs: number;
  readonly result: 'admitted' | 'limited' | 'unstamped' | 'timed_out' | 'refused';
}

const requests = fc.array(
  fc.record<Request>({
    by: fc.nat(2),
    contract: fc.nat(1),
    atMs: fc.nat(900),
    lateMs: fc.nat(150),
    tookMs: fc.nat(150),
    result: fc.constantFrom('admitted', 'limited', 'unstamped', 'timed_out', 'refused'),
  }),
  { maxLength: 60 },
);

/** Each request ends at an instant of its own. */
function tell(all: readonly Request[], of: (by: number) => RequestObserver): void {
  const sentMs = ({ atMs, lateMs }: Request) => START_MS + atMs + lateMs;
  const inOrder = all
    .map((request, k) => ({ request, endedMs: sentMs(request) + request.tookMs + k / 1024 }))
    .sort((a, b) => a.endedMs - b.endedMs);
  for (const { request, endedMs } of inOrder) {
    const { by, contract, atMs, result } = request;
    const one = {
      contract,
      cost: contract === 0 ? undefined : atMs + 1,
      intendedMs: START_MS + atMs,
      sentMs: sentMs(request),
    };
    const observer = of(by);
    observer.plan(FIRST + Math.floor(atMs / CYCLE_MS), 1);
    observer.send(one);
    if (result === 'timed_out' || result === 'refused') observer.end(one, endedMs, fault(result));
    else {
      const stamp = { cycle: Math.floor(endedMs / CYCLE_MS), count: atMs, state: 'allowing' };
      const admitted = result !== 'limited';
      observer.end(one, endedMs, { type: 'decided', admitted, ...(result === 'unstamped' ? {} : stamp) });
    }
  }
}

const seenIn = ({ latency, ...requestLog }: RequestLog) => ({
  ...requestLog,
  byCycle: [...requestLog.byCycle].sort(([a], [b]) => a - b),
  figures: latency.figures('from sending'),
  series: latency.series([FIRST, FIRST + 1, FIRST + 4]),
});

const rowOf = (atMs: number, sentMs: number, endedMs: number, end: RequestEnd): Row => ({
  ...{ contract: 0, cost: undefined, end },
  ...{ intendedMs: START_MS + atMs, sentMs: START_MS + sentMs, endedMs: START_MS + endedMs },
});

const admitted = { type: 'decided', admitted: true } as const;

it('merged logs are the log of one generator that sends all, however the requests are shared', () => {
  forAll([requests], (all) => {
    const one = new RequestLog(whole);
    tell(all, () => one);
    const packed = [0, 1, 2].map(() => new PackedRequests());
    tell(all, (by) => packed[by]!);
    const shares = packed.map((rows, k): GeneratorShare => ({ name: `${k}`, rows: asText(rows.take()), end: ended }));
    expect(seenIn(merged(shares, whole).requestLog)).toEqual(seenIn(one));
  });
});

it('what is not known of the clock of a generator is part of the interval of each of its requests', () => {
  const row = rowOf(10, 10, 12, admitted);
  const lost = rowOf(20, 20, 30, fault('timed_out'));
  const share = (apartMs: number): GeneratorShare => ({
    name: `${apartMs}`,
    rows: [row, lost],
    end: { ...ended, rows: 2, apartMs },
  });
  const { requestLog, apartMs } = merged([share(0), share(5)], whole);
  const seen = requestLog.seen.map(({ sentMs, answeredMs }) => [sentMs - START_MS, answeredMs - START_MS]);
  expect([seen, apartMs]).toEqual([
    [
      [10, 12],
      [5, 17],
      [20, Infinity],
      [15, Infinity],
    ],
    5,
  ]);
});

it('a stamp is possible as far as the clock of its generator is not known', () => {
  // Counted in the cycle after the answer, which came 4 ms before it.
  const row = rowOf(90, 90, 96, { ...admitted, cycle: FIRST + 1, count: 1, state: 'allowing' });
  const impossible = (apartMs: number) =>
    merged([{ name: 'a', rows: [row], end: { ...ended, rows: 1, apartMs } }], whole).requestLog.requests.filter(
      (one) => one.impossible !== undefined,
    ).length;
  expect([impossible(0), impossible(1), impossible(2), impossible(3)]).toEqual([1, 1, 0, 0]);
});

const late = rowOf(0, 150, 160, admitted);
const later = rowOf(0, 251, 260, admitted);
// biome-ignore format: one case a line
it.each<[what: string, share: Partial<GeneratorShare>, unsound: string | undefined, behind: string | undefined, plansByCycle?: boolean]>([
    ['all is well', {}, undefined, undefined],
    ['lost', { end: undefined }, 'Generator b was lost', undefined],
    ['an entry is missing', { end: { ...ended, rows: 1 } }, 'Generator b gave 1 entries, of which 0 arrived.', undefined],
    ['its clock was set', { end: { ...ended, movedMs: 11 } }, 'Generator b had a clock that moved', undefined],
    ['its clock was slewed', { end: { ...ended, movedMs: 9 } }, undefined, undefined],
    ['tasks began late', { end: { ...ended, pauses: [], lagMs: { p90: 51, most: 51 } } }, undefined, 'Generator b fell behind: one task'],
    ['requests were late', { rows: [late, late, late], end: { ...ended, rows: 3 } }, undefined, 'Generator b fell behind: it sent 3 of 3'],
    ['requests waited for connections', { rows: [late, late, late], end: { ...ended, rows: 3, waited: 3 } }, undefined,
      'it sent 3 of 3 requests late: 1 connections were in use; raise -c'],
    ['requests were late for a limiter by the ms', { rows: [later, later, later], end: { ...ended, rows: 3 } }, undefined,
      'it sent 3 of 3 requests more than 250 ms late', false],
    ['they were not so late', { rows: [late, late, late], end: { ...ended, rows: 3 } }, undefined, undefined, false],
  ])('merged logs say which generator is unsound or behind: %s', (_, share, unsound, behind, plansByCycle = true) => {
    const found = merged(
      [
        { name: 'a', rows: [], end: ended },
        { name: 'b', rows: [], end: ended, ...share },
      ],
      { ...whole, plansByCycle },
    );
    const said = (words: string | undefined) => (words === undefined ? undefined : expect.stringContaining(words));
    expect([found.unsound, found.behind]).toEqual([said(unsound), said(behind)]);
  });
