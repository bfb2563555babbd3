import { expect, it } from 'vitest';
import { readText } from './reading.js';

const entry = (startedDateTime: string, more: object = {}): object => ({
  startedDateTime,
  time: 12.5,
  request: { method: 'GET', url: 'https://example.org/' },
  serverIPAddress: '93.184.216.34',
  ...more,
});

const har = (entries: readonly object[]) => ({ log: { version: '1.2', creator: { name: 'x' }, pages: [], entries } });

const entries = [
  entry('2015-05-17T10:05:03.1239Z'),
  entry('not yet'),
  entry('2015-05-17T12:05:04.000+02:00', { serverIPAddress: '93.184.216.35' }),
];

const first = Date.UTC(2015, 4, 17, 10, 5, 3, 123);

it.each([
  ['on one line', JSON.stringify(har(entries))],
  ['over many lines', JSON.stringify(har(entries), null, 2)],
  ['with a byte order mark', `\ufeff${JSON.stringify(har(entries), null, 2)}\n`],
  ['with the entries first', JSON.stringify({ log: { entries, version: '1.2' } })],
])('each entry of a HAR is a request at its startedDateTime: %s', async (_, text) => {
  const { heard, reading, skipped } = await readText(text);
  const { format, timeFrom, lines } = reading;
  expect({ heard, format, timeFrom, lines, skipped }).toEqual({
    heard: [
      [first, 1, ''],
      [first + 877, 1, ''],
    ],
    format: 'har',
    timeFrom: 'field startedDateTime (date and time)',
    lines: 3,
    skipped: ['2: no time in field startedDateTime'],
  });
});

it('fields of a HAR are taken by path for the key', async () => {
  const { heard } = await readText(JSON.stringify(har(entries)), { keyColumn: 'request.method' });
  expect(heard.map(([, , key]) => key)).toEqual(['GET', 'GET']);
});

it('a HAR without entries has no requests', async () => {
  expect((await readText(JSON.stringify(har([])))).reading).toMatchObject({ format: 'har', requests: 0, lines: 0 });
});

it.each([
  ['It is not one whole JSON object.', '{"log":{"entries":[{"startedDateTime":"2015-05-17"}'],
  ['It has no array at log.entries, and none of objects elsewhere.', '{"log":{"entries":5}}'],
  ['It has no array at log.entries, and none of objects elsewhere.', '{"log":{"version":"1.2"}}'],
  ['Its entries cannot be read after the first 1.', '{"log":{"entries":[{"startedDateTime":"2015-05-17"},]}}'],
])('a document that is no HAR is refused: %s', async (why, text) => {
  await expect(readText(text)).rejects.toMatchObject({ code: 'unknown_format', why });
});
