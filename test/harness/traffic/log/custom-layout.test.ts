// A log of a layout of its own: which fields are found, what is said of the others, and the format line that reads it.
import { expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readBytes } from '../../../../src/harness/traffic/log/read-bytes.js';

interface Request {
  readonly ip: string;
  readonly second: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

const requests: readonly Request[] = Array.from({ length: 24 }, (_, i) => ({
  ip: i % 3 === 0 ? '198.51.100.7' : '192.0.2.10',
  second: Math.floor(i / 2),
  method: i % 2 === 0 ? 'GET' : 'POST',
  path: `/items/${i % 4}`,
  status: i === 23 ? 429 : 200 + (i % 2),
}));

const two = (n: number) => `${n}`.padStart(2, '0');
const clf = ({ second }: Request) => `[17/May/2015:10:05:${two(second)} +0000]`;
const iso = ({ second }: Request, between: string, rest: string) => `2015-05-17${between}10:05:${two(second)}${rest}`;
const line = ({ method, path }: Request) => `${method} ${path}?a=b HTTP/1.1`;

async function read(text: string, options: { readonly format?: string } = {}) {
  const columns = ['client', 'method', 'path', 'status'];
  const found: string[] = [];
  const sink = {
    also: (texts: readonly string[]) => found.push(texts.join(' ')),
    request: (ms: number) => found.push(`${found.pop()} ${new Date(ms).getUTCSeconds()}`),
  };
  const reading = await readBytes([Buffer.from(text)], 'log', { ...options, alsoColumns: columns }, sink);
  return { found, reading, warnings: reading.warnings.map(({ code }) => code) };
}

const right = requests.map(({ ip, method, path, status, second }) => `${ip} ${method} ${path} ${status} ${second}`);
const textOf = (layout: (request: Request) => string) => requests.map((one) => `${layout(one)}\n`).join('');

const layouts: readonly (readonly [name: string, layout: (request: Request) => string])[] = [
  ['the request unquoted', (r) => `${r.ip} ${clf(r)} ${r.method} ${r.path} ${r.status} 0.005`],
  ['the request unquoted, with its protocol', (r) => `${r.ip} - - ${clf(r)} ${line(r)} ${r.status} 12`],
  ['a host before the request', (r) => `${r.ip} - - ${clf(r)} shop.example "${line(r)}" ${r.status} 10 "-" "x"`],
  ['a quoted host before the request', (r) => `${r.ip} - - ${clf(r)} "shop.example" "${line(r)}" ${r.status} 10`],
  ['a duration before the request', (r) => `${r.ip} - - ${clf(r)} 0.0${r.second} "${line(r)}" ${r.status} 10`],
  ['a duration before the status', (r) => `${r.ip} - - ${clf(r)} "${line(r)}" 0.0${r.second} ${r.status} 10`],
  ['bytes before the status', (r) => `${r.ip} - - ${clf(r)} "${line(r)}" ${1000 + r.second} ${r.status} "-" "x"`],
  ['no bytes', (r) => `${r.ip} - - ${clf(r)} "${line(r)}" ${r.status}`],
  [
    'bars',
    (r) => `${r.ip} | ${clf(r)} | ${line(r)} | ${r.status} | 0 | Mozilla/5.0 (X; Y) | 10.1.0.4:80 | - | a.example`,
  ],
  ['bars without blanks', (r) => `${r.ip}|${clf(r)}|${line(r)}|${r.status}|Mozilla/5.0 (X; Y)|0.005`],
  ['bars, the request last', (r) => `${r.status} | ${r.ip} | ${clf(r)} | ${line(r)}`],
  ['tabs', (r) => `${clf(r)}\t${r.ip}\tMozilla/5.0 (X; Y)\t${line(r)}\t${r.status}\t0.005`],
  ['the host first', (r) => `shop.example ${r.ip} - - ${clf(r)} 7 "${line(r)}" ${r.status} 12 "-" "x"`],
  ['no address first', (r) => `- - ${r.ip} frank ${clf(r)} "${line(r)}" ${r.status} 12`],
  ['the time first', (r) => `${clf(r)} ${r.ip} "${line(r)}" ${r.status} 12 "-" "x"`],
  ['an ISO time first', (r) => `${iso(r, 'T', '.403Z')} ${r.ip} ${r.method} ${r.path} ${r.status} 12`],
  ['a date and a clock time', (r) => `${iso(r, ' ', '')} ${r.ip} "${line(r)}" ${r.status} 12`],
  ['a comma before the ms', (r) => `${iso(r, ' ', ',403')} [INFO] ${r.ip}:4000 - "${line(r)}" ${r.status}`],
  ['a comma before the ms, and bars', (r) => `${iso(r, ' ', ',403')} | ${r.ip} | ${r.method} ${r.path} | ${r.status}`],
  ['a level first', (r) => `INFO ${iso(r, ' ', ',403')} ${r.ip}:4000 - "${line(r)}" ${r.status}`],
  ['names before values', (r) => `${clf(r)} client=${r.ip} request="${line(r)}" status=${r.status} rt=0.005`],
  ['the status first', (r) => `${r.status} 0.005 ${r.ip} ${clf(r)} "${line(r)}"`],
  [
    'Python, the client after the logger',
    (r) => `${iso(r, ' ', ',403')} - app - INFO - ${r.ip} "${line(r)}" ${r.status} -`,
  ],
  [
    'an upstream beside the client',
    (r) => `${iso(r, 'T', 'Z')} 10.0.0.5:80 ${r.ip} ${r.method} ${r.path} ${r.status} 12`,
  ],
  ['commas between words', (r) => `${iso(r, ' ', ',403')} INFO ${r.ip}, "${line(r)}", ${r.status}, ${1000 + r.second}`],
  ['in syslog', (r) => `May 17 10:05:09 web1 nginx[7]: ${r.ip} ${clf(r)} ${r.method} ${r.path} ${r.status} 0.005`],
  ['in docker compose', (r) => `web-1  | ${r.ip} ${clf(r)} ${r.method} ${r.path} ${r.status} 0.005`],
];

/** An address of each kind: a real log has both. */
const dual = (r: Request): Request => (r.second % 2 === 0 ? r : { ...r, ip: `2001:db8::${r.second}` });
const dualRight = requests
  .map(dual)
  .map(({ ip, method, path, status, second }) => `${ip} ${method} ${path} ${status} ${second}`);

it.each(layouts.filter(([, layout]) => !/:4000/.test(layout(requests[0]!))))(
  'IPv6 addresses are found among others in a layout that no format has: %s',
  async (_, layout) => {
    const { found, warnings } = await read(textOf((r) => layout(dual(r))));
    expect({ found, warnings }).toEqual({ found: dualRight, warnings: ['custom_layout'] });
  },
);

it('none of several addresses is taken for the client in a layout that no format has', async () => {
  const { found, reading } = await read(textOf((r) => `10.0.0.1 ${iso(r, 'T', 'Z')} ${r.ip} ${line(r)} ${r.status}`));
  expect(found[0]).toBe(' GET /items/0 200 0');
  expect(reading.warnings[0]?.what).toMatch(/Not found: client, .*2 fields hold addresses: name the client\./);
});

it('a layout with a second status is said to have two', async () => {
  const { reading } = await read(
    textOf((r) => `${r.ip} - - ${clf(r)} "${line(r)}" ${r.status} ${201 + (r.second % 4)} 12`),
  );
  expect(reading.warnings[0]?.what).toMatch('2 fields hold statuses');
});

it.each(layouts)('a new layout gives client, method, path and status, and how it was read: %s', async (_, layout) => {
  const { found, warnings, reading } = await read(textOf(layout));
  expect({ found, warnings }).toEqual({ found: right, warnings: ['custom_layout'] });
  const [, proposal = ''] = /--log-format '(.*)', which/.exec(reading.warnings[0]!.what) ?? [];
  expect((await read(textOf(layout), { format: proposal })).found).toEqual(right);
});

const usual = (r: Request) => `${r.ip} - - ${clf(r)} "${line(r)}" ${r.status} 12 "-" "x"`;

it('garbage that a server logs in place of a request is no other layout', async () => {
  const garbage = [
    '"-" 408 0 "-" "-"',
    '"\\x16\\x03\\x01" 400 150 "-" "-"',
    '"\u0016\u0003" 400 0 "-" "-"',
    '"" 400 0 "-" "-"',
  ];
  const lines = garbage.map((rest) => `192.0.2.9 - - ${clf(requests[0]!)} ${rest}\n`);
  const { reading, warnings } = await read(textOf(usual) + lines.join(''));
  expect({ format: reading.format, requests: reading.requests, warnings }).toEqual({
    format: 'combined',
    requests: 28,
    warnings: [],
  });
});

it('a few requests among other lines of a program are found', async () => {
  const { found, reading } = await read(`${'starting up\n'.repeat(40)}${textOf(usual)}`);
  expect({ found, format: reading.format }).toEqual({ found: right, format: 'combined' });
});

it('lines with an address and a time alone are read, and the rest is said to be missing', async () => {
  const { found, reading } = await read(textOf((r) => `${r.ip} - - ${clf(r)} served in 5 ms`));
  expect(found[0]).toBe('198.51.100.7    0');
  expect(reading.warnings[0]?.what).toMatch('no request, status');
});

it.each(['common', 'combined', '$remote_addr [$time_local] $host "$request" $status'])(
  'a named format whose fields are not found says so: %s',
  async (format) => {
    const { warnings } = await read(
      textOf((r) => `${r.ip} [17/May/2015:10:05:03 +0000] shop.example ${line(r)}`),
      { format },
    );
    expect(warnings).toEqual(['fields_not_found']);
  },
);

const table = textOf((r) => `${iso(r, ' ', '')},${r.ip},${r.path},${r.status}`);

it('a table without names is not guessed at: the time is asked for, by its number', async () => {
  await expect(read(table)).rejects.toThrow(
    'It has the columns 1, 2, 3, 4. Dates are in 1. Name it, as --time 1; a first line with names says what each column is.',
  );
});

it('a table without names has the columns that are named by their numbers', async () => {
  const found: string[] = [];
  const sink = { request: (_: number, _n: number, key = '') => void found.push(key) };
  await readBytes([Buffer.from(table)], 'log', { timeColumn: '1', keyColumn: '2' }, sink);
  expect(found).toHaveLength(requests.length);
});

const ms = [403, 653, 903];
const timesOf = async (text: string, options: LogOptions = { keyColumn: 'client' }) => {
  const times: number[] = [];
  const reading = await readBytes([Buffer.from(text)], 'log', options, { request: (at) => times.push(at % 1000) });
  return { times, format: reading.format };
};
const clock = (n: number) => `13:56:58,${n}`;

it.each<[name: string, format: string, lines: readonly string[]]>([
  ['Python', 'lines', ms.map((n) => `2026-03-11 ${clock(n)} [INFO] worker 192.0.2.1 done`)],
  ['log4j, in brackets', 'lines', ms.map((n) => `[2026-03-11 ${clock(n)}] INFO worker 192.0.2.1 done`)],
  ['a level first', 'lines', ms.map((n) => `INFO 2026-03-11 ${clock(n)} worker 192.0.2.1 done`)],
  ['with T and a zone', 'lines', ms.map((n) => `2026-03-11T${clock(n)}+0000 INFO 192.0.2.1 done`)],
  ['slashes', 'lines', ms.map((n) => `2026/03/11 ${clock(n)} INFO 192.0.2.1 done, at last`)],
  ['a month by name', 'lines', ms.map((n) => `11/Mar/2026 ${clock(n)} INFO 192.0.2.1 done`)],
  ['commas in the text', 'lines', ms.map((n) => `2026-03-11 ${clock(n)} INFO 192.0.2.1, shop, done`)],
  ['under a header', 'csv', ['time,client', ...ms.map((n) => `2026-03-11 ${clock(n)},192.0.2.1`)]],
  ['second under a header', 'csv', ['client,time,path', ...ms.map((n) => `192.0.2.1,2026-03-11 ${clock(n)},/a`)]],
  [
    'twice in a row',
    'csv',
    ['start,end,client', ...ms.map((n) => `2026-03-11 ${clock(n)},2026-03-11 ${clock(n)},192.0.2.1`)],
  ],
  ['in a clock time beside a date', 'csv', ['date,time,client', ...ms.map((n) => `2026-03-11,${clock(n)},192.0.2.1`)]],
  ['in microseconds', 'csv', ['time,client', ...ms.map((n) => `2026-03-11 ${clock(n)}000,192.0.2.1`)]],
  ['quoted in a table', 'csv', ['time,client', ...ms.map((n) => `"2026-03-11 ${clock(n)}",192.0.2.1`)]],
  ['in JSON', 'ndjson', ms.map((n) => `{"asctime":"2026-03-11 ${clock(n)}","client":"192.0.2.1"}`)],
])('a comma before the ms is part of the time: %s', async (_, format, lines) => {
  expect(await timesOf(`${lines.join('\n')}\n`)).toEqual({ times: ms, format });
});

it('a comma before the ms is part of the time between commas, in the column that is named', async () => {
  const text = ms.map((n) => `2026-03-11 ${clock(n)},INFO,192.0.2.1,done\n`).join('');
  expect(await timesOf(text, { timeColumn: '1', keyColumn: '3' })).toEqual({ times: ms, format: 'csv' });
});

it('the columns after a time with a comma have the right names', async () => {
  const rows = textOf((r) => `${iso(r, ' ', ',403')},${r.ip},${r.method},${r.path},${r.status}`);
  const { found, warnings } = await read(`time,client,method,path,status\n${rows}`);
  expect({ found, warnings }).toEqual({ found: right, warnings: [] });
});

it('three digits in a column of their own may be a status', async () => {
  const text = ms.map((_, i) => `2026-03-11 13:56:5${i},20${i},192.0.2.1\n`).join('');
  expect(await timesOf(text, { timeColumn: '1' })).toEqual({ times: [0, 0, 0], format: 'csv' });
});

const row = (r: Request) => `${iso(r, 'T', 'Z')},${r.ip},${r.method},${r.path},${r.status}`;
const names = 'time,client,method,path,status';

it('rows with more cells than names are refused where names and values do not fit', async () => {
  const numbered = textOf((r) => `${r.second},${row(r)}`);
  await expect(read(`${names}\n${numbered}`)).rejects.toThrow('more cells than the first line has names');
});

it('rows with more cells than names are read with a warning where these cells follow the others', async () => {
  const { found, warnings } = await read(`${names},agent\n${textOf((r) => `${row(r)},X (Y, like Z)`)}`);
  expect({ found, warnings }).toEqual({ found: right, warnings: ['uneven_rows'] });
});
