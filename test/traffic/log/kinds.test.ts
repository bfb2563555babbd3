// Logs as people have them: a few lines of each kind, how they are recognised, and the requests in them.
import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../src/traffic/log/log-options.js';
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

describe('an envelope is taken off', () => {
  it.each<[name: string, kind: string, text: string]>([
    ['RFC 3164', 'combined in syslog', each((s) => `<34>May 17 10:05:0${s} web1 nginx[14389]: `)],
    ['RFC 3164 in a file', 'combined in syslog', each((s) => `May 17 10:05:0${s} web1 nginx: `)],
    ['RFC 3164 without a host', 'combined in syslog', each((s) => `<190>May  7 10:05:0${s} nginx: `)],
    ['ISO times', 'combined in syslog', each((s) => `2015-05-17T10:05:0${s}.123456+00:00 web1 nginx[7]: `)],
    ['RFC 5424', 'combined in syslog', each((s) => `<13>1 2015-05-17T10:05:0${s}.123Z web1 nginx 7 - - `)],
    [
      'RFC 5424 with data',
      'combined in syslog',
      each((s) => `<13>1 2015-05-17T10:05:0${s}Z web1 nginx 7 ID [a@1 b="c \\"]"][x y="z"] `),
    ],
    ['docker compose', 'combined in docker compose', each(() => 'web-1  | ')],
    ['docker compose in colour', 'combined in docker compose', each(() => '\u001b[36mweb-1  |\u001b[0m ')],
    [
      'docker compose with times',
      'combined in timestamps in docker compose',
      each((s) => `web-1  | 2015-05-17T10:05:0${s}.123456789Z `),
    ],
    ['docker logs -t', 'combined in timestamps', each((s) => `2015-05-17T10:05:0${s}.123456789Z `)],
    ['CRI', 'combined in CRI', each((s) => `2015-05-17T10:05:0${s}.669794202Z stdout F `)],
    ['kubectl --prefix', 'combined in kubectl', each(() => '[pod/web-7c5/nginx] ')],
    ['journalctl', 'combined in syslog', each((s) => `May 17 10:05:0${s} host nginx[123]: `)],
    ['journalctl short-precise', 'combined in syslog', each((s) => `May 17 10:05:0${s}.123456 host nginx[123]: `)],
    ['journalctl short-unix', 'combined in syslog', each((s) => `143185710${s}.123456 host nginx[123]: `)],
    ['journalctl short-full', 'combined in syslog', each((s) => `Sun 2015-05-17 10:05:0${s} UTC host nginx[123]: `)],
    [
      'docker json-file',
      'combined in json',
      two
        .map((log, i) => `${JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: `2020-01-01T00:00:0${i}Z` })}\n`)
        .join(''),
    ],
    [
      'journalctl -o json',
      'combined in json',
      two.map((MESSAGE) => `${JSON.stringify({ __REALTIME_TIMESTAMP: '1431857103000000', MESSAGE })}\n`).join(''),
    ],
  ])('%s', async (_, kind, text) => {
    expect(await summary(text, client)).toEqual({ kind, ...plainTwo });
  });

  it('joins the parts of a line that CRI has cut', async () => {
    const [first] = two;
    const text = [
      `2015-05-17T10:05:03Z stdout P ${first.slice(0, 30)}`,
      `2015-05-17T10:05:03Z stdout F ${first.slice(30)}`,
      `2015-05-17T10:05:04Z stdout F ${two[1]}`,
    ].join('\n');
    expect(await summary(text, client)).toEqual({ kind: 'combined in CRI', ...plainTwo });
  });

  it('within it also JSON, and words that get their time from it', async () => {
    const json = '2015-05-17T10:05:03Z stdout F {"time":"2015-05-17T10:05:03Z","remote_addr":"192.0.2.1"}\n';
    const router =
      '2015-05-17T10:05:03.1+00:00 heroku[router]: at=info method=GET path="/a" host=app.example fwd="192.0.2.1, 192.0.2.9"\n';
    expect([await summary(json, client), await summary(router, client)]).toEqual([
      { kind: 'ndjson in CRI', first: '2015-05-17T10:05:03.000Z', requests: ['0 1 192.0.2.1'], skipped: 0 },
      { kind: 'logfmt in timestamps', first: '2015-05-17T10:05:03.100Z', requests: ['0 1 192.0.2.1'], skipped: 0 },
    ]);
  });
});

const alb = (ip: string, second: number) =>
  `https 2018-07-02T22:23:0${second}.186641Z app/lb/50dc6c495c0c9188 ${ip}:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://example.com:443/ HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn:aws:x "Root=1-58" "www.example.com" "arn" 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-"`;
const iis = '#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2018-07-02 00:00:00\n';
const iisFields = '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip sc-status\n';

describe('a kind of log', () => {
  it.each<[name: string, kind: string, text: string, first: string, requests: string[], options?: LogOptions]>([
    [
      'ALB',
      'alb',
      `${alb('192.0.2.1', 3)}\n${alb('192.0.2.2', 4)}\n`,
      '2018-07-02T22:23:03.186Z',
      ['0 1 192.0.2.1', '1 1 192.0.2.2'],
    ],
    ['ALB over IPv6', 'alb', `${alb('[2001:db8::1]', 3)}\n`, '2018-07-02T22:23:03.186Z', ['0 1 2001:db8::1']],
    [
      'ELB',
      'elb',
      '2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -\n',
      '2015-05-13T23:39:43.945Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'NLB',
      'nlb',
      'tls 2.0 2018-12-20T02:59:40 net/lb/c6e77e28c25b2234 g3d4b5e8bb8464cd 192.0.2.1:51341 10.0.0.1:443 5 2 98 246 - arn:aws:acm:us-east-2:671290407336:certificate/2a108f19 - ECDHE-RSA-AES128-SHA tlsv12 - lb.example.com - - -\n',
      '2018-12-20T02:59:40.000Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'CloudFront',
      'w3c',
      '#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status\n2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.1\tGET\td111.cloudfront.net\t/index.html\t200\n',
      '2019-12-04T21:02:31.000Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'IIS, whose fields change',
      'w3c',
      `${iis}${iisFields}2018-07-02 00:00:03 10.0.0.1 GET /a - 80 - 192.0.2.1 200\n${iis}#Fields: date time c-ip cs-method\n2018-07-02 00:00:05 192.0.2.2 GET\n`,
      '2018-07-02T00:00:03.000Z',
      ['0 1 192.0.2.1', '2 1 192.0.2.2'],
    ],
    [
      'Zeek',
      'zeek',
      '#separator \\x09\n#set_separator\t,\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\n#types\ttime\tstring\taddr\tport\taddr\n1431857103.123456\tCXWv6p3\t192.0.2.1\t4711\t192.0.2.9\n#close\t2015-05-17-10-05-09\n',
      '2015-05-17T10:05:03.123Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'S3',
      's3',
      '79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be awsexamplebucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e5 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /awsexamplebucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9 SigV4 ECDHE AuthHeader host TLSV1.2 - -\n',
      '2019-02-06T00:00:38.000Z',
      ['0 1 192.0.2.3'],
    ],
    [
      'Envoy, by forwarded address',
      'envoy',
      '[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "192.0.2.28, 10.0.0.1" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"\n',
      '2016-04-15T20:17:00.310Z',
      ['0 1 192.0.2.28'],
    ],
    [
      'Istio',
      'istio',
      '[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 192.0.2.23:37652 outbound_.8000_._.httpbin.foo.svc.cluster.local default\n',
      '2020-11-25T21:26:18.409Z',
      ['0 1 192.0.2.23'],
    ],
    [
      'HAProxy over syslog',
      'haproxy in syslog',
      'Feb  6 12:14:14 localhost haproxy[14389]: 192.0.2.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"\n',
      '2009-02-06T12:14:14.655Z',
      ['0 1 192.0.2.2'],
    ],
    [
      'HAProxy over IPv6',
      'haproxy',
      '2001:db8::7:33317 [06/Feb/2009:12:14:14.655] http-in~ static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /index.html HTTP/1.1"\n',
      '2009-02-06T12:14:14.655Z',
      ['0 1 2001:db8::7'],
    ],
    [
      'HAProxy of TCP',
      'haproxy-tcp',
      '192.0.2.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0\n',
      '2009-02-06T12:12:51.443Z',
      ['0 1 192.0.2.2'],
    ],
    [
      'Squid',
      'squid',
      '1286536309.450    180 192.0.2.224 TCP_MISS/200 411 GET http://www.example.com/ - DIRECT/192.0.2.1 text/html\n',
      '2010-10-08T11:11:49.450Z',
      ['0 1 192.0.2.224'],
    ],
    [
      'Traefik JSON',
      'ndjson',
      '{"ClientAddr":"192.0.2.1:51341","ClientHost":"192.0.2.1","Duration":135,"StartUTC":"2018-07-02T22:23:00.5Z","RequestPath":"/a","level":"info","time":"2018-07-02T22:23:01Z"}\n',
      '2018-07-02T22:23:00.500Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'Traefik JSON, by its address with a port',
      'ndjson',
      '{"ClientAddr":"[2001:db8::1]:51341","time":"2018-07-02T22:23:01Z"}\n{"ClientAddr":"192.0.2.1:7","time":"2018-07-02T22:23:01Z"}\n',
      '2018-07-02T22:23:01.000Z',
      ['0 1 2001:db8::1', '0 1 192.0.2.1'],
      { keyColumn: 'ClientAddr' },
    ],
    [
      'Caddy JSON',
      'ndjson',
      '{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","request":{"remote_ip":"192.0.2.1","remote_port":"41342","method":"GET","uri":"/a?b"},"duration":0.001}\n',
      '2022-03-09T21:30:01.524Z',
      ['0 1 192.0.2.1'],
    ],
    [
      'MongoDB JSON',
      'ndjson',
      '{"t":{"$date":"2020-05-18T20:18:12.724+00:00"},"s":"I","c":"NETWORK","msg":"Connection accepted","attr":{"remote":"192.0.2.1:33317"}}\n',
      '2020-05-18T20:18:12.724Z',
      ['0 1 192.0.2.1'],
      { keyColumn: 'attr.remote' },
    ],
    [
      'an array of JSON objects',
      'json',
      '[\n {"time": 1431857103, "ip": "192.0.2.1"},\n {"time": 1431857105, "ip": "192.0.2.2"}\n]\n',
      '2015-05-17T10:05:03.000Z',
      ['0 1 192.0.2.1', '2 1 192.0.2.2'],
    ],
    [
      'CloudTrail',
      'json',
      '{"Records":[{"eventVersion":"1.0","eventTime":"2014-03-06T21:22:54Z","sourceIPAddress":"192.0.2.64"}]}',
      '2014-03-06T21:22:54.000Z',
      ['0 1 192.0.2.64'],
    ],
    [
      'k6 CSV',
      'k6-csv',
      'metric_name,timestamp,metric_value,check,error,method,name,status\nhttp_reqs,1684317903,1.000000,,,GET,http://a/,200\nhttp_req_duration,1684317903,12.300000,,,GET,http://a/,200\nvus,1684317903,1.000000,,,,,\nhttp_reqs,1684317904,1.000000,,,GET,http://b/,200\n',
      '2023-05-17T10:05:03.000Z',
      ['0 1 http://a/', '1 1 http://b/'],
      { keyColumn: 'name' },
    ],
    [
      'k6 JSON',
      'k6-json',
      '{"type":"Metric","data":{"name":"http_reqs","type":"counter"},"metric":"http_reqs"}\n{"metric":"http_reqs","type":"Point","data":{"time":"2023-05-17T10:05:03.5+02:00","value":1,"tags":{"method":"GET"}}}\n{"metric":"http_req_duration","type":"Point","data":{"time":"2023-05-17T10:05:03.5+02:00","value":17.2,"tags":{}}}\n',
      '2023-05-17T08:05:03.500Z',
      ['0 1 GET'],
      { keyColumn: 'method' },
    ],
    [
      'Locust history',
      'locust',
      'Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,Total Request Count,Total Failure Count\n1684317903,1,GET,/a,0.0,0.0,5,3,0\n1684317903,1,,Aggregated,0.0,0.0,5,3,0\n1684317904,1,GET,/a,3.0,0.0,5,7,0\n1684317904,1,GET,/b,3.0,0.0,5,1,0\n1684317904,1,,Aggregated,3.0,0.0,5,8,0\n',
      '2023-05-17T10:05:03.000Z',
      ['0 3 ', '1 5 '],
      {},
    ],
    [
      'Locust history, by name',
      'locust',
      'Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,Total Request Count,Total Failure Count\n1684317903,1,GET,/a,0.0,0.0,5,3,0\n1684317903,1,,Aggregated,0.0,0.0,5,3,0\n1684317904,1,GET,/a,3.0,0.0,5,7,0\n1684317904,1,GET,/b,3.0,0.0,5,1,0\n1684317904,1,,Aggregated,3.0,0.0,5,8,0\n',
      '2023-05-17T10:05:03.000Z',
      ['0 3 /a', '1 4 /a', '1 1 /b'],
      { keyColumn: 'Name' },
    ],
    [
      'vegeta CSV',
      'vegeta',
      '1684317903123456789,200,1234567,0,5,,aGVsbG8=,,0,GET,http://localhost:8080/,\n1684317904123456789,429,1234567,0,5,429 Too Many Requests,aGVsbG8=,,1,GET,http://localhost:8080/b,\n',
      '2023-05-17T10:05:03.123Z',
      ['0 1 /', '1 1 /b'],
      { keyColumn: 'path' },
    ],
    [
      'Gatling',
      'gatling',
      'RUN\tsim.Basic\tbasic\t1684317902000\t \t3.9.0\nUSER\tscn\tSTART\t1684317903000\nREQUEST\t\thome\t1684317903123\t1684317903456\tOK\t \nREQUEST\t\tcart\t1684317904123\t1684317904456\tKO\tstatus 429\nUSER\tscn\tEND\t1684317905000\n',
      '2023-05-17T10:05:03.123Z',
      ['0 1 home', '1 1 cart'],
      { keyColumn: 'name' },
    ],
    [
      'JMeter CSV',
      'csv',
      'timeStamp,elapsed,label,responseCode,threadName,success,bytes,grpThreads,allThreads,URL,Latency,Connect\n1684317903123,12,home,200,tg 1-1,true,512,1,1,http://a/,11,2\n',
      '2023-05-17T10:05:03.123Z',
      ['0 1 home'],
      { keyColumn: 'label' },
    ],
    [
      'nginx JSON with $msec',
      'ndjson',
      '{"msec":"1700000000.232","remote_addr":"192.0.2.1","request_time":"0.003","status":"200"}\n{"msec":"1700000001.732","remote_addr":"192.0.2.2","request_time":"0.003","status":"200"}\n',
      '2023-11-14T22:13:20.232Z',
      ['0 1 192.0.2.1', '1.5 1 192.0.2.2'],
    ],
    [
      'a table without names',
      'csv',
      '2015-05-17 10:05:03,192.0.2.1,GET,/a\n2015-05-17 10:05:04,192.0.2.2,GET,/b\n',
      '2015-05-17T10:05:03.000Z',
      ['0 1 192.0.2.1', '1 1 192.0.2.2'],
    ],
    [
      'times and counts without names',
      'csv',
      '1431857103,12\n1431857104,7\n',
      '2015-05-17T10:05:03.000Z',
      ['0 12 ', '1 7 '],
      {},
    ],
    [
      'auth.log',
      'syslog',
      'May 17 10:05:03 web1 sshd[4711]: Failed password for invalid user admin from 192.0.2.1 port 54321 ssh2\nMay 17 10:05:05 web1 sshd[4712]: Accepted publickey for root from 2001:db8::1 port 22 ssh2\nMay 17 10:05:09 web1 CRON[4713]: pam_unix(cron:session): session opened for user root by (uid=0)\n',
      '2025-05-17T10:05:03.000Z',
      ['0 1 192.0.2.1', '2 1 2001:db8::1', '6 1 -'],
    ],
    [
      'auth.log, by user, of one program',
      'syslog',
      'May 17 10:05:03 web1 sshd[4711]: Failed password for invalid user admin from 192.0.2.1 port 54321 ssh2\nMay 17 10:05:09 web1 CRON[4713]: pam_unix(cron:session): session opened for user root by (uid=0)\n',
      '2025-05-17T10:05:03.000Z',
      ['0 1 admin'],
      { ...client, keyColumn: 'user', where: [{ field: 'program', comparison: '=', value: 'sshd' }] },
    ],
    [
      "nginx's error log",
      'lines',
      '2015/05/17 10:05:03 [error] 7#7: *1 open() "/a" failed (2: No such file), client: 192.0.2.1, server: example.org, request: "GET /a HTTP/1.1"\n',
      '2015-05-17T10:05:03.000Z',
      ['0 1 192.0.2.1'],
    ],
    [
      "Apache's error log",
      'lines',
      '[Sun May 17 10:05:03.123456 2015] [core:error] [pid 7:tid 9] [client 192.0.2.1:4711] File does not exist: /a\n',
      '2015-05-17T10:05:03.123Z',
      ['0 1 192.0.2.1'],
    ],
    ['times alone', 'lines', '1431857103\n1431857105\n', '2015-05-17T10:05:03.000Z', ['0 1 ', '2 1 '], {}],
    [
      'ISO times alone',
      'lines',
      '2015-05-17T10:05:03Z\n2015-05-17T10:05:05Z\n',
      '2015-05-17T10:05:03.000Z',
      ['0 1 ', '2 1 '],
      {},
    ],
    [
      'what uniq -c prints',
      'lines',
      '     12 2015-05-17T10:05:03\n      7 2015-05-17T10:05:04\n',
      '2015-05-17T10:05:03.000Z',
      ['0 12 ', '1 7 '],
      {},
    ],
    ['counts a line', 'counts', '12\n0\n15\n', '1970-01-01T00:00:00.000Z', ['0 12 ', '2 15 '], {}],
    ['counts a line under a name', 'counts', 'requests\n12\n15\n', '1970-01-01T00:00:00.000Z', ['0 12 ', '1 15 '], {}],
    [
      'counts a line, each of a minute',
      'counts',
      '12\n15\n',
      '1970-01-01T00:00:00.000Z',
      ['0 12 ', '60 15 '],
      { spreadMs: 60_000 },
    ],
    [
      'logfmt',
      'logfmt',
      'time=2015-05-17T10:05:03Z level=info msg="got it" client=192.0.2.1 status=200\n',
      '2015-05-17T10:05:03.000Z',
      ['0 1 192.0.2.1'],
    ],
  ])('%s', async (_, kind, text, first, requests, options = client) => {
    expect(await summary(text, options)).toEqual({ kind, first, requests, skipped: 0 });
  });

  it.each<[string, Buffer]>([
    ['with a mark', Buffer.from('\ufefftime,n\r\n1431857103,2\r\n', 'utf16le')],
    ['without one', Buffer.from('time,n\r\n1431857103,2\r\n', 'utf16le')],
    ['big-endian', Buffer.from('\ufefftime,n\r\n1431857103,2\r\n', 'utf16le').swap16()],
  ])('UTF-16 %s, cut anywhere', async (_, bytes) => {
    const whole = { kind: 'csv', first: '2015-05-17T10:05:03.000Z', requests: ['0 2 '], skipped: 0 };
    expect(await summary([bytes], {})).toEqual(whole);
    expect(
      await summary(
        Array.from(bytes, (byte) => Buffer.of(byte)),
        {},
      ),
    ).toEqual(whole);
  });
});

describe('times', () => {
  it.each<[name: string, text: string, from: string, instants: string[]]>([
    [
      's, ms, us and ns in one column',
      'ts\n1700000000\n1700000001500\n1700000002000000\n1700000003000000000\n',
      'column ts (unix s)',
      ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.500Z', '2023-11-14T22:13:22.000Z', '2023-11-14T22:13:23.000Z'],
    ],
    [
      'a small `time` beside an epoch `ts`',
      'time,ts\n0.25,1700000000\n0.31,1700000001\n',
      'column ts (unix s)',
      ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.000Z'],
    ],
    [
      'FILETIME',
      'timestamp,x\n133444736000000000,1\n133444736015000000,1\n',
      'column timestamp (filetime)',
      ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.500Z'],
    ],
    ['WebKit', 'time,x\n13344473600000000,1\n', 'column time (webkit)', ['2023-11-14T22:13:20.000Z']],
    ['.NET ticks', 'time,x\n638355968000000000,1\n', 'column time (ticks)', ['2023-11-14T22:13:20.000Z']],
    [
      'serials of a spreadsheet',
      'time,x\n45244.925925925927,1\n45244.92594,2\n',
      'column time (spreadsheet days)',
      ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:21.216Z'],
    ],
    [
      'days of a spreadsheet',
      'date,requests\n45244,100\n45245,120\n',
      'column date (spreadsheet days)',
      ['2023-11-14T00:00:00.000Z', '2023-11-15T00:00:00.000Z'],
    ],
    [
      'a date and a clock time',
      'date,time,x\n2015-05-17,10:05:03.5,1\n',
      'columns date and time (date and time)',
      ['2015-05-17T10:05:03.500Z'],
    ],
    [
      'month first',
      'when,x\n5/17/2015 10:05,1\n6/1/2015 1:05:03 PM,1\n',
      'column when (date and time)',
      ['2015-05-17T10:05:00.000Z', '2015-06-01T13:05:03.000Z'],
    ],
    [
      'day first',
      'when,x\n17/05/2015 10:05:03,1\n01/06/2015 10:05:03,1\n',
      'column when (date and time)',
      ['2015-05-17T10:05:03.000Z', '2015-06-01T10:05:03.000Z'],
    ],
    ['dots', 'when;x\n01.06.2015 10:05:03;1\n', 'column when (date and time)', ['2015-06-01T10:05:03.000Z']],
    [
      'as in a mail',
      'time;x\n"Sun, 17 May 2015 10:05:03 +0200";1\n',
      'column time (date and time)',
      ['2015-05-17T08:05:03.000Z'],
    ],
    [
      'an unknown name',
      'seen,url\n2015-05-17 10:05:03,/a\n',
      'column seen (date and time)',
      ['2015-05-17T10:05:03.000Z'],
    ],
  ])('%s', async (_, text, from, instants) => {
    const { heard, reading } = await readText(text);
    expect([reading.timeFrom, heard.map(([ms]) => new Date(ms).toISOString())]).toEqual([from, instants]);
  });

  it('without a year go on into the next one', async () => {
    const line = (when: string) => `${when} web1 app[7]: hello`;
    const text = ['Dec 31 23:59:59', 'Jan  1 00:00:01', 'Dec 31 23:59:58', 'Jan  2 00:00:00'].map(line).join('\n');
    const { heard } = await readText(text, { nowMs: at('2026-01-15T00:00:00Z') });
    expect(heard.map(([ms]) => new Date(ms).toISOString().slice(0, 10))).toEqual([
      '2025-12-31',
      '2026-01-01',
      '2025-12-31',
      '2026-01-02',
    ]);
  });
});

describe('--log-format', () => {
  it.each<[name: string, format: string, text: string, key: string, keys: string[]]>([
    [
      "nginx's",
      '$remote_addr - $remote_user [$time_local] "$request" $status',
      '192.0.2.1 - frank [17/May/2015:10:05:03 +0000] "GET /a?b HTTP/1.1" 200\n',
      'user',
      ['frank'],
    ],
    [
      'nginx with $msec and no brackets',
      '$msec|$http_x_forwarded_for|$request_method $uri|$status',
      '1431857103.232|192.0.2.1, 10.0.0.1|GET /a|200\n',
      'forwarded',
      ['192.0.2.1'],
    ],
    [
      'the whole directive',
      "log_format main '$remote_addr $host [$time_iso8601] '\n  '\"$request\" $status';",
      '192.0.2.1 example.org [2015-05-17T10:05:03+00:00] "GET /a HTTP/1.1" 200\n',
      'path',
      ['/a'],
    ],
    [
      "Apache's",
      '%h %l %u %t "%r" %>s %b "%{X-Forwarded-For}i" %D',
      '192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "192.0.2.7" 123\n',
      'forwarded',
      ['192.0.2.7'],
    ],
    [
      'a LogFormat line',
      'LogFormat "%v:%p %a %{%Y-%m-%d %H:%M:%S}t \\"%r\\"" vhost',
      'example.org:80 192.0.2.1 2015-05-17 10:05:03 "GET /a HTTP/1.1"\n',
      'host',
      ['example.org'],
    ],
    [
      'within syslog',
      '$remote_addr [$time_local] "$request"',
      'May 17 10:05:03 web1 nginx: 192.0.2.1 [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1"\n',
      'client',
      ['192.0.2.1'],
    ],
  ])('%s', async (_, format, text, keyColumn, keys) => {
    const { heard, skipped } = await readText(text, { format, keyColumn });
    expect([heard.map(([, , key]) => key), skipped, Math.floor(heard[0]![0] / 1000)]).toEqual([
      keys,
      [],
      1_431_857_103,
    ]);
  });

  it('counts lines of another kind', async () => {
    const { heard, skipped } = await readText('192.0.2.1 [17/May/2015:10:05:03 +0000] "x"\nstarted\n', {
      format: '$remote_addr [$time_local] "$request"',
    });
    expect([heard.length, skipped]).toEqual([1, ['2: not a line of the format log-format']]);
  });
});

describe('keys and filters are found in any format', () => {
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
  ])('%s', async (keyColumn, key) => {
    expect((await readText(line, { keyColumn })).heard.map(([, , one]) => one)).toEqual([key]);
  });

  it.each<[LogOptions['where'], number]>([
    [[{ field: 'method', comparison: '=', value: 'POST' }], 1],
    [[{ field: 'method', comparison: '!=', value: 'POST' }], 0],
    [[{ field: 'path', comparison: '=', value: '/a/*' }], 1],
    [[{ field: 'path', comparison: '=', value: '/b/*' }], 0],
    [[{ field: 'status', comparison: '>=', value: '400' }], 1],
    [[{ field: 'status', comparison: '<', value: '400' }], 0],
    [
      [
        { field: 'status', comparison: '>=', value: '400' },
        { field: 'user', comparison: '=', value: 'eve' },
      ],
      0,
    ],
  ])('%j', async (where, requests) => {
    const { reading } = await readText(line, { where });
    expect([reading.requests, reading.filtered, reading.skippedLines]).toEqual([requests, 1 - requests, 0]);
  });

  it('from and to an instant, the end left out', async () => {
    const { heard, reading } = await readText('time\n5\n6\n7\n', { fromMs: 6000, toMs: 7000 });
    expect([heard.map(([ms]) => ms), reading.filtered]).toEqual([[6000], 2]);
  });
});

it('the time of the envelope is read where it is asked for', async () => {
  const line = '2015-05-17T10:05:04Z 192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 12\n';
  const { heard } = await readText(line.repeat(2), { timeColumn: 'log_time' });
  expect(heard.map(([unixMs]) => unixMs)).toEqual(Array(2).fill(Date.UTC(2015, 4, 17, 10, 5, 4)));
});
