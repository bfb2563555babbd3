import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { failureIn } from '../../../failures.js';
import { tablesBeside } from '../../../tables-beside.js';
import { readText } from './reading.js';

const tables = tablesBeside(import.meta.url);

/** What was read: how it was understood, what was heard, what was skipped. */
async function told(text: string, options: LogOptions = {}): Promise<unknown> {
  const { heard, reading, skipped } = await readText(text, options);
  const { format, timeFrom, countFrom, keyFrom } = reading;
  const origin = [timeFrom, countFrom, keyFrom].filter((part) => part !== undefined).join('; ');
  return { read: `${format}: ${origin}`, heard, skipped };
}

describe('a table with a first row of names', () => {
  it.each<[string, string, LogOptions, string, unknown[]]>(tables.named)(
    '%s',
    async (_, text, options, read, heard) => {
      expect(await told(text, options)).toEqual({ read, heard, skipped: [] });
    },
  );
});

describe('rows are one request each, unless the table is one of counts', () => {
  it.each<[string, string, LogOptions, string, number[]]>(tables.counts)(
    '%s',
    async (_, text, options, countFrom, counts) => {
      const { heard, reading } = await readText(text, options);
      expect([reading.countFrom ?? 'none', heard.map(([, n]) => n)]).toEqual([countFrom, counts]);
    },
  );
});

describe('the key is the column told, or for `client` the one that is known to be it', () => {
  it.each<[string, string, string, string, string[]]>(tables.keys)('%s', async (_, text, keyColumn, keyFrom, keys) => {
    const { heard, reading } = await readText(text, { keyColumn });
    expect([reading.keyFrom, heard.map(([, , key]) => key)]).toEqual([keyFrom, keys]);
  });
});

describe('rows that are none are counted, and the run goes on', () => {
  it('says which and why', async () => {
    expect(await told('time,n\nsoon,1\n5,many\n6,-1\n7,1.5\n8\n9,2\n,3\n', { countColumn: 'n' })).toEqual({
      read: 'csv: column time (unix s); column n',
      heard: [[9000, 2, '']],
      skipped: [
        '2: no time in column time',
        '3: no whole number in column n',
        '4: no whole number in column n',
        '5: no whole number in column n',
        '6: no whole number in column n',
      ],
    });
  });

  it('a date and a clock time make one time; a date alone, where it is named', async () => {
    const text = 'time,date\n10:05,2015-05-17\n';
    expect([await told(text), await told(text, { timeColumn: 'date' })]).toEqual([
      {
        read: 'csv: columns date and time (date and time)',
        heard: [[Date.UTC(2015, 4, 17, 10, 5), 1, '']],
        skipped: [],
      },
      { read: 'csv: column date (date and time)', heard: [[Date.UTC(2015, 4, 17), 1, '']], skipped: [] },
    ]);
  });

  it('a second row of names in the middle, as when files were joined', async () => {
    const { heard, skipped } = await readText('time,url\n5,/a\ntime,url\n6,/b\n');
    expect([heard.length, skipped]).toEqual([2, ['3: no time in column time']]);
  });
});

describe('quotes over several lines', () => {
  it.each<[string, string, number[], string[]]>(tables.skipped)('%s', async (_, text, seconds, skipped) => {
    const read = await readText(text);
    expect([read.heard.map(([unixMs]) => unixMs / 1000), read.skipped]).toEqual([seconds, skipped]);
  });

  it('are bounded: after 1,000 lines the quote was a stray one', async () => {
    const rows = Array.from({ length: 2500 }, (_, i) => `${i + 6},x`);
    const { heard, reading } = await readText(`time,text\n5,"open\n${rows.join('\n')}\n9999,"a"\n`);
    expect([heard.length, reading.skippedLines]).toEqual([2502, 0]);
  });
});

describe('what is asked for and is not there is refused in words', () => {
  it.each<[string, string, LogOptions, string]>(tables.refused)('%s', async (_, text, options, message) => {
    expect(await failureIn(readText(text, options))).toMatchObject({ code: 'invalid_input', message });
  });
});

it.each([
  ['docker compose', ['time,client', '1431857103,192.0.2.1', '1431857104,192.0.2.1'].map((row) => `web-1  | ${row}\n`)],
  [
    'json',
    ['time,client', '1431857103,192.0.2.1', '1431857104,192.0.2.1'].map((log) => `${JSON.stringify({ log })}\n`),
  ],
])('a table in %s: its names are no request', async (envelope, lines) => {
  const { heard, reading, skipped } = await readText(lines.join(''), { keyColumn: 'client' });
  expect([reading.format, reading.envelope, heard, skipped]).toEqual([
    'csv',
    envelope,
    [1431857103000, 1431857104000].map((unixMs) => [unixMs, 1, '192.0.2.1']),
    ['1: no time in column time'],
  ]);
});
