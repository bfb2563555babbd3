import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { tablesBeside } from '../../../tables-beside.js';
import { readText } from './reading.js';

const tables = tablesBeside(import.meta.url);

const nd: LogOptions = { format: 'ndjson' };

describe('the time of a request is the finest that is there, and its beginning', () => {
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
  ])('%s', async (_, text, from, ms) => {
    const { reading, heard } = await readText(text, nd);
    expect([reading.timeFrom, heard]).toEqual([from, [[ms, 1, '']]]);
  });
});

describe('one JSON object a line', () => {
  it.each<[string, string, LogOptions, string, unknown[]]>(tables.read)('%s', async (_, text, options, from, heard) => {
    const read = await readText(`${text}\n`, { ...nd, ...options });
    const { timeFrom, countFrom } = read.reading;
    expect([[timeFrom, countFrom].filter(Boolean).join(', '), read.heard, read.skipped]).toEqual([from, heard, []]);
  });
});

describe('the key', () => {
  it.each<[string, string, string]>(tables.keys)('%s', async (_, line, key) => {
    const first = '{"time":4,"user":"first"}';
    const { heard } = await readText(`${first}\n${line}\n`, { ...nd, keyColumn: 'user' });
    expect(heard.map(([, , heardKey]) => heardKey)).toEqual(['first', key]);
  });

  it.each([
    ['client', '{"time":5,"client":"a","ip":"b"}', 'field client'],
    ['client', '{"time":5,"host":"a","remoteAddr":"b"}', 'field remoteAddr'],
    ['request.ip', '{"time":5,"request":{"ip":"b"}}', 'field request.ip'],
  ])('%s of %s is %s', async (keyColumn, line, keyFrom) => {
    expect((await readText(line, { ...nd, keyColumn })).reading.keyFrom).toBe(keyFrom);
  });
});

const none: [line: string, reason: string][] = tables.unread;

it.each(none)('%s is none: %s', async (line, reason) => {
  const { skipped } = await readText(`{"time":5,"n":1}\n${line}\n`, { ...nd, countColumn: 'n' });
  expect(skipped).toEqual([`2: ${reason}`]);
});

it('lines that are none are counted, and the run goes on', async () => {
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
