import { expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { failureIn } from '../../../failures.js';
import { readText } from './reading.js';

/** What was read: how it was understood, what was heard, what was skipped. */
async function told(text: string, options: LogOptions = {}): Promise<unknown> {
  const { heard, reading, skipped } = await readText(text, options);
  const { format, timeFrom, countFrom, keyFrom } = reading;
  const origin = [timeFrom, countFrom, keyFrom].filter((part) => part !== undefined).join('; ');
  return { read: `${format}: ${origin}`, heard, skipped };
}

// biome-ignore format: one case a line
it.each<[string, string, LogOptions, string, unknown[]]>([
  ['commas', 'time,url\n5,/a\n7,/b\n', {}, 'csv: column time (unix s)', [[5000, 1, ''], [7000, 1, '']]],
  ['tabs', 'time\turl\n5\t/a\n', {}, 'tsv: column time (unix s)', [[5000, 1, '']]],
  ['semicolons', 'url;time\n/a,b;5\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['bars', 'url|time\n/a,b;c|5\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['one column', 'ts\n5\n6\n', {}, 'csv: column ts (unix s)', [[5000, 1, ''], [6000, 1, '']]],
  ['no newline at the end', 'time,url\n5,/a', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['CRLF', 'url,time\r\n/a,5\r\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['a byte order mark', '\ufefftime,url\n5,/a\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['the separator first, as Excel writes it', '\ufeffsep=;\r\nurl;time\r\n/a,b;5\r\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['quoted names and fields', '"time","url"\n"5","/a,""b"""\n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['rows in quotes as a whole', '"time,url"\n"5,/a"\n6,/b\n', {}, 'csv: column time (unix s)', [[5000, 1, ''], [6000, 1, '']]],
  ['blanks around', ' time , url \n 5 , /a \n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['blank lines', '\ntime,url\n\n5,/a\n \n', {}, 'csv: column time (unix s)', [[5000, 1, '']]],
  ['fields missing and too many', 'time,url,bytes\n5\n6,/a,1,2\n', {}, 'csv: column time (unix s)', [[5000, 1, ''], [6000, 1, '']]],
  ['names in other letter case', 'TIMESTAMP,Tokens\n2023-11-16 18:17:03.9799600,1\n', {}, 'csv: column TIMESTAMP (date and time)',
    [[Date.UTC(2023, 10, 16, 18, 17, 3, 979), 1, '']]],
  ['a unit in the name', 't_ms,url\n5,/a\n', {}, 'csv: column t_ms (unix ms)', [[5, 1, '']]],
  ['a unit told', 't_ms,url\n5,/a\n', { timeUnit: 's' }, 'csv: column t_ms (unix s)', [[5000, 1, '']]],
  ['nanoseconds', 'time,url\n1446249504427999999,/a\n', {}, 'csv: column time (unix ns)', [[1446249504427, 1, '']]],
  ['the bracketed timestamp',
    'host\ttime\na\t[17/May/2015:10:05:03 +0000]\n', {}, 'tsv: column time (date and time)', [[1431857103000, 1, '']]],
  ['a column told', 'time,seen\n5,9\n', { timeColumn: 'seen' }, 'csv: column seen (unix s)', [[9000, 1, '']]],
  ['a column told in other case', 'time,Seen\n5,9\n', { timeColumn: 'seen' }, 'csv: column Seen (unix s)', [[9000, 1, '']]],
  ['the usual name whose values are times',
    'time,date\n10:05,2015-05-17 10:05\n', {}, 'csv: column date (date and time)', [[Date.UTC(2015, 4, 17, 10, 5), 1, '']]],
  ['a timestamp before a time, which may be a duration',
    'time,timestamp\n0.25,1446249504\n', {}, 'csv: column timestamp (unix s)', [[1446249504000, 1, '']]],
  ['times before 1970', 'time,url\n-1.5,/a\n', {}, 'csv: column time (unix s)', [[-1500, 1, '']]],
])('a table with a first row of names is read: %s', async (_, text, options, read, heard) => {
  expect(await told(text, options)).toEqual({ read, heard, skipped: [] });
});

it.each<[string, string, LogOptions, string, number[]]>([
  ['time and count', 't_ms,n\n5,61\n6,0\n7,3\n', {}, 'column n', [61, 3]],
  ['with a client', 'time,host,count\n5,a,2\n', {}, 'column count', [2]],
  ['a count like 61.0', 'time,requests\n5,61.0\n', {}, 'column requests', [61]],
  ['a wide table', 'time,url,status,count\n5,/a,200,7\n', {}, 'column count', [7]],
  ['a wide table of single requests', 'time,url,user_agent,count\n5,/a,x,7\n', {}, 'none', [1]],
  ['a sure name among single requests', 'time,url,user_agent,requests\n5,/a,x,7\n', {}, 'column requests', [7]],
  ['a count before the time', 'requests,time\n7,5\n9,6\n', {}, 'column requests', [7, 9]],
  ['an empty cell', 'time,count\n5,7\n6,\n7,9\n', {}, 'column count', [7, 9]],
  ['a cell that is NaN', 'time,count\n5,7\n6,NaN\n7,9\n', {}, 'column count', [7, 9]],
  ['a cell that is -1', 'time,count\n5,7\n6,-1\n7,9\n', {}, 'column count', [7, 9]],
  ['a number before the time may be that of the row', 'n,time\n1,5\n2,6\n', {}, 'none', [1, 1]],
  ['fractions count nothing', 'time,n\n5,1.5\n', {}, 'none', [1]],
  ['not a usual name', 'time,tokens\n5,7\n', {}, 'none', [1]],
  ['told', 'time,url,status,hits,tokens\n5,/a,200,3,7\n', { countColumn: 'tokens' }, 'column tokens', [7]],
  ['told not to', 'time,count\n5,7\n', { countColumn: false }, 'none', [1]],
  ['a spread tells that they are counts', 'n,time,url,status\n7,5,/a,200\n', { spreadMs: 1000 }, 'column n', [7]],
])('rows are one request each, unless the table is one of counts: %s', async (_, text, options, countFrom, counts) => {
  const { heard, reading } = await readText(text, options);
  expect([reading.countFrom ?? 'none', heard.map(([, n]) => n)]).toEqual([countFrom, counts]);
});

// biome-ignore format: one case a line
it.each<[string, string, string, string, string[]]>([
  ['told', 'time,user\n5,a\n6,b\n', 'user', 'column user', ['a', 'b']],
  ['a column of that name', 'time,client,ip\n5,a,1.2.3.4\n', 'client', 'column client', ['a']],
  ['an address before a host, which may be the server',
    'host,time,remote_addr\nwww,5,1.2.3.4\n', 'client', 'column remote_addr', ['1.2.3.4']],
  ['a host when there is nothing else', 'host\ttime\na\t5\n', 'client', 'column host', ['a']],
  ['quoted', 'time,user\n5,"a ""b"", c"\n', 'user', 'column user', ['a "b", c']],
  ['blanks around', 'time,user\n5, a b \n', 'user', 'column user', ['a b']],
  ['beyond ASCII', 'time,user\n5,Zoë\n', 'user', 'column user', ['Zoë']],
  ['empty or missing: not known', 'time,user\n5,\n6\n7," "\n', 'user', 'column user', ['-', '-', '-']],
])('the key is the named column, or for `client` the one that is known to be it: %s', async (_, text, keyColumn, keyFrom, keys) => {
  const { heard, reading } = await readText(text, { keyColumn });
  expect([reading.keyFrom, heard.map(([, , key]) => key)]).toEqual([keyFrom, keys]);
});

it('rows that are no requests are counted with line and reason, and the run goes on', async () => {
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

it('a second row of names in the middle is skipped, as when files were joined', async () => {
  const { heard, skipped } = await readText('time,url\n5,/a\ntime,url\n6,/b\n');
  expect([heard.length, skipped]).toEqual([2, ['3: no time in column time']]);
});

// biome-ignore format: one case a line
it.each<[string, string, number[], string[]]>([
  ['make one row', 'time,text\n5,"one\ntwo\r\n\nthree"\n6,x\n', [5, 6], []],
  ['also before the time', 'text,time\n"one\n7,two",5\nx,6\n', [5, 6], []],
  ['also several in one row', 'a,time,b\n"one\ntwo",5,"three\nfour"\nx,6,y\n', [5, 6], []],
  ['also in the names', '"time","text\nof the row"\n5,x\n', [5], []],
  ['with doubled quotes', 'time,text\n5,"say ""hi\nthere"""\n6,x\n', [5, 6], []],
  ['a quote that never closes swallows nothing', 'time,text\n5,"one\n6,two\n7,three\n', [5, 6, 7], []],
  ['nor when a later field closes it by its own opening', 'time,text\n5,"one\n6,two\n7,"three"\n8,x\n', [5, 6, 7, 8], []],
  ['a stray quote before the time costs its own row', 'a,text,time\nx,"one,5\ny,two,6\n', [6], ['2: no time in column time']],
  ['a quote within a field is a letter', 'time,text\n5,6" pipe\n7,x\n', [5, 7], []],
  ['text after a closing quote is forgiven', 'text,time\n"one" two,5\n', [5], []],
])('quotes over several lines are read: %s', async (_, text, seconds, skipped) => {
  const read = await readText(text);
  expect([read.heard.map(([unixMs]) => unixMs / 1000), read.skipped]).toEqual([seconds, skipped]);
});

it('quotes over several lines are bounded: after 1,000 lines the quote was a stray one', async () => {
  const rows = Array.from({ length: 2500 }, (_, i) => `${i + 6},x`);
  const { heard, reading } = await readText(`time,text\n5,"open\n${rows.join('\n')}\n9999,"a"\n`);
  expect([heard.length, reading.skippedLines]).toEqual([2502, 0]);
});

// biome-ignore format: one case a line
it.each<[string, string, LogOptions, string]>([
  ['a time column',
    'tme,url\n5,/a\n', { timeColumn: 'tmr' }, 'log has no column tmr. It has the columns tme, url. Did you mean --time tme?'],
  ['a time column, nothing near',
    'a,b\n5,/a\n', { timeColumn: 'when' }, 'log has no column when. It has the columns a, b. Name one of them with --time.'],
  ['a count column', 'time,requests\n5,1\n', { countColumn: 'request' },
    'log has no column request. It has the columns time, requests. Did you mean --count requests?'],
  ['a key', 'time,usr\n5,1\n', { keyColumn: 'user' }, 'log has no column user. It has the columns time, usr. Did you mean --key usr?'],
  ['a client',
    'time,url\n5,/a\n', { keyColumn: 'client' }, 'log has no column client. It has the columns time, url. Name one of them with --key.'],
  [
    'a time',
    'seen,url\n5,/a\n',
    {},
    'No column of log is known to be the time. It has the columns seen, url. Name it with --time; a first line with names says what each column is.',
  ],
  ['counts to spread', 'time,url\n5,/a\n', { spreadMs: 1000 },
    'No column of log is known to be the count that is to be spread. It has the columns time, url. Name it with --count, as n/60s.'],
])('what is asked for and is not there is refused in words: %s', async (_, text, options, message) => {
  expect(await failureIn(readText(text, options))).toMatchObject({ code: 'invalid_input', message });
});

it.each([
  ['docker compose', ['time,client', '1431857103,192.0.2.1', '1431857104,192.0.2.1'].map((row) => `web-1  | ${row}\n`)],
  [
    'json',
    ['time,client', '1431857103,192.0.2.1', '1431857104,192.0.2.1'].map((log) => `${JSON.stringify({ log })}\n`),
  ],
])('the names of a table in %s are no request', async (envelope, lines) => {
  const { heard, reading, skipped } = await readText(lines.join(''), { keyColumn: 'client' });
  expect([reading.format, reading.envelope, heard, skipped]).toEqual([
    'csv',
    envelope,
    [1431857103000, 1431857104000].map((unixMs) => [unixMs, 1, '192.0.2.1']),
    ['1: no time in column time'],
  ]);
});
