import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Failure } from '../../../../src/core/schema/failure.js';
import { logFormats } from '../../../../src/harness/traffic/log/formats.js';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readLog, readLogs } from '../../../../src/harness/traffic/log/read.js';
import { forAll, forAllAsync } from '../../../draws.js';
import { temporaryFiles } from '../../../left-behind.js';
import { Counted } from './counted.js';
import { readCut, readText, type TextReading } from './reading.js';
import { type SyntheticRequest, synthesiseLog } from './synthetic-log.js';

const { folder, file } = temporaryFiles();
const nothing = { request: () => undefined };
const csv = 'time,url\n5,/a\n6,/b\n7,/c\n';

/** A log of a few hundred KB, the requests in it, and lines that are none. */
function syntheticLog(): { text: string; requests: SyntheticRequest[] } {
  const text: string[] = [];
  const requests: SyntheticRequest[] = [];
  synthesiseLog(2000, 300, 7, (line, request) => {
    text.push(requests.length % 97 === 5 ? `${line}\r\n\nno request\n` : line);
    requests.push(request);
  });
  return { text: text.join(''), requests };
}

const { text } = syntheticLog();
const har = JSON.stringify({ log: { entries: [{ startedDateTime: '2015-05-17T10:05:03Z', a: '{"é"}' }] } });
// biome-ignore format: one case a line
it.each<[string, string, LogOptions]>([
    ['combined', text.slice(0, 3000), { keyColumn: 'client' }],
    ['combined without an end', text.slice(0, 2990), {}],
    ['csv', '\ufefftime,name\r\n5,"é\r\nx"\r\n\r\n6,"open\r\n7,y"\r\nnone,z\r\n8,"ö"', { keyColumn: 'name' }],
    ['ndjson', '{"time":5,"name":"é"}\r\n\n{"time":6,"name":"\\u00e9"}\n{"time":', { format: 'ndjson', keyColumn: 'name' }],
    ['har', har, { format: 'har', keyColumn: 'a' }],
  ])('a log reads the same wherever its bytes are cut: %s', (_, log, options) => {
    const bytes = Buffer.from(log);
    const whole = readCut(bytes, [], options);
    expect(readCut(bytes, new Array(bytes.length).fill(1), options)).toEqual(whole);
    forAll([fc.array(fc.integer({ min: 0, max: 300 }))], (lengths) => {
        expect(readCut(bytes, lengths, options)).toEqual(whole);
      });
  });

it('a large log reads the same wherever it is cut, before and after its format is recognised', async () => {
  const bytes = Buffer.from(text);
  const whole = await readText([bytes]);
  for (const length of [4096, 65_535, 65_536, 65_537]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
      bytes.subarray(i * length, (i + 1) * length),
    );
    expect(await readText(chunks)).toEqual(whole);
  }
});

it('a log gives every request with its time and client, and counts the lines that are none', async () => {
  const { text, requests } = syntheticLog();
  const { heard, reading } = await readText(text, { keyColumn: 'client' });
  expect(heard).toEqual(requests.map(({ unixMs, client }) => [unixMs, 1, client]));
  const times = requests.map(({ unixMs }) => unixMs);
  expect({ ...reading, skipped: reading.skipped.slice(0, 1) }).toEqual({
    path: 'log',
    format: 'combined',
    timeFrom: 'the bracketed timestamp',
    keyFrom: 'the client address',
    columns: { time: 'time', key: 'client' },
    timeUnit: 'date',
    warnings: [],
    filtered: 0,
    days: 1,
    withoutKey: 0,
    requests: 2000,
    lines: 2000 + 3 * 21,
    skippedLines: 21,
    skipped: [{ line: 9, reason: 'no time in brackets', text: 'no request' }],
    firstMs: Math.min(...times),
    lastMs: Math.max(...times),
    interrupted: false,
  });
});

it.each([65_535, 65_536, 300_000, 1_100_000])(
  'a log whose first line is JSON of %i bytes is read, and is refused where that is longer than 1 MiB',
  async (length) => {
    const line = (text: string) => `{"user_agent":"${text}","time":"2026-03-14T09:26:53Z","status":200}\n`;
    const text = Buffer.from(line('x'.repeat(length)) + line('curl') + line('curl'));
    for (const size of [text.length, 1000]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );
      if (length > 1 << 20) await expect(readText(chunks)).rejects.toThrow('log is no log of a known format.');
      else expect((await readText(chunks)).reading).toMatchObject({ format: 'ndjson', requests: 3, skippedLines: 0 });
    }
  },
);

it('a reading keeps the first five skipped lines, short and printable', async () => {
  const { reading } = await readText(`time,url\n5,/a\n${'\u001b[2J\té'.repeat(100)}\n${'x\n'.repeat(9)}`);
  expect([reading.skippedLines, reading.skipped.length, reading.skipped[0]]).toEqual([
    10,
    5,
    { line: 3, reason: 'no time in column time', text: `${'·[2J é'.repeat(17)}·…` },
  ]);
});

it('a line longer than 1 MiB is skipped, and one as long is kept', async () => {
  const long = (length: number): string => `5,${'x'.repeat(length - 2)}`;
  const { heard, skipped } = await readText(
    `time,url\n${long(2 ** 20)}\n${long(2 ** 20 + 1)}\r\n${long(3 * 2 ** 20)}\n6,/a`,
  );
  expect([heard.length, skipped]).toEqual([2, ['3: longer than 1 MiB', '4: longer than 1 MiB']]);
});

it('a line with text behind more blanks than a line may have is too long; with blanks alone it is blank', async () => {
  const blanks = ' '.repeat(2 ** 20 + 99);
  const { heard, skipped } = await readText(`time,url\n${blanks}5,/a\n${blanks}\n6,/a\n`);
  expect([heard.length, skipped]).toEqual([1, ['2: longer than 1 MiB']]);
});

it('the last request of counts that are spread arrives before the interval ends', async () => {
  const { reading } = await readText('t_ms,n\n120000,7\n60000,60000\n', { spreadMs: 60_000 });
  expect([reading.requests, reading.firstMs, reading.lastMs]).toEqual([60_007, 60_000, 120_000 + 51_428]);
});

it.each<[string, Buffer | string]>([
  ['plain', csv],
  ['gzip', gzipSync(csv)],
  ['gzip in several members', Buffer.concat([gzipSync('time,url\n5,/a\n6'), gzipSync(',/b\n'), gzipSync('7,/c\n')])],
  ['gzip of a large log in members', Buffer.concat([gzipSync(csv), gzipSync('8,/d\n'.repeat(200_000))])],
])('a file is read as what it is, whatever its name: %s', async (name, content) => {
  const reading = await readLog(file(`${name}.txt`, content), {}, nothing);
  expect(reading).toMatchObject({ format: 'csv', requests: name.includes('large') ? 200_003 : 3, skippedLines: 0 });
});

it('several files are read one after another into one sink; an empty one among them is no harm', async () => {
  const counted = new Counted(1000);
  const paths = [file('b.csv', 'time\n7\n'), file('empty.csv', ''), file('a.csv.gz', gzipSync('time\n5\n7\n'))];
  const readings = await readLogs(paths, {}, counted);
  expect([readings.map(({ format, requests }) => [format, requests]), counted.of('')]).toEqual([
    [
      ['csv', 1],
      ['empty', 0],
      ['csv', 2],
    ],
    { cycles: [5, 7], counts: [1, 2] },
  ]);
});

it('a reading says how far it is', async () => {
  const steps: unknown[] = [];
  const path = file('progress.csv', 'time\n'.padEnd(600_000, '5\n'));
  await readLog(path, {}, nothing, { onProgress: (...step) => steps.push(step) });
  expect(steps).toEqual([
    [262_144, 600_000],
    [524_288, 600_000],
    [600_000, 600_000],
  ]);
});

it.each(['plain', 'gzip'])('a reading that is stopped keeps what was read: %s', async (kind) => {
  const text = 'time\n'.padEnd(8_000_005, '5\n');
  const path = file(`stop-${kind}`, kind === 'gzip' ? gzipSync(text, { level: 0 }) : text);
  const stop = new AbortController();
  const reading = await readLog(path, {}, nothing, {
    signal: stop.signal,
    onProgress: (bytesRead) => bytesRead > 500_000 && stop.abort(),
  });
  expect([reading.interrupted, reading.requests > 100_000, reading.requests < 3_900_000]).toEqual([true, true, true]);
});

it('a file that cannot be read is refused in words', async () => {
  const gz = gzipSync(syntheticLog().text);
  const damaged = Buffer.from(gz).fill(0x55, 500, 600);
  // biome-ignore format: one case a line
  const cases: [string, string, string][] = [
    [join(folder, 'missing.log'), 'unreadable_file', 'There is no such file.'],
    [folder, 'unreadable_file', 'It is a folder.'],
    [file('cut.gz', gz.subarray(0, gz.length / 2)), 'unreadable_file', 'It ends in the middle of its compressed data.'],
    [file('damaged.gz', damaged), 'unreadable_file', 'Its compressed data are damaged.'],
    [file('image.log', Buffer.from('89504e470d0a1a0a', 'hex')), 'unknown_format', 'It is a PNG image.'],
    [file('empty.log', ''), 'no_requests', 'It is empty.'],
    [file('empty.gz', gzipSync('')), 'no_requests', 'It is empty.'],
    [file('blank.log', '\n\n'), 'no_requests', 'It is empty.'],
    [file('names.csv', 'time,url\n'), 'no_requests', 'None of 1 lines is one, read as csv with column time (unix s) for the time.'],
  ];
  const seen: unknown[] = [];
  for (const [path] of cases) {
    const error = (await readLog(path, {}, nothing).catch((caught: unknown) => caught)) as Record<string, unknown>;
    seen.push([path, error['code'], error['why']]);
  }
  expect(seen).toEqual(cases);
});

it('a disk that fails while a packed log is read is said, and ends no process', async () => {
  const handle = await open(file('failing.gz', gzipSync(text.repeat(40), { level: 0 })));
  const whole = Object.getPrototypeOf(handle);
  const { read } = whole;
  let left = 8;
  // Not a spy: it would take the failure for handled.
  whole.read = function (...given: unknown[]) {
    return left-- > 0 ? read.apply(this, given) : Promise.reject(new Error('EIO'));
  };
  const failed = await readLog(join(folder, 'failing.gz'), {}, nothing).catch((error: Failure) => error);
  Object.assign(whole, { read });
  await handle.close();
  expect(failed).toMatchObject({ code: 'unreadable_file', why: 'EIO' });
});

it('a file without a request is refused with the lines that are none', async () => {
  await expect(readLog(file('none.csv', 'time\nsoon\nlater\n'), {}, nothing)).rejects.toMatchObject({
    code: 'no_requests',
    faults: [
      { path: 'line 2', message: 'no time in column time: soon' },
      { path: 'line 3', message: 'no time in column time: later' },
    ],
  });
});

it.each<[string, LogOptions, string]>([
  ['a column', { timeColumn: 'when' }, 'log has no field when.'],
  ['a count', { countColumn: 'n' }, 'log has no field n.'],
  ['another key', { keyColumn: 'tenant' }, 'log has no field tenant.'],
  ['a spread', { spreadMs: 5 }, 'No field of log is known to be the count that is to be spread.'],
])('an access log has no %s', async (_, options, what) => {
  const line = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /"\n';
  await expect(readText(line, { ...options, format: 'combined' })).rejects.toMatchObject({
    code: 'invalid_input',
    what,
  });
});

it.each([-1, 0.5, 86_400_001, Number.NaN])('a spread of %s ms is refused', async (spreadMs) => {
  await expect(readLog(file('a.csv', csv), { spreadMs }, nothing)).rejects.toMatchObject({ code: 'invalid_input' });
});

// biome-ignore format: one line for each kind
const pieces = [
  'time', 'n', '5', '17', '{"time":5}', ' ', '-', '\\', '"', '""',
  ',', '\t', ';', '\n', '\r\n', '{', '}', '[', ']', ':',
];
const words = fc.array(fc.oneof(fc.constantFrom(...pieces, '1.2.3.4 - - [17/May/2015:10:05:03 +0000]'), fc.string()));
const texts = words.map((parts) => Buffer.from(parts.join('')));
const formats = fc.constantFrom(undefined, ...logFormats);

it('a file of any bytes is read or refused in words, and a request is a whole number at a whole ms', async () => {
  await forAllAsync(
    [
      fc.oneof(
        texts,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      formats,
    ],
    2000,
    async (bytes, format) => {
      const read = await readText([bytes], { format }).catch((error: unknown) => error);
      if (read instanceof Failure) return;
      const { heard, reading } = read as TextReading;
      expect(heard.every(([unixMs, n]) => Number.isSafeInteger(unixMs) && Number.isSafeInteger(n) && n > 0)).toBe(true);
      expect(reading.requests).toBe(heard.reduce((sum, [, n]) => sum + n, 0));
    },
  );
});
