// What may be said about a log before it is read.
import type { TimeUnit } from './unix.js';
import type { Condition } from './where.js';

/** What may be said about the fields of a log: columns by name, in JSON also as a path (`request.start`). */
export interface FieldOptions {
  readonly timeColumn?: string | undefined;
  /** The column with the number of requests of a row; false when each row is one request whatever columns there are. */
  readonly countColumn?: string | false | undefined;
  /**
   * The field whose values become the keys: its name, or `client`, `forwarded` (`forwarded:2` the second address, `forwarded:-1`
   * the last), `method`, `path`, `user`, which are found in any format that has them.
   */
  readonly keyColumn?: string | undefined;
  /**
   * What requests cost: the unit, as tokens or bytes, and the fields that are added up. Default: those whose names end in the unit, of
   * several the one that begins with `total`. Without a cost each request costs 1.
   */
  readonly cost?: { readonly unit: string; readonly columns?: readonly string[] | undefined } | undefined;
  /** Further fields whose texts the sink is given before each request, named as for `keyColumn`; '' where the log has none. */
  readonly alsoColumns?: readonly string[] | undefined;
  /** Only requests for which all of these hold are counted; fields are named as for `keyColumn`. */
  readonly where?: readonly Condition[] | undefined;
  /** The length of the interval that starts at a row's time, over which its requests are spread, in ms; 0, all at once. */
  readonly spreadMs?: number | undefined;
  /** What plain numbers in the time column count; else known from their size and the column's name. */
  readonly timeUnit?: TimeUnit | undefined;
  /** The present time in unix ms: for dates without a year, and to warn of dates after tomorrow. */
  readonly nowMs?: number | undefined;
}

export interface LogOptions extends FieldOptions {
  /** Name of a format, or a line of it as nginx and Apache describe theirs. Else recognised from the first 64 KiB. */
  readonly format?: string | undefined;
  /** Only requests from here on, in unix ms. */
  readonly fromMs?: number | undefined;
  /** Only requests before this, in unix ms. */
  readonly toMs?: number | undefined;
}

/** The names of the formats that are read, in the order of the table (formats.ts). Apache's and nginx's own are alike. */
export const logFormats = [
  ...['combined', 'common', 'vegeta', 'gatling', 'alb', 'nlb', 'elb', 's3', 'istio', 'envoy'],
  ...['haproxy', 'haproxy-tcp', 'squid', 'k6-json', 'aws-waf', 'api-gateway', 'gcp', 'azure-front-door'],
  ...['azure-gateway', 'cloudflare', 'traefik', 'kong', 'caddy', 'ndjson', 'w3c', 'zeek', 'k6-csv', 'locust'],
  ...['csv', 'tsv', 'logfmt', 'syslog', 'lines', 'counts', 'har', 'otlp', 'loki', 'prometheus', 'json'],
] as const;

/** Something about a reading that is hardly meant so. */
export interface Warning {
  readonly code: string;
  readonly what: string;
}
