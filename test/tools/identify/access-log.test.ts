// How an access log becomes evidence: whose requests, between which instants each was decided, and what is said of it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseWhere } from '../../../src/harness/traffic/log/log-options.js';
import { type AccessLogOptions, readAccessLog } from '../../../src/tools/identify/access-log.js';
import { readEvidence } from '../../../src/tools/identify/findings.js';
import { temporaryFolder } from '../../left-behind.js';

const folder = temporaryFolder();

function read(lines: readonly string[], options: AccessLogOptions = {}) {
  const path = join(folder, 'access.log');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return readAccessLog(path, options);
}

const TEN = Date.UTC(2026, 0, 5, 10) / 1000;
/** Since ten o'clock, in ms: when it was sent and answered at the earliest and the latest. */
const within = ({ seen }: Awaited<ReturnType<typeof read>>) =>
  seen.map(({ sentMs, answeredMs }) => [sentMs - 36_000_000, answeredMs - 36_000_000].map(Math.round));

const combined = (client: string, second: number, status: number) =>
  `${client} - - [05/Jan/2026:10:00:${String(second).padStart(2, '0')} +0000] "GET / HTTP/1.1" ${status} 2 "-" "curl"`;

it('a log is read for the client with most refusals: 429 and 503 are limited, all else is admitted', async () => {
  const log = await read([
    combined('192.0.2.1', 0, 200),
    combined('192.0.2.2', 1, 404),
    combined('192.0.2.2', 1, 429),
    combined('192.0.2.1', 2, 429),
    combined('192.0.2.2', 3, 503),
    combined('192.0.2.2', 4, 500),
  ]);
  expect(log.seen.map(({ key, status, decision }) => [key, status, decision])).toEqual([
    ['192.0.2.2', 404, 'admitted'],
    ['192.0.2.2', 429, 'limited'],
    ['192.0.2.2', 503, 'limited'],
    ['192.0.2.2', 500, 'admitted'],
  ]);
  expect([log.silenceMs, log.isStart, log.hasDurations]).toEqual([1_000, true, false]);
  expect(log.remarks).toEqual([
    'Read 4 of 6 lines: those of 192.0.2.2, who had most refusals (2). Refused is what was answered with 429 or 503, admitted all else.',
    '1 answer of 5xx is taken to be of what stands behind the limiter.',
    'Times are known to 1000 ms. The log has no durations: each request is taken to be decided when its line says.',
  ]);
});

it('a log without a refusal is read for the client with most requests', async () => {
  const log = await read([combined('192.0.2.1', 0, 200), combined('192.0.2.2', 1, 200), combined('192.0.2.2', 2, 200)]);
  expect(log.remarks[0]).toMatch(/^Read 2 of 3 lines: those of 192\.0\.2\.2, who sent most, since none was refused\. /);
});

it('a time in whole seconds leaves open when within its second a request was decided', async () => {
  const log = await read([combined('192.0.2.1', 0, 200), combined('192.0.2.1', 7, 429)]);
  expect(within(log)).toEqual([
    [0, 1_000],
    [7_000, 8_000],
  ]);
});

const csv = (...rows: readonly (readonly [time: number, tookMs: number, status: number])[]) => [
  'time,status,duration_ms',
  ...rows.map(([ms, tookMs, status]) => `${(TEN + ms / 1000).toFixed(3)},${status},${tookMs}`),
];

it('a time is that of an end where beginnings go back, and that of a beginning where ends go back', async () => {
  const ends = await read(csv([101, 0, 200], [303, 250, 200], [314, 0, 429]));
  const beginnings = await read(csv([101, 0, 200], [314, 0, 429], [303, 250, 200]));
  const either = await read(csv([101, 0, 200], [303, 20, 200], [352, 0, 429]));
  const spans = (...all: readonly (readonly [number, number])[]) => all;
  expect([within(ends), within(beginnings), within(either)]).toEqual([
    spans([100, 102], [52, 304], [313, 315]),
    spans([101, 103], [303, 555], [314, 316]),
    spans([100, 103], [282, 325], [351, 354]),
  ]);
});

it('times of a HAR are those of beginnings, and what a request took is in ms', async () => {
  const entries = [101, 303].map((ms) => ({
    ...{ startedDateTime: new Date(TEN * 1_000 + ms).toISOString(), time: 50 },
    response: { status: 200 },
  }));
  expect(within(await read([JSON.stringify({ log: { version: '1.2', entries } })]))).toEqual([
    [101, 153],
    [303, 355],
  ]);
});

it.each([
  ['duration', ',250'],
  ['duration_ms', ',-'],
])('durations are not used where %s does not say each: %s', async (field, second) => {
  const [head, ...rows] = csv([100, 0, 200], [300, 250, 200]).map((row) => row.replace(',250', second));
  const { hasDurations, remarks } = await read([head!.replace('duration_ms', field), ...rows]);
  const unused = `${field} does not say how long each request took, and is not used`;
  expect(hasDurations).toBe(false);
  expect(remarks.at(-1)).toMatch(`Times are known to 100 ms. ${unused}: each request is taken to be decided`);
});

it('a stretch of a long log is looked at that begins after a silence, where decisions change most', async () => {
  const quiet = Array.from({ length: 600 }, (_, k) => [100 * k, 0, 200] as const);
  const busy = Array.from({ length: 600 }, (_, k) => [100_000 + 100 * k + 1, 0, k % 2 === 0 ? 200 : 429] as const);
  const log = await read(csv(...quiet, ...busy));
  expect([log.seen.length, within(log)[0], log.silenceMs, log.isStart]).toEqual([
    500,
    [100_000, 100_003],
    40_101,
    false,
  ]);
});

it('all requests are taken as those of one client if asked to, and a condition looks at another client', async () => {
  const lines = [combined('192.0.2.1', 0, 200), combined('192.0.2.2', 1, 429)];
  expect((await read(lines, { key: 'none' })).seen.length).toBe(2);
  const one = await read(lines, { log: { where: [parseWhere('client==192.0.2.1')] } });
  expect(one.seen.map(({ key, status }) => [key, status])).toEqual([['192.0.2.1', 200]]);
});

it('the time is read from the column that is named, and only of requests for which a condition holds', async () => {
  const lines = [
    'seen,sent,client,path,status',
    `${TEN + 5},${TEN},a,/api/1,200`,
    `${TEN + 6},${TEN + 1},a,/health,200`,
    `${TEN + 7},${TEN + 2},a,/api/2,429`,
  ];
  const log = { timeColumn: 'sent', timeUnit: 's', where: [parseWhere('path=/api/*')!] } as const;
  const found = await read(lines, { log });
  expect([within(found), found.seen.map(({ decision }) => decision)]).toEqual([
    [
      [0, 1_000],
      [2_000, 3_000],
    ],
    ['admitted', 'limited'],
  ]);
});

it.each([
  ['without a status', ['time,client', '1773480413,192.0.2.1'], 'access.log has no status.'],
  ['whose time is not clear', ['seen,sent', '2026-01-05 10:00:00,2026-01-05 10:00:01'], 'Dates are in seen, sent.'],
])('a log %s is refused', async (_, lines, message) => {
  await expect(read(lines)).rejects.toThrow(message);
});

it('the evidence of an identification is told from a log, and from the report of a run, which is refused', async () => {
  const run = join(folder, 'run');
  mkdirSync(run);
  writeFileSync(join(run, 'outcome.json'), '{}');
  writeFileSync(join(folder, 'evidence.ndjson'), '{"key":"a","sentMs":1,"answeredMs":2,"decision":"admitted"}\n');
  writeFileSync(join(folder, 'access.log'), `${combined('192.0.2.1', 0, 200)}\n`);
  expect((await readEvidence(folder))?.length).toBe(1);
  expect(await readEvidence(join(folder, 'access.log'))).toBeUndefined();
  await expect(readEvidence(run)).rejects.toThrow(/holds no evidence/);
});
