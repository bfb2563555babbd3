import { expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readText } from './reading.js';

const nd: LogOptions = { format: 'ndjson' };

// biome-ignore format: one case a line
it.each<[string, string, string, number]>([
  ['nginx.json', '{"time_iso8601":"2026-01-05T08:00:00+00:00","msec":"1767600000.250"}', 'field msec (unix s)', 1767600000250],
  ['Cloudflare Logpush in ns', '{"EdgeEndTimestamp":1767600001750000000,"EdgeStartTimestamp":1767600000250000000}',
    'field EdgeStartTimestamp (unix ns)', 1767600000250],
  ['Cloudflare Logpush in RFC 3339', '{"EdgeEndTimestamp":"2026-01-05T08:00:01Z","EdgeStartTimestamp":"2026-01-05T08:00:00Z"}',
    'field EdgeStartTimestamp (date and time)', 1767600000000],
  [
    'Traefik',
    '{"Duration":1500000000,"StartLocal":"2026-01-05T08:00:00.25Z","StartUTC":"2026-01-05T08:00:00.25Z","time":"2026-01-05T08:00:01Z"}',
    'field StartUTC (date and time)',
    1767600000250,
  ],
])('the time of a request is the finest that is there, and its beginning: %s', async (_, text, from, ms) => {
  const { reading, heard } = await readText(text, nd);
  expect([reading.timeFrom, heard]).toEqual([from, [[ms, 1, '']]]);
});

// biome-ignore format: one case a line
it.each<[string, string, LogOptions, string, unknown[]]>([
  ['a number', '{"time":5,"url":"/a"}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['a number that no double holds', '{"ts":1446249504427999999}', {}, 'field ts (unix ns)', [[1446249504427, 1, '']]],
  ['a number that a double would round up', '{"ts":1446249504.99999999999}', {}, 'field ts (unix s)', [[1446249504999, 1, '']]],
  ['an exponent', '{"ts":1.5e9}', {}, 'field ts (unix s)', [[1_500_000_000_000, 1, '']]],
  ['a string', '{"@timestamp":"2015-05-17T10:05:03.123Z"}', {}, 'field @timestamp (date and time)', [[1431857103123, 1, '']]],
  ['a number in a string', '{"time":"5"}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['escaped slashes', '{"time":"17\\/May\\/2015:10:05:03 +0000"}', {}, 'field time (date and time)', [[1431857103000, 1, '']]],
  ['an escaped name', '{"ti\\u006de":5}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['blanks everywhere', ' { "a" : [ 1 , {} ] , "time" : 5 } ', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['brackets and quotes in strings', '{"a":"}]\\"{","b":{"c":"]"},"time":5}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['nested objects of the same name', '{"a":{"time":9},"time":5,"b":[{"time":8}]}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['the last of two alike', '{"time":4,"time":5}', {}, 'field time (unix s)', [[5000, 1, '']]],
  ['a path', '{"a":{"b":{"c":5}}}', { timeColumn: 'a.b.c' }, 'field a.b.c (unix s)', [[5000, 1, '']]],
  ['a name with dots is one key', '{"a.b.c":5}', { timeColumn: 'a.b.c' }, 'field a.b.c (unix s)', [[5000, 1, '']]],
  ['the key with dots comes before the path', '{"a.b":5,"a":{"b":6}}', { timeColumn: 'a.b' }, 'field a.b (unix s)', [[5000, 1, '']]],
  ['also when it stands after', '{"a":{"b":6},"a.b":5}', { timeColumn: 'a.b' }, 'field a.b (unix s)', [[5000, 1, '']]],
  ['a path of keys with dots', '{"a.b":{"c.d":5}}', { timeColumn: 'a.b.c.d' }, 'field a.b.c.d (unix s)', [[5000, 1, '']]],
  ['a path through what is no object', '{"a":"x","a.b":{"c":5}}', { timeColumn: 'a.b.c' }, 'field a.b.c (unix s)', [[5000, 1, '']]],
  ['a name like one of every object', '{"__proto__":5}', { timeColumn: '__proto__' }, 'field __proto__ (unix s)', [[5000, 1, '']]],
  ['counts', '{"t_ms":5,"n":3}\n{"t_ms":6,"n":0}', {}, 'field t_ms (unix ms), field n', [[5, 3, '']]],
  ['a count in a wide object', '{"t":5,"url":"/","status":200,"count":3}', {}, 'field t (unix s), field count', [[5000, 3, '']]],
  ['a count with dots in its name',
    '{"t":5,"x.requests.total":3}', { countColumn: 'x.requests.total' }, 'field t (unix s), field x.requests.total', [[5000, 3, '']]],
])('a line of NDJSON is read as one object: %s', async (_, text, options, from, heard) => {
  const read = await readText(`${text}\n`, { ...nd, ...options });
  const { timeFrom, countFrom } = read.reading;
  expect([[timeFrom, countFrom].filter(Boolean).join(', '), read.heard, read.skipped]).toEqual([from, heard, []]);
});

it.each<[string, string, string]>([
  ['a string', '{"time":5,"user":"a"}', 'a'],
  ['escapes', '{"time":5,"user":"Zo\\u00eb \\"x\\""}', 'Zoë "x"'],
  ['a number as it is written', '{"time":5,"user":12345678901234567890}', '12345678901234567890'],
  ['null is not known', '{"time":5,"user":null}', '-'],
  ['a string "null" is', '{"time":5,"user":"null"}', 'null'],
  ['an object is not known', '{"time":5,"user":{"id":1}}', '-'],
  ['empty is not known', '{"time":5,"user":""}', '-'],
  ['missing is not known', '{"time":5}', '-'],
])('the key of an object is read from its field: %s', async (_, line, key) => {
  const first = '{"time":4,"user":"first"}';
  const { heard } = await readText(`${first}\n${line}\n`, { ...nd, keyColumn: 'user' });
  expect(heard.map(([, , heardKey]) => heardKey)).toEqual(['first', key]);
});

it.each([
  ['client', '{"time":5,"client":"a","ip":"b"}', 'field client'],
  ['client', '{"time":5,"host":"a","remoteAddr":"b"}', 'field remoteAddr'],
  ['request.ip', '{"time":5,"request":{"ip":"b"}}', 'field request.ip'],
])('the key %s of %s is %s', async (keyColumn, line, keyFrom) => {
  expect((await readText(line, { ...nd, keyColumn })).reading.keyFrom).toBe(keyFrom);
});

const none: [line: string, reason: string][] = [
  ['{"time":5,"n"', 'not one JSON object'],
  ['[1,2]', 'not one JSON object'],
  ['words', 'not one JSON object'],
  ['{"time":"soon","n":1}', 'no time in field time'],
  ['{"n":1}', 'no time in field time'],
  ['{"time":null,"n":1}', 'no time in field time'],
  ['{"time":{"at":5},"n":1}', 'no time in field time'],
  ['{"time":6,"n":"many"}', 'no whole number in field n'],
  ['{"time":7,"n":1} {"time":8,"n":1}', 'not one JSON object'],
  ['{"time":7,"n":1,}', 'not one JSON object'],
  ['{"time":7 "n":1}', 'not one JSON object'],
  ['{"time":7,"n":[1}', 'not one JSON object'],
  ['{time:7,"n":1}', 'not one JSON object'],
];

it.each(none)('%s is no request: %s', async (line, reason) => {
  const { skipped } = await readText(`{"time":5,"n":1}\n${line}\n`, { ...nd, countColumn: 'n' });
  expect(skipped).toEqual([`2: ${reason}`]);
});

it('lines that are no requests are counted, and the run goes on', async () => {
  const lines = ['{"time":5,"n":1}', ...none.map(([line]) => line), '{"time":9,"n":1}'];
  const { reading } = await readText(lines.join('\n'), { ...nd, countColumn: 'n' });
  const { requests, skippedLines, skipped } = reading;
  expect({ requests, skippedLines, kept: skipped.length }).toEqual({ requests: 2, skippedLines: 13, kept: 5 });
});

it('a field that is not there is refused, with the nearest that is', async () => {
  await expect(readText('{"time":5,"status":200}\n', { ...nd, countColumn: 'statis' })).rejects.toMatchObject({
    code: 'invalid_input',
    what: 'log has no field statis.',
    why: 'It has the fields time, status.',
    fix: 'Did you mean --count status?',
  });
  await expect(readText('words\n', nd)).rejects.toMatchObject({ code: 'invalid_input', why: 'It has no fields.' });
});
