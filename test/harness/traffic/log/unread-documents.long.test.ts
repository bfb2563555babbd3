// Log documents that are not read: they are refused, and what the refusal proposes makes a log of them (skipped where jq is not installed).
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readBytes } from '../../../../src/harness/traffic/log/read-bytes.js';
import { isInstalled } from '../../live/real-servers.js';
import { readText } from './reading.js';

interface Unread {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly options?: LogOptions;
  /** ISO time, number, client, path, status. */
  readonly requests: readonly string[];
}

const line = (ip: string, time: string, path: string, status: number) =>
  `${ip} - - [17/May/2015:${time} +0000] "GET ${path}?a=b HTTP/1.1" ${status} 12 "-" "curl/7"`;
const text = (value: string) => ({ stringValue: value });
const record = (more: object, ip: string, path: string, status: string) => ({
  observedTimeUnixNano: '1431857200000000000',
  severityText: 'INFO',
  attributes: [
    { key: 'client.address', value: text(ip) },
    { key: 'url.path', value: text(path) },
    { key: 'http.response.status_code', value: { intValue: status } },
  ],
  ...more,
});
const otlp = (logRecords: readonly object[], more: object = {}) =>
  JSON.stringify({ resourceLogs: [{ ...more, scopeLogs: [{ scope: { name: 'http' }, logRecords }] }] });
const loki = (stream: object, values: readonly (readonly unknown[])[]) => ({
  status: 'success',
  data: { resultType: 'streams', result: [{ stream, values }], stats: {} },
});
const matrix = (...result: readonly { metric: object; values: readonly (readonly [number, string])[] }[]) =>
  JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });

const unread: readonly Unread[] = [
  {
    name: 'OTLP, as the file exporter of a collector writes it',
    title: 'an OTLP document of OpenTelemetry',
    text: [
      otlp(
        [
          record({ timeUnixNano: '1431857103123456789', body: text('request') }, '192.0.2.1', '/a', '200'),
          record({ timeUnixNano: '0' }, '192.0.2.2', '/b', '429'),
        ],
        { resource: { attributes: [{ key: 'service.name', value: text('shop') }] } },
      ),
      otlp([record({ body: text('request') }, '2001:db8::1', '/c', '500')]),
    ].join('\n'),
    requests: [
      '2015-05-17T10:05:03.123Z 1 192.0.2.1 /a 200',
      '2015-05-17T10:06:40.000Z 1 192.0.2.2 /b 429',
      '2015-05-17T10:06:40.000Z 1 2001:db8::1 /c 500',
    ],
  },
  {
    name: 'OTLP over many lines, with objects as bodies',
    title: 'an OTLP document of OpenTelemetry',
    text: JSON.stringify(
      JSON.parse(
        otlp([
          {
            timeUnixNano: '1431857103123456789',
            body: {
              kvlistValue: {
                values: [
                  { key: 'client_ip', value: text('192.0.2.1') },
                  { key: 'request', value: { kvlistValue: { values: [{ key: 'path', value: text('/a') }] } } },
                  { key: 'status', value: { intValue: '200' } },
                ],
              },
            },
          },
        ]),
      ),
      null,
      2,
    ),
    requests: ['2015-05-17T10:05:03.123Z 1 192.0.2.1 /a 200'],
  },
  {
    name: 'OTLP with the lines of an access log',
    title: 'an OTLP document of OpenTelemetry',
    text: otlp([
      { timeUnixNano: '1544712660300000000', body: text(line('192.0.2.1', '10:05:03', '/a', 200)) },
      { timeUnixNano: '1544712660400000000', body: text(line('192.0.2.2', '10:05:04', '/b', 404)) },
    ]),
    requests: ['2015-05-17T10:05:03.000Z 1 192.0.2.1 /a 200', '2015-05-17T10:05:04.000Z 1 192.0.2.2 /b 404'],
  },
  {
    name: 'Loki with the lines of an access log, the latest first',
    title: 'a document of Loki',
    text: JSON.stringify(
      loki({ job: 'nginx', filename: '/var/log/nginx/access.log' }, [
        ['1431857104500000000', line('192.0.2.2', '10:05:04', '/b', 429)],
        ['1431857103500000000', line('192.0.2.1', '10:05:03', '/a', 200)],
      ]),
    ),
    requests: ['2015-05-17T10:05:04.000Z 1 192.0.2.2 /b 429', '2015-05-17T10:05:03.000Z 1 192.0.2.1 /a 200'],
  },
  {
    name: 'Loki with JSON lines without a time, as they are pushed',
    title: 'a document of Loki',
    text: JSON.stringify({
      streams: [
        {
          stream: { app: 'shop' },
          values: [['1431857103240578000', '{"client_ip":"192.0.2.1","path":"/a","status":200}', { trace_id: '1' }]],
        },
        {
          stream: { app: 'cart' },
          values: [['1431857103500579000', '{"client_ip":"192.0.2.2","path":"/b","status":429}']],
        },
      ],
    }),
    requests: ['2015-05-17T10:05:03.240Z 1 192.0.2.1 /a 200', '2015-05-17T10:05:03.500Z 1 192.0.2.2 /b 429'],
  },
  {
    name: 'Loki with logfmt, over many lines',
    title: 'a document of Loki',
    text: JSON.stringify(
      loki({ job: 'shop' }, [
        ['1431857103839000000', 'level=info method=GET path=/a status=200 client=192.0.2.1'],
        ['1431857104839000000', 'level=info method=GET path=/b status=429 client=192.0.2.2'],
      ]),
      null,
      2,
    ),
    requests: ['2015-05-17T10:05:03.839Z 1 192.0.2.1 /a 200', '2015-05-17T10:05:04.839Z 1 192.0.2.2 /b 429'],
  },
  {
    name: 'counters of Prometheus, one of which starts again',
    title: 'a query_range document of Prometheus',
    text: matrix(
      {
        metric: { __name__: 'http_requests_total', client: 'a', path: '/a', status: '200' },
        values: [
          [1431857100.781, '100'],
          [1431857115.781, '130'],
          [1431857130.781, '20'],
        ],
      },
      {
        metric: { __name__: 'http_requests_total', client: 'b', path: '/b', status: '429' },
        values: [
          [1431857100.781, '0'],
          [1431857115.781, '7'],
        ],
      },
    ),
    options: { spreadMs: 15_000 },
    requests: [
      '2015-05-17T10:05:00.781Z 30 a /a 200',
      '2015-05-17T10:05:15.781Z 20 a /a 200',
      '2015-05-17T10:05:00.781Z 7 b /b 429',
    ],
  },
  {
    name: 'increase() of Prometheus over the step',
    title: 'a query_range document of Prometheus',
    text: matrix({
      metric: { client: 'c', path: '/a', status: '200' },
      values: [
        [1431857100, '17'],
        [1431857115, '29.98'],
        [1431857130, '0'],
        [1431857145, '20.01'],
      ],
    }),
    requests: ['2015-05-17T10:05:00.000Z 30 c /a 200', '2015-05-17T10:05:30.000Z 20 c /a 200'],
  },
];

async function refusalOf(text: string): Promise<{ code: string; what: string; why: string; fix: string }> {
  try {
    await readText(text);
  } catch (error) {
    return error as Awaited<ReturnType<typeof refusalOf>>;
  }
  throw new Error('it was read');
}

async function requestsIn(text: string, options: LogOptions): Promise<string[]> {
  const requests: string[] = [];
  let also: readonly string[] = [];
  const sink = {
    also: (texts: readonly string[]) => {
      also = [...texts];
    },
    request: (unixMs: number, n: number, key: string) => {
      requests.push([new Date(unixMs).toISOString(), n, key, ...also].join(' '));
    },
  };
  await readBytes(
    [Buffer.from(text)],
    'log',
    { ...options, keyColumn: 'client', alsoColumns: ['path', 'status'] },
    sink,
  );
  return requests;
}

describe.each(unread)('$name', ({ title, text, options = {}, requests }) => {
  it('the document is refused, with how jq makes one object a line of it', async () => {
    expect(await refusalOf(text)).toMatchObject({
      code: 'unknown_format',
      what: `log is ${title}, which is not read.`,
      why: 'JSON is read as one object a line, as an array of objects, or as HAR.',
      fix: expect.stringMatching(/^Make it one object a line with `jq -c '[^'`]+'`\./),
    });
  });

  it.skipIf(!isInstalled('jq'))('the document is read as jq makes it (needs jq)', async () => {
    const command = /`(jq -c '[^'`]+')`/.exec((await refusalOf(text)).fix)![1]!;
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { input: text, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(await requestsIn(stdout, options)).toEqual(requests);
  });
});

it.each(['otlp', 'loki', 'prometheus'])('--log-format %s is refused with the same advice', async (format) => {
  await expect(readText('{"time":5}\n', { format })).rejects.toMatchObject({
    code: 'unknown_format',
    fix: expect.stringContaining('jq -c'),
  });
});

it('a document of Prometheus is refused with what its values have to be', async () => {
  expect((await refusalOf(unread.at(-1)!.text)).fix).toMatch(
    /Its values are to be those of a counter, or of increase\(\) over the step\. .+ --count requests\/15s\.$/,
  );
});
