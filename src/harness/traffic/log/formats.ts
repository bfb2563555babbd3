// The table of formats: name, moment of a request, precision, writer, fields. Other logs are read by usual column names (columns.ts).
import { clf } from './clf.js';
import { counts } from './counts.js';
import { chosenTable, directives, gatling, tableOf, tableWith } from './delimited.js';
import { documentKinds } from './documents.js';
import { envelopeAlone } from './envelope.js';
import { isObject, jsonLayout, textIn } from './json.js';
import { type FormatFacts, type KnownFields, type Layout, type LogHead, mostly, type Recognise } from './layout.js';
import { amongOthers, logfmt, ltsv, template, timedLines } from './pattern.js';

export interface Format extends FormatFacts {
  readonly open: Recognise;
}

/**
 * Servers and proxies with words in fixed places, a name for each (pattern.ts). A longer format precedes its prefixes.
 *
 *   alb    https 2018-07-02T22:23:00.186641Z app/lb/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://a/ HTTP/1.1" "curl" ...
 *   nlb    tls 2.0 2018-12-20T02:59:40 net/lb/c6e77e28c25b2234 g3d4b5e8bb8464cd 192.0.2.1:51341 10.0.0.1:443 5 2 98 246 - ...
 *   elb    2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://a/ HTTP/1.1" ...
 *   s3     79a59df900b949e5 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e5 3E57427F3EXAMPLE REST.GET.OBJECT a.png "GET /bucket/a.png HTTP/1.1" 200 - 113 ...
 *   envoy  [2016-04-15T20:17:00.310Z] "POST /api HTTP/2" 204 - 154 0 226 100 "192.0.2.28" "nsq2http" "cc21d9b0-cf5c" "locations" "tcp://10.0.2.1:80"
 *   istio  as Envoy, then: inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 192.0.2.23:37652 outbound_.8000 default
 *   haproxy      192.0.2.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /a HTTP/1.1"
 *   haproxy-tcp  192.0.2.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0
 *   squid  1286536309.450    180 192.0.2.24 TCP_MISS/200 411 GET http://www.example.com/ - DIRECT/192.0.2.1 text/html
 */
const wordFormats = `
alb          end    us  AWS Application Load Balancer
  $type $time $elb $client $target $request_processing_time $target_processing_time $response_processing_time $status $target_status $received $sent "$request" "$user_agent"
nlb          end    s   AWS Network Load Balancer, TLS
  tls $version $time $elb $listener $client $target $connection_ms $handshake_ms $received $sent
elb          start  us  AWS Classic Load Balancer
  $time $elb $client $backend $request_processing_time $backend_processing_time $response_processing_time $status $backend_status $received $sent "$request"
s3           start  s   AWS S3 server access log
  $owner $bucket [$time] $client $user $request_id $operation $key "$request" $status $error $bytes
istio        start  ms  Istio
  [$time] "$request" $status $flags $details $termination "$failure" $received $sent $duration_ms $upstream_ms "$forwarded" "$user_agent" "$request_id" "$host" "$upstream" $cluster $upstream_local $local $client $server $route
envoy        start  ms  Envoy
  [$time] "$request" $status $flags $received $sent $duration_ms $upstream_ms "$forwarded" "$user_agent" "$request_id" "$host" "$upstream"
haproxy      start  ms  HAProxy, HTTP
  $client [$time] $frontend $backend/$server $timers $status $bytes $_"$request"
haproxy-tcp  start  ms  HAProxy, TCP
  $client [$time] $frontend $backend/$server $wait/$timers $bytes
squid        end    ms  Squid
  $time $elapsed_ms $client $result/$status $bytes $method $url $user $peer
`;

/**
 * Programs that write requests among lines that are not requests.
 *
 *   rails   I, [2015-05-17T10:05:03.123456 #7]  INFO -- : [4b1d] Started GET "/a" for 192.0.2.1 at 2015-05-17 10:05:03 +0000
 *   gin     [GIN] 2015/05/17 - 10:05:03 | 200 |     1.234ms |       192.0.2.1 | GET      "/a"
 *   php     [Sun May 17 10:05:03 2015] 192.0.2.1:33317 [200]: GET /a
 */
const amongFormats = `
rails        start  s   Rails
  \${_}Started $method "$path" for $client at $time
gin          end    s   Gin
  $_[GIN] $time | $status | $duration | $client | $method "$path"
php          end    s   PHP's built-in server
  [$time] $client [$status]: $method $path
`;

const wordsKnown: Readonly<Record<string, KnownFields>> = {
  envoy: { fields: { client: 'forwarded' }, clientFrom: 'the first forwarded address' },
  ...Object.fromEntries(
    ['alb', 'nlb', 'elb', 'haproxy', 'haproxy-tcp', 'php'].map((name) => [name, { clientHasPort: true }]),
  ),
};

/** JSON objects on lines or in an array: the member for each role; of several times, the first one present. */
const memberFormats = `
aws-waf           start  ms   AWS WAF
  time=timestamp client=httpRequest.clientIp method=httpRequest.httpMethod path=httpRequest.uri status=responseCodeSent
api-gateway       start  any  AWS API Gateway, JSON
  time=requestTimeEpoch time=requestTime client=ip method=httpMethod path=resourcePath status=status
gcp               start  us   Google Cloud load balancing
  time=timestamp client=httpRequest.remoteIp method=httpRequest.requestMethod path=httpRequest.requestUrl status=httpRequest.status duration=httpRequest.latency
azure-front-door  end    us   Azure Front Door
  time=time client=properties.clientIp method=properties.httpMethod path=properties.requestUri status=properties.httpStatusCode duration=properties.timeTaken
azure-gateway     any    s    Azure Application Gateway
  time=timeStamp time=time client=properties.clientIP method=properties.httpMethod path=properties.requestUri status=properties.httpStatus duration=properties.timeTaken
cloudflare        start  any  Cloudflare Logpush
  time=EdgeStartTimestamp client=ClientIP method=ClientRequestMethod path=ClientRequestURI status=EdgeResponseStatus host=ClientRequestHost
traefik           start  us   Traefik, JSON
  time=StartUTC time=StartLocal client=ClientHost method=RequestMethod path=RequestPath status=DownstreamStatus duration=Duration
kong              start  ms   Kong
  time=started_at client=client_ip method=request.method path=request.uri status=response.status duration=latencies.request host=request.headers.host
caddy             end    us   Caddy
  time=ts client=request.remote_ip client=request.client_ip method=request.method path=request.uri status=status duration=duration
`;

const row = (name: string, moment: Format['moment'], precision: string, writer: string, open: Recognise): Format => ({
  name,
  moment,
  precision,
  writer,
  open,
});

/** Rows of the tables above: name, moment, precision, writer; fields on the next line. */
function rowsOf(table: string, open: (name: string, fields: string) => Recognise): Format[] {
  return [...table.matchAll(/^(\S+) +(start|end|any) +(\S+) +(.+)\n {2}(.+)$/gm)].map(
    ([, name = '', moment, precision = '', writer = '', fields = '']) =>
      row(name, moment as Format['moment'], precision, writer, open(name, fields)),
  );
}

function members(format: string, pairs: string): Recognise {
  const all = pairs.split(' ').map((pair) => pair.split('=') as [role: string, name: string]);
  return ({ lines }, isNamed) => {
    const objects = isNamed ? lines.filter(isObject) : lines;
    const has = (name: string) => mostly(objects, (line) => textIn(line, name) !== undefined);
    const [time, client] = ['time', 'client'].map(
      (wanted) => all.find(([role, name]) => role === wanted && has(name))?.[1],
    );
    if (!isNamed && (time === undefined || client === undefined)) return undefined;
    const layout = jsonLayout(format, objects);
    const fields = Object.fromEntries(all.filter(([role, name]) => role !== 'time' && layout.names.includes(name)));
    return { ...layout, known: { fields, ...(time !== undefined && { time }) } };
  };
}

/** k6 writes one object per value of each metric; those of `http_reqs` are the requests. */
function k6Json({ lines }: LogHead, isNamed: boolean): Layout | undefined {
  const objects = isNamed ? lines.filter(isObject) : lines;
  const isPart = (line: Buffer) => ['Point', 'Metric'].includes(textIn(line, 'type') ?? '') && line.includes('"data"');
  if (!mostly(objects, isPart) || !objects.some((line) => line.includes('"metric"'))) return undefined;
  const where: KnownFields['where'] = [
    ['type', 'Point'],
    ['metric', 'http_reqs'],
  ];
  return jsonLayout('k6-json', objects, { time: 'data.time', count: 'data.value', where });
}

const VEGETA_COLUMNS = 'timestamp status latency_ns bytes_out bytes_in error body attack seq method url headers'.split(
  ' ',
);
/** Those that a configuration begins with; which others follow is up to it. */
const CLOUDFRONT_COLUMNS =
  'timestamp c-ip time-to-first-byte sc-status sc-bytes cs-method cs-protocol cs-host cs-uri-stem cs-bytes x-edge-location x-edge-request-id x-host-header time-taken cs-protocol-version c-ip-version cs-user-agent cs-referer'.split(
    ' ',
  );
const cloudfront = tableOf(
  'cloudfront',
  '\t',
  /^\d{10}\.\d{3}\t[\da-f.:]+\t[\d.]+\t\d{3}\t\d+\t[A-Z]+\t/,
  CLOUDFRONT_COLUMNS,
  {},
);

const vegeta = tableOf('vegeta', ',', /^"?\d{19}"?,"?\d{1,3}"?,"?\d+"?(,[^,]*){2},/, VEGETA_COLUMNS, {
  time: 'timestamp',
});

const k6Csv = tableWith('k6-csv', ['metric_name', 'timestamp', 'metric_value'], {
  count: 'metric_value',
  where: [['metric_name', 'http_reqs']],
});

const locust = tableWith('locust', ['Timestamp', 'Name', 'Total Request Count'], {
  time: 'Timestamp',
  count: 'Total Request Count',
  totals: { series: 'Name', all: 'Aggregated' },
});

/** One matching line suffices. */
export const accessFormats: readonly Format[] = [
  row('combined', 'any', 's', 'Apache, nginx', clf('combined')),
  row('common', 'any', 's', 'Apache, nginx', clf('common')),
];

export const serverFormats: readonly Format[] = [
  row('vegeta', 'start', 'ns', 'vegeta encode --to csv', vegeta),
  row('cloudfront', 'end', 'ms', 'AWS CloudFront real-time', cloudfront),
  row('gatling', 'start', 'ms', 'Gatling up to 3.9, simulation.log', gatling),
  ...rowsOf(wordFormats, (name, words) => template(name, words, wordsKnown[name])),
];

/** One matching line suffices. */
export const applicationFormats: readonly Format[] = rowsOf(amongFormats, (name, words) =>
  amongOthers(name, words, wordsKnown[name]),
);

export const jsonFormats: readonly Format[] = [
  row('k6-json', 'end', 'us', 'k6 --out json', k6Json),
  ...rowsOf(memberFormats, members),
  row('ndjson', 'any', 'any', 'one JSON object a line', ({ lines }) => jsonLayout('ndjson', lines.filter(isObject))),
];

export const headedFormats: readonly Format[] = [
  row('w3c', 'any', 's', 'IIS, AWS CloudFront, W3C extended', directives('w3c', 'Fields:')),
  row('zeek', 'start', 'us', 'Zeek', directives('zeek', 'fields\t')),
  row('k6-csv', 'end', 's', 'k6 --out csv', k6Csv),
  row('locust', 'end', 's', 'Locust, stats history', locust),
  row('ltsv', 'any', 'any', 'labels and values with tabs (LTSV)', ltsv),
];

const looseFormats: readonly Format[] = [
  row('csv', 'any', 'any', 'tables with commas, semicolons or bars; JMeter', chosenTable('csv')),
  row('tsv', 'any', 'any', 'tables with tabs', chosenTable('tsv')),
  row('logfmt', 'any', 'any', 'name=value; Heroku router', logfmt(true)),
  row(
    'syslog',
    'any',
    's',
    'auth.log, any lines in syslog',
    (head) => envelopeAlone(head.lines) ?? timedLines(head, true),
  ),
  row('lines', 'any', 'any', 'error logs of Apache and nginx, uniq -c', timedLines),
  row('counts', 'any', 's', 'a number of requests a line', counts),
];

export const formats: readonly Format[] = [
  ...accessFormats,
  ...serverFormats,
  ...applicationFormats,
  ...jsonFormats,
  ...headedFormats,
  ...looseFormats,
];

export const formatsAndDocuments = [...formats, ...documentKinds];
export const logFormats = formatsAndDocuments.map(({ name }) => name);
