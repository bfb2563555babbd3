// Logs as people have them: a few lines of each kind, how they are recognised, and the requests in them.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { summaryOf } from '../../../../src/harness/outcome/read-summary.js';
import { documentKinds } from '../../../../src/harness/traffic/log/documents.js';
import { formats, logFormats } from '../../../../src/harness/traffic/log/formats.js';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readText } from './reading.js';

const at = (text: string) => Date.parse(text);

/** Format, envelope, requests as `seconds since the first + count + key`, lines skipped. */
async function summary(text: string | readonly Buffer[], options: LogOptions): Promise<unknown> {
  const { heard, reading } = await readText(text, options);
  const first = heard[0]?.[0] ?? Number.NaN;
  return {
    kind: [reading.format, ...(reading.envelope === undefined ? [] : [reading.envelope])].join(' in '),
    first: new Date(first).toISOString(),
    requests: heard.map(([ms, n, key]) => `${(ms - first) / 1000} ${n} ${key}`),
    skipped: reading.skippedLines,
  };
}

const client: LogOptions = { keyColumn: 'client', nowMs: at('2026-01-15T00:00:00Z') };
const clf = (ip: string, second: number) =>
  `${ip} - - [17/May/2015:10:05:0${second} +0000] "GET /a HTTP/1.1" 200 12 "-" "curl/7"`;
const two = [clf('192.0.2.1', 3), clf('192.0.2.2', 4)] as const;
const each = (prefix: (second: number) => string) => two.map((line, i) => `${prefix(i + 3)}${line}\n`).join('');
const plainTwo = { first: '2015-05-17T10:05:03.000Z', requests: ['0 1 192.0.2.1', '1 1 192.0.2.2'], skipped: 0 };

// biome-ignore format: one case a line
it.each<[name: string, kind: string, text: string]>([
  ['RFC 3164', 'combined in syslog', each((s) => `<34>May 17 10:05:0${s} web1 nginx[14389]: `)],
  ['RFC 3164 in a file', 'combined in syslog', each((s) => `May 17 10:05:0${s} web1 nginx: `)],
  ['RFC 3164 without a host', 'combined in syslog', each((s) => `<190>May  7 10:05:0${s} nginx: `)],
  ['ISO times', 'combined in syslog', each((s) => `2015-05-17T10:05:0${s}.123456+00:00 web1 nginx[7]: `)],
  ['RFC 5424', 'combined in syslog', each((s) => `<13>1 2015-05-17T10:05:0${s}.123Z web1 nginx 7 - - `)],
  ['RFC 5424 with data', 'combined in syslog', each((s) => `<13>1 2015-05-17T10:05:0${s}Z web1 nginx 7 ID [a@1 b="c \\"]"][x y="z"] `)],
  ['docker compose', 'combined in docker compose', each(() => 'web-1  | ')],
  ['docker compose in colour', 'combined in docker compose', each(() => '\u001b[36mweb-1  |\u001b[0m ')],
  ['docker compose with times', 'combined in timestamps in docker compose', each((s) => `web-1  | 2015-05-17T10:05:0${s}.123456789Z `)],
  ['docker logs -t', 'combined in timestamps', each((s) => `2015-05-17T10:05:0${s}.123456789Z `)],
  ['CRI', 'combined in CRI', each((s) => `2015-05-17T10:05:0${s}.669794202Z stdout F `)],
  ['kubectl --prefix', 'combined in kubectl', each(() => '[pod/web-7c5/nginx] ')],
  ['Caddy on a terminal', 'combined in Caddy console', each((s) => `2015/05/17 10:05:0${s}.123\tinfo\thttp.log.access\thandled request\t`)],
  ['journalctl', 'combined in syslog', each((s) => `May 17 10:05:0${s} host nginx[123]: `)],
  ['journalctl short-precise', 'combined in syslog', each((s) => `May 17 10:05:0${s}.123456 host nginx[123]: `)],
  ['journalctl short-unix', 'combined in syslog', each((s) => `143185710${s}.123456 host nginx[123]: `)],
  ['journalctl short-full', 'combined in syslog', each((s) => `Sun 2015-05-17 10:05:0${s} UTC host nginx[123]: `)],
  ['docker json-file', 'combined in json',
    two.map((log, i) => `${JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: `2020-01-01T00:00:0${i}Z` })}\n`).join('')],
  ['journalctl -o json',
    'combined in json', two.map((MESSAGE) => `${JSON.stringify({ __REALTIME_TIMESTAMP: '1431857103000000', MESSAGE })}\n`).join('')],
])('an envelope is taken off: %s', async (_, kind, text) => {
  expect(await summary(text, client)).toEqual({ kind, ...plainTwo });
});

/** `### name | format in envelope | first request | requests | options`, then the log, whose requests are by client unless told otherwise. */
const samples = readFileSync(new URL('samples/kinds.txt', import.meta.url), 'utf8')
  .split(/^### /m)
  .slice(1)
  .map((sample) => {
    const end = sample.indexOf('\n');
    const [name = '', kind, first, requests, options = '{"keyColumn":"client"}'] = sample.slice(0, end).split(' | ');
    return { name, kind, first, requests, options: JSON.parse(options) as LogOptions, text: sample.slice(end + 1) };
  });

it.each(samples)('the sample of a kind of log is read: $name', async (sample) => {
  const read = await summary(sample.text, { ...sample.options, nowMs: client.nowMs });
  const requests = sample.requests!.split(', ').map((request) => (/^\S+ \S+$/.test(request) ? `${request} ` : request));
  expect(read).toEqual({ kind: sample.kind, first: sample.first, requests, skipped: 0 });
});

it.each<[name: string, text: string, codes: readonly string[]]>([
  ['each line a request', '[26/Nov/2026 10:00:00] "GET / HTTP/1.1" 200 12\n', ['custom_layout']],
  ['times alone', '2026-11-26 10:00:00\n2026-11-26 10:00:01\n', []],
  ['an error log', '[Thu Nov 26 10:00:00 2026] [error] [client 192.0.2.1] denied\n', ['every_line']],
  ['a syslog', 'Nov 26 10:00:00 web1 sshd[7]: Accepted\n', ['every_line']],
])('lines that may be no requests are told of: %s', async (_, text, codes) => {
  const { reading } = await readText(text, { nowMs: at('2026-12-01T00:00:00Z') });
  expect(reading.warnings.map(({ code }) => code).filter((code) => code !== 'no_year')).toEqual(codes);
});

it('lines that are chosen are not told of as all lines', async () => {
  const where = [{ field: 'program', comparison: '=', value: 'sshd' } as const];
  const { reading } = await readText('2015-05-17T10:05:03Z web1 sshd[7]: Accepted\n', { where });
  expect(reading).toMatchObject({ format: 'syslog', requests: 1, warnings: [] });
});

it('what a load balancer of AWS itself takes is not how long a request took', async () => {
  const sent = 'app/lb/50dc 192.0.2.1:2817 10.0.0.1:80 0.001 2.5 0.002 200 200 34 366 "GET http://a/ HTTP/1.1" "curl"';
  const line = `http 2018-07-02T22:23:00.186641Z ${sent}\n`;
  await expect(readText(line, { keyColumn: 'duration' })).rejects.toThrow('log has no field duration');
  expect((await readText(line, { keyColumn: 'target_processing_time' })).heard[0]![2]).toBe('2.5');
});

it('every format has a sample', () => {
  const shown = new Set([...samples.map(({ kind = '' }) => kind.split(' ')[0]!), 'combined', 'common', 'har']);
  expect(logFormats.filter((name) => !shown.has(name))).toEqual([]);
});

it('the table of formats is what `weir help logs` shows', () => {
  const rows = [...formats, ...documentKinds];
  const help = readFileSync('src/cli/topics/logs.md', 'utf8');
  const shown = [...help.matchAll(/^\| `(\S+)` +\| (.+?) +\|$/gm)].map(([, name, said]) => `${name}: ${said}`);
  const time = (marks: string, exact: string) =>
    [...(marks === 'any' ? [] : [`at the ${marks}`]), ...(exact === 'any' ? [] : [`to the ${exact}`])].join(', ');
  expect(shown).toEqual(
    rows.map(
      ({ name, writer, moment, precision }) => `${name}: ${writer}${time(moment, precision).replace(/.+/, ' ($&)')}`,
    ),
  );
});

it.each<[string, Buffer]>([
  ['with a mark', Buffer.from('\ufefftime,n\r\n1431857103,2\r\n', 'utf16le')],
  ['without one', Buffer.from('time,n\r\n1431857103,2\r\n', 'utf16le')],
  ['big-endian', Buffer.from('\ufefftime,n\r\n1431857103,2\r\n', 'utf16le').swap16()],
])('a log in UTF-16 %s is read, cut anywhere', async (_, bytes) => {
  const whole = { kind: 'csv', first: '2015-05-17T10:05:03.000Z', requests: ['0 2 '], skipped: 0 };
  expect(await summary([bytes], {})).toEqual(whole);
  expect(
    await summary(
      Array.from(bytes, (byte) => Buffer.of(byte)),
      {},
    ),
  ).toEqual(whole);
});

it.each([
  ['one', 'seen,url\n2015-05-17 10:05:03,/a\n', 'seen, url', 'seen'],
  ['two', 'seen,expires,url\n2015-05-17 10:05:03,2015-05-18 10:05:03,/a\n', 'seen, expires, url', 'seen, expires'],
])('a time of a name that is not known is asked for: %s', async (_, text, columns, dated) => {
  await expect(readText(text)).rejects.toMatchObject({
    what: 'No column of log is known to be the time.',
    why: `It has the columns ${columns}. Dates are in ${dated}.`,
    fix: 'Name it, as --time seen.',
  });
});

it.each(['5/17/2015 10:05', '17/05/2015 10:05:03', '01.06.2015 10:05:03', '15-06-01 10:05', '2015-06-01 10:05 IST'])(
  'a date in digits that does not begin with the year, or in a zone that several share, is refused: %s',
  async (date) => {
    await expect(readText(`when;x\n${date};1\n`)).rejects.toMatchObject({
      what: `The values of column when of log are no times, as ${date}.`,
      why: 'Dates in digits are read with the year first: day and month cannot be distinguished. A zone is read as +05:30, or by a name that no other zone has.',
      fix: 'Convert them to ISO 8601, or name another with --time.',
    });
  },
);

// biome-ignore format: one case a line
it.each<[name: string, text: string, from: string, instants: string[]]>([
  ['s, ms, us and ns in one column', 'ts\n1700000000\n1700000001500\n1700000002000000\n1700000003000000000\n', 'column ts (unix s)',
    ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.500Z', '2023-11-14T22:13:22.000Z', '2023-11-14T22:13:23.000Z']],
  ['a small `time` beside an epoch `ts`',
    'time,ts\n0.25,1700000000\n0.31,1700000001\n', 'column ts (unix s)', ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.000Z']],
  ['a name with its zone', 'Timestamp (UTC),x\n2015-05-17 10:05:03,1\n', 'column Timestamp (UTC) (date and time)', ['2015-05-17T10:05:03.000Z']],
  ['a date and a clock time',
    'date,time,x\n2015-05-17,10:05:03.5,1\n', 'columns date and time (date and time)', ['2015-05-17T10:05:03.500Z']],
  ['as in a mail', 'time;x\n"Sun, 17 May 2015 10:05:03 +0200";1\n', 'column time (date and time)', ['2015-05-17T08:05:03.000Z']],
])('times are read from the columns that hold them: %s', async (_, text, from, instants) => {
  const { heard, reading } = await readText(text);
  expect([reading.timeFrom, heard.map(([ms]) => new Date(ms).toISOString())]).toEqual([from, instants]);
});

// biome-ignore format: one case a line
it.each<[name: string, text: string, column: string, example: string]>([
  ['FILETIME', 'timestamp,x\n133444736000000000,1\n133444736015000000,1\n', 'timestamp', '133444736015000000'],
  ['WebKit', 'time,x\n13344473600000000,1\n', 'time', '13344473600000000'],
  ['.NET ticks', 'time,x\n638355968000000000,1\n', 'time', '638355968000000000'],
  ['.NET ticks of 1999 and 2099', 'time,x\n630506304000000000,1\n662061600000000000,1\n', 'time', '662061600000000000'],
  ['days of a spreadsheet', 'time,x\n45244.925925925927,1\n45244.92594,2\n', 'time', '45244.92594'],
  ['whole days of a spreadsheet', 'time,requests\n45244,100\n45245,120\n', 'time', '45245'],
  ['s of 1985', 'time,x\n500000000,1\n', 'time', '500000000'],
  ['a clock beside a row without one', 'time,x\n0,1\n133444736000000000,1\n133444736015000000,1\n', 'time', '133444736015000000'],
  ['beside another date, which may not be the time of a request', 'time,expires\n133444736000000000,2026-01-01T00:00:00Z\n', 'time', '133444736000000000'],
])('times of another clock are refused, with what to do: %s', async (_, text, column, example) => {
  await expect(readText(text)).rejects.toMatchObject({
    code: 'invalid_input',
    what: `The numbers of column ${column} of log cannot be times, as ${example}.`,
    why: 'They are neither s, ms, us or ns since 1970 nor a clock from 0; FILETIME, WebKit, .NET ticks and days of a spreadsheet are not read.',
    fix: `Convert them to unix s or ISO 8601. If they are s, ms, us or ns, say which, as --time ${column}:s.`,
  });
});

// biome-ignore format: one case a line
it.each<[name: string, text: string, options: LogOptions, instants: number[]]>([
  ['s of 1985, said to be s', 'time,x\n500000000,1\n', { timeUnit: 's' }, [500_000_000_000]],
  ['s since a start, said to be s', 'time,x\n45244.9,1\n', { timeUnit: 's' }, [45_244_900]],
  ['a clock of days in ms', 'time_ms,x\n432000000,1\n', {}, [432_000_000]],
  ['a clock in s that is no day of a spreadsheet', 'time,x\n123456.7,1\n', {}, [123_456_700]],
  ['a clock whose first hours are there', 'time,x\n0,1\n45244.5,1\n', {}, [0, 45_244_500]],
])('times of a clock from 0, or of a named unit, are read: %s', async (_, text, options, instants) => {
  expect((await readText(text, options)).heard.map(([ms]) => ms)).toEqual(instants);
});

// biome-ignore format: one case a line
it.each<[name: string, format: string, text: string, key: string, keys: string[]]>([
  ["nginx's", '$remote_addr - $remote_user [$time_local] "$request" $status',
    '192.0.2.1 - frank [17/May/2015:10:05:03 +0000] "GET /a?b HTTP/1.1" 200\n', 'user', ['frank']],
  ['nginx with $msec and no brackets', '$msec|$http_x_forwarded_for|$request_method $uri|$status',
    '1431857103.232|192.0.2.1, 10.0.0.1|GET /a|200\n', 'forwarded', ['192.0.2.1']],
  ['the whole directive', "log_format main '$remote_addr $host [$time_iso8601] '\n  '\"$request\" $status';",
    '192.0.2.1 example.org [2015-05-17T10:05:03+00:00] "GET /a HTTP/1.1" 200\n', 'path', ['/a']],
  ["Apache's", '%h %l %u %t "%r" %>s %b "%{X-Forwarded-For}i" %D',
    '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "192.0.2.7" 123\n', 'forwarded', ['192.0.2.7']],
  ['a LogFormat line', 'LogFormat "%v:%p %a %{%Y-%m-%d %H:%M:%S}t \\"%r\\"" vhost',
    'example.org:80 192.0.2.1 2015-05-17 10:05:03 "GET /a HTTP/1.1"\n', 'host', ['example.org']],
  ['tabs in the directive, and a decoded path', "log_format t '$time_iso8601\\t$remote_addr\\t$uri\\t$status';",
    '2015-05-17T10:05:03Z\t192.0.2.1\t/a b\t200\n', 'path', ['/a b']],
  ['a host before a path', '[$time_local] "$request_method $scheme://$host$request_uri" $status',
    '[17/May/2015:10:05:03 +0000] "GET http://127.0.0.1:80/a?b=c" 200\n', 'path', ['/a']],
  ['a path before a query', '$time_iso8601 $request_method $uri$is_args$args $status',
    '2015-05-17T10:05:03Z GET /a?b=c 200\n2015-05-17T10:05:03Z GET /a 200\n', 'query', ['b=c', '-']],
  ["the same in Apache's", '%t "%U%q" %>s',
    '[17/May/2015:10:05:03 +0000] "/a \\"b\\"" 200\n[17/May/2015:10:05:03 +0000] "/a?c" 404\n', 'status', ['200', '404']],
  ['an agent at the end', '$time_iso8601|$status|$http_user_agent',
    '2015-05-17T10:05:03Z|200|Mozilla/5.0 (X; Y)\n', 'user_agent', ['Mozilla/5.0 (X; Y)']],
  ['forwarded addresses before the client', '%{X-Forwarded-For}i %h %t',
    '203.0.113.7, 10.0.0.1 192.0.2.1 [17/May/2015:10:05:03 +0000]\n', 'client', ['192.0.2.1']],
  ['within syslog', '$remote_addr [$time_local] "$request"',
    'May 17 10:05:03 web1 nginx: 192.0.2.1 [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1"\n', 'client', ['192.0.2.1']],
])('--log-format reads the fields that it names: %s', async (_, format, text, keyColumn, keys) => {
  const { heard, skipped } = await readText(text, { format, keyColumn });
  expect([heard.map(([, , key]) => key), skipped, Math.floor(heard[0]![0] / 1000)]).toEqual([
    keys,
    [],
    1_431_857_103,
  ]);
});

it('--log-format counts lines of another kind', async () => {
  const { heard, skipped } = await readText('192.0.2.1 [17/May/2015:10:05:03 +0000] "x"\nstarted\n', {
    format: '$remote_addr [$time_local] "$request"',
  });
  expect([heard.length, skipped]).toEqual([1, ['2: not a line of the format log-format']]);
});

const line = `198.51.100.7 - frank [17/May/2015:10:05:03 +0000] "POST /a/b?c=d HTTP/1.1" 404 12 "-" "x \\"y\\"" "192.0.2.1, 192.0.2.2:7, [2001:db8::3]:9"\n`;
it.each<[string, string]>([
  ['client', '198.51.100.7'],
  ['user', 'frank'],
  ['method', 'POST'],
  ['path', '/a/b'],
  ['status', '404'],
  ['user_agent', 'x \\"y\\"'],
  ['forwarded', '192.0.2.1'],
  ['forwarded:2', '192.0.2.2'],
  ['forwarded:-1', '2001:db8::3'],
  ['forwarded:4', '-'],
])('the key %s is found in an access log', async (keyColumn, key) => {
  expect((await readText(line, { keyColumn })).heard.map(([, , one]) => one)).toEqual([key]);
});

const plain = '198.51.100.7 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 404 12';
it.each<[name: string, key: string, text: string]>([
  ['no more fields', 'forwarded', `${plain} "-" "x"`],
  ["Apache's %D", 'forwarded', `${plain} "-" "x" 1234`],
  ["Traefik's number of requests", 'forwarded', `${plain} "-" "x" 7 "shop@docker" "http://172.18.0.3:80" 2ms`],
  ["HAProxy's port", 'forwarded', `${plain} "" "" 33317 655 "fe" "be" "s1" 0 0 0 1 1 ---- 2 2 0 0 0 0 0`],
  ['a duration before the referer', 'referer', `${plain} 1234 "-" "x"`],
  ['no agent', 'user_agent', `${plain} "-"`],
])('what follows the fields of an access log is no field of it: %s', async (_, keyColumn, text) => {
  await expect(readText(`${text}\n`, { keyColumn })).rejects.toThrow(`log has no field ${keyColumn}`);
});

// biome-ignore format: one case a line
it.each<[LogOptions['where'], number]>([
    [[{ field: 'method', comparison: '=', value: 'POST' }], 1],
    [[{ field: 'method', comparison: '!=', value: 'POST' }], 0],
    [[{ field: 'path', comparison: '=', value: '/a/*' }], 1],
    [[{ field: 'path', comparison: '=', value: '/b/*' }], 0],
    [[{ field: 'status', comparison: '>=', value: '400' }], 1],
    [[{ field: 'status', comparison: '<', value: '400' }], 0],
    [[{ field: 'status', comparison: '>=', value: '400' }, { field: 'user', comparison: '=', value: 'eve' }], 0],
  ])('the filter %j is applied to an access log', async (where, requests) => {
    const { reading } = await readText(line, { where });
    expect([reading.requests, reading.filtered, reading.skippedLines]).toEqual([requests, 1 - requests, 0]);
  });

it('one request that comes 50 minutes late is no clock that went back', async () => {
  const { reading } = await readText('time\n2026-10-25 02:59:00\n2026-10-25 02:09:00\n2026-10-25 03:00:00\n');
  expect([reading.requests, reading.warnings]).toEqual([3, []]);
});

it('what a format keeps beside requests is not left out by a filter', async () => {
  const rows = ['http_reqs,1431857103,1', 'vus,1431857103,7', 'http_reqs,1431857104,1'].join('\n');
  const { reading } = await readText(`metric_name,timestamp,metric_value\n${rows}\n`);
  expect([reading.format, reading.requests, reading.filtered]).toEqual(['k6-csv', 2, 0]);
});

it('requests are filtered from and to an instant, the end left out', async () => {
  const { heard, reading } = await readText('time\n5\n6\n7\n', { fromMs: 6000, toMs: 7000 });
  expect([heard.map(([ms]) => ms), reading.filtered]).toEqual([[6000], 2]);
});

const time = '"time":"2015-05-17T10:05:03Z"';
// biome-ignore format: one case a line
it.each<[name: string, text: string, keyColumn: string, keys: string[]]>([
    ['a client in an object', `{${time},"client":{"ip":"192.0.2.1","port":1}}`, 'client', ['192.0.2.1']],
    ['a URL in an object', `{${time},"_source":{"url":{"original":"/a?b=1"},"http":{"request":{"method":"GET"}}}}`, 'path', ['/a']],
    ['Akamai DataStream', '{"reqTimeSec":"1431857103.1","cliIP":"192.0.2.1","reqPath":"/a"}', 'path', ['/a']],
    ['its client', '{"reqTimeSec":"1431857103.1","cliIP":"192.0.2.1","reqPath":"/a"}', 'client', ['192.0.2.1']],
    ['Istio, whose last word is a route', '[2015-05-17T10:05:03.310Z] "GET /a?b HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl" "84961386" "httpbin:8000" "10.44.1.27:80" outbound|8000||httpbin 10.44.1.23:37652 10.0.45.184:8000 192.0.2.1:46520 - default', 'path', ['/a']],
    ['a header of Caddy, which is an array', `{${time},"request":{"headers":{"User-Agent":["curl"],"X-Forwarded-For":["192.0.2.7, 10.0.0.1"]}}}`, 'agent', ['curl']],
    ['its forwarded addresses', `{${time},"request":{"headers":{"X-Forwarded-For":["192.0.2.7", "10.0.0.1"]}}}`, 'forwarded:2', ['10.0.0.1']],
    ['a host before the path, as $host$request_uri', `{${time},"requestUrl":"a.example:8080/a.b/c?d"}`, 'path', ['/a.b/c']],
    ['a path with blanks, which the server has decoded', `{${time},"uri":"/a b?c HTTP/1.1"}`, 'path', ['/a b']],
    ["a query with its mark, as Apache's %q", `{${time},"query":"?a=b"}`, 'query', ['a=b']],
    ['Envoy Gateway', '{"start_time":"2015-05-17T10:05:03Z","x-envoy-origin-path":"/a?b"}', 'path', ['/a']],
    ['the host of a request, not the machine of the program', `{${time},"hostname":"web-1","req":{"headers":{"host":"a.example"}}}`, 'host', ['a.example']],
    ["nginx's escapes between names", 'time=2015-05-17T10:05:03Z agent="a \\x22b\\x22 \\"c\\"" status=200', 'agent', ['a \\x22b\\x22 "c"']],
    ['a long request of HAProxy, which syslog has cut', '192.0.2.2:33317 [06/Feb/2009:12:14:14.655] fe be/s1 0/0/0/1/1 200 100 - - ---- 2/2/0/0/0 0/0 "GET /a?b\n192.0.2.2:33317 [06/Feb/2009:12:14:14.655] fe be/s1 0/0/0/1/1 200 100 - - ---- 2/2/0/0/0 0/0 "GET /c', 'path', ['/a', '/c']],
    ['Kong, whose service has a host, too', `{"latencies":{"request":5},"service":{"host":"up"},"request":{"uri":"/a","method":"GET","headers":{"host":"a.example"}},"client_ip":"192.0.2.1","response":{"status":200},"started_at":1431857103000}`, 'host', ['a.example']],
    ['a header in JSON of Traefik', `{"ClientHost":"192.0.2.1","StartUTC":"2015-05-17T10:05:03Z","request_User-Agent":"curl"}`, 'agent', ['curl']],
    ['a host in JSON of Cloudflare', `{"ClientIP":"192.0.2.1","ClientRequestHost":"a.example","EdgeStartTimestamp":"2015-05-17T10:05:03Z"}`, 'host', ['a.example']],
    ['an endpoint beside nothing better', `{${time},"endpoint":"/a"}`, 'path', ['/a']],
    ['URLs beside hosts', '1286536309.450 180 192.0.2.24 TCP_MISS/200 411 GET http://a.example/a?b - DIRECT/192.0.2.1 text/html\n1286536310.450 180 192.0.2.24 TCP_TUNNEL/200 411 CONNECT a.example:443 - DIRECT/192.0.2.1 -', 'path', ['/a', 'a.example:443']],
  ])('an object is not the field that it is called after, and a request line precedes a route: %s', async (_, text, keyColumn, keys) => {
    const { heard } = await readText(`${text}\n`, { keyColumn });
    expect(heard.map(([, , key]) => key)).toEqual(keys);
  });

// biome-ignore format: one case a line
it.each<[name: string, text: string, field: string]>([
    ['objects', `{${time},"message":"started"}\n${`{${time},"status":200}\n`.repeat(2)}`, 'status'],
    ['Caddy', `{"ts":1773480410.1,"msg":"started"}\n${'{"ts":1773480413.8,"request":{"remote_ip":"192.0.2.1"},"status":200}\n'.repeat(2)}`, 'status'],
    ['Azure Front Door', `{${time},"category":"FrontDoorWebApplicationFirewallLog","properties":{"clientIP":"192.0.2.1","action":"Block"}}\n${`{${time},"properties":{"clientIp":"192.0.2.1","httpStatusCode":"200"}}\n`.repeat(2)}`, 'properties.httpStatusCode'],
  ])('lines without the status that others have are said in the log of %s', async (_, text, field) => {
    const { reading } = await readText(text);
    expect(reading.warnings.map(({ code, what }) => `${code}: ${what}`)).toEqual([
      `no_status: 1 of the first 3 lines have no ${field}, and count as requests. To leave them out: --where '${field}>0'.`,
    ]);
    const where = [{ field, comparison: '>', value: '0' } as const];
    expect((await readText(text, { where })).reading).toMatchObject({ requests: 2, warnings: [] });
  });

it('requests without a key are said to share one', async () => {
  const line = (forwarded: string) =>
    `[2016-04-15T20:17:00.310Z] "GET /a HTTP/2" 204 - 154 0 226 100 "${forwarded}" "nsq2http" "cc21d9b0" "a" "tcp://10.0.2.1:80"\n`;
  const { reading } = await readText(line('-') + line('192.0.2.28') + line('-'), { keyColumn: 'client' });
  expect(summaryOf([reading], 2, undefined).warnings).toEqual([
    { code: 'no_key', what: 'Requests without a key share one limiter, that of the key -: 2 of 3.' },
  ]);
});

// biome-ignore format: one case a line
it.each<[name: string, text: string, options: LogOptions, columns: readonly string[]]>([
    ['a number beside the time', 'timestamp,value\n1773480000,7\n1773480060,9\n', {}, ['value']],
    ['the same, named', 'timestamp,value\n1773480000,7\n1773480060,9\n', { countColumn: 'value' }, []],
    ['the same, for none', 'timestamp,value\n1773480000,7\n1773480060,9\n', { countColumn: false }, []],
    ['several', 'Time,GET,POST\n1773480000,7,3\n1773480060,9,1\n', {}, ['GET']],
    ['a status', 'time,status\n1773480000,200\n1773480060,404\n', {}, []],
    ['numbers of rows', 'time,id\n1773480000,1\n1773480060,2\n', {}, []],
    ['tokens', 'time,tokens\n1773480000,700\n1773480060,90\n', { cost: { unit: 'tokens' } }, []],
    ['a client, too', 'time,client,bytes\n1773480000,192.0.2.1,7\n1773480060,192.0.2.1,90\n', {}, []],
  ])('only a column that may hold numbers of requests is said not to be read as one: %s', async (_, text, options, columns) => {
    const { reading } = await readText(text, options);
    expect(reading.warnings.map(({ what }) => what)).toEqual(
      columns.map(
        (name) =>
          `Each row counts as one request: column ${name} is not read as a number of requests. If it is one, name it with --count.`,
      ),
    );
  });
