import { expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { formatOf } from '../../../../src/harness/traffic/log/open.js';
import { failureOf } from '../../../failures.js';

const time = '[17/May/2015:10:05:03 +0000]';
const combined = `1.2.3.4 - - ${time} "GET / HTTP/1.1" 200 12 "-" "Mozilla/5.0 (X; Y) (KHTML, like Gecko)"`;
const common = `1.2.3.4 - - ${time} "GET / HTTP/1.1" 200 12`;

const format = (text: string | Buffer, options: LogOptions = {}): string => {
  const found = formatOf(Buffer.from(text as string), options, 'log');
  return typeof found === 'string' ? found : 'name' in found ? found.name : found.format;
};

// biome-ignore format: one case a line
it.each<[string, string, string]>([
  ['combined', 'combined lines', `${combined}\n${combined}\n`],
  ['combined', 'one line without an end', combined],
  ['combined', 'whole lines in quotes', `"${combined.replaceAll('"', '""')}"\n`],
  ['combined', 'a virtual host first', `example.org:80 ${combined}\n`],
  ['combined', 'a few lines of garbage first', `x\n\n{"time":5}\n${combined}\n${combined}\n`],
  ['combined', 'NULs that log rotation left first', `${'\0'.repeat(5000)}${combined}\n${combined}\n`],
  ['combined', 'NULs that a crash left between lines', `${combined}\n${'\0'.repeat(5000)}\n${combined}\n`],
  ['combined', 'an address in brackets first', `[::1] - - ${combined.slice(12)}\n`],
  ['combined', 'an address in brackets first', `[2001:db8::1] - - ${combined.slice(12)}\n`],
  ['combined', 'names of columns in a path', `${combined.replace('GET /', 'GET /?x=1,time,requests')}\n${combined}\n`],
  ['common', 'common lines', `${common}\n${common}\n`],
  ['csv', 'a known time column', 'host,time\na,5\n'],
  ['csv', 'a known time column and no row', 'host,time\n'],
  ['csv', 'semicolons', 'host;time\na;5\n'],
  ['csv', 'one column', 'timestamp\n5\n'],
  ['csv', 'access log lines in a column', `time,message\n5,"${combined.replaceAll('"', '""')}"\n`],
  ['csv', 'even rows whose time is not known', 'a,b,c\n1,2,3\n4,5,6\n'],
  ['tsv', 'tabs', 'host\ttime\na\t5\n'],
  ['tsv', 'times in brackets below names', `host\ttime\n1.2.3.4\t${time}\n`],
  ['ndjson', 'objects', '{"time":5}\n{"time":6}\n'],
  ['ndjson', 'one object', '{"time":5}'],
  ['ndjson', 'a cut first line', '"b":5}\n{"time":5}\n{"time":6}\n'],
  ['ndjson', 'objects with a log in them', '{"log":{"file":"x"},"time":5}\n{"log":{"file":"x"},"time":6}\n'],
  ['ndjson', 'objects whose time is not known, with an array', '{"when":5,"tags":[{"a":1}]}\n{"when":6,"tags":[]}\n'],
  ['combined', 'objects with access log lines in them', `{"time":5,"message":${JSON.stringify(combined)}}\n`],
  ['json', 'an array', '[\n  {"time":5}\n]\n'],
  ['json', 'an array of lines with commas', '[\n{"time":5},\n{"time":6}\n]\n'],
  ['har', 'a HAR file', '{ "log": {\n "version": "1.2",\n "entries": ['],
  ['empty', 'nothing', ''],
  ['empty', 'blank lines', '\n \r\n\t\n'],
  ['empty', 'a byte order mark', '\ufeff'],
])('the format %s is recognised by the first lines: %s', (expected, _, text) => {
  expect(format(text)).toBe(expected);
});

it('a named column makes a table of a log, and a named format is taken as it is', () => {
  expect(format(`when|what\n5|x\n`, { timeColumn: 'when' })).toBe('csv');
  const tailed = `${common}|when\n${common}|5\n`;
  expect([format(tailed), format(tailed, { timeColumn: 'when' })]).toEqual(['common', 'csv']);
  expect(format('words and more words\n', { format: 'common' })).toBe('common');
});

// biome-ignore format: one case a line
it.each<[string, string | Buffer, RegExp]>([
  ['a PNG image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /It is a PNG image\./],
  ['a ZIP archive', Buffer.from('504b030414000600', 'hex'), /It is a ZIP archive, or an office document\. Unpack it/],
  ['gzip within gzip', Buffer.from('1f8b0800', 'hex'), /It is gzip within gzip\. Unpack it once\./],
  ['zstd', Buffer.from('28b52ffd00', 'hex'), /packed with zstd\. Unpack it with `zstd -d`\./],
  ['bytes', Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 167 + (i >> 3)) % 256)), /It is not text\./],
  ['only NULs', Buffer.alloc(1000), /It is not text\./],
  ['lines that end with a carriage return', `${combined}\r${combined}\r`, /Its lines end with a carriage return alone\. Make them lines with `tr/],
  ['an object too long to be looked at as a whole', `{"time":5,"a":"${'b'.repeat(1 << 16)}`, /Its first line is longer than 64 KiB\./],
  ['words', 'It was a dark night;\nthe rain fell.\n', /Its first line is `It was a dark night;`\. `weir help logs` lists the formats\. /],
  ['an array of access log lines', `["1.2.3.4 - - ${time}",\n"1.2.3.4 - - ${time}"]`, /It is JSON/],
  ['requests without a time', 'GET /a 200 12 - 3.1 ms\nGET /b 404 - - 0.2 ms\n', /requests, and no time\. .* `docker logs -t`/],
  ['clock times without a date', '13:56:58 | 200 | 192.0.2.1 | GET | /a\n13:56:59 | 200 | 192.0.2.1 | GET | /\n', /have no date\. .*the day/],
  ["a dictionary of Python, which is no JSON", "{'status': 200}\n", /^\S+ is no log of a known format\. Its first line is/],
  ['an object over many lines', '{\n  "time": 5\n}\n', /It is JSON, but not one object a line, and not an array of objects\./],
  ['control characters', 'a\u001b[31mb\u0007\n', /`a·\[31mb·`/],
])('what is no log is refused in words: %s', (_, bytes, message) => {
  const failure = failureOf(() => format(bytes as string));
  expect(failure).toMatchObject({ code: 'unknown_format', message: expect.stringMatching(message) });
});
