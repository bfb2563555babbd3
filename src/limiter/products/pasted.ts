// Reads a limiter from a piece of configuration: an nginx or HAProxy stanza becomes the product with its parameters.
//
//   limit_req_zone $binary_remote_addr zone=a:10m rate=10r/s;          { like: nginx, rate: 10r/s, burst: 5, nodelay: true }
//   limit_req zone=a burst=5 nodelay;
//
//   stick-table type ip size 1m expire 10s store http_req_rate(10s)    { like: haproxy-http-req-rate, period: 10s, limit: 20 }
//   http-request deny if { sc_http_req_rate(0) gt 20 }
import { Failure } from '../../schema/failure.js';

/** A limiter as a person would give it: a product by its name, with its parameters. */
export type Like = Readonly<Record<string, unknown>> & { readonly like: string };

/** Whether a text is a stanza that `readStanza` should be asked about. */
export function looksLikeStanza(text: string): boolean {
  return /\b(limit_req|limit_conn|limit_req_zone|stick-table|http_req_rate|http_req_cnt|gpc0_rate|maxconn)\b/.test(
    text,
  );
}

/**
 * The limiters of a stanza, in the order in which they apply.
 * @throws Failure `invalid_definition` where there is none, or a zone or a table is missing
 */
export function readStanza(text: string): readonly Like[] {
  const plain = text.replace(/#.*$/gm, '');
  const found = [...nginxLimits(plain), ...haproxyLimits(plain)];
  if (found.length === 0) {
    throw refused('There is no limit_req, no limit_conn, and no deny of a tracked rate in it.');
  }
  return found;
}

function refused(why: string): Failure {
  return new Failure('invalid_definition', {
    what: 'The stanza cannot be read as a limiter.',
    why,
    fix: 'Paste limit_req_zone with limit_req, or a stick-table with the http-request deny that reads it.',
  });
}

function nginxLimits(text: string): Like[] {
  const zones = new Map<string, string>();
  for (const [, words = ''] of text.matchAll(/\blimit_req_zone\s+([^;]+);/g)) {
    const [, zone] = /\bzone=([\w-]+)/.exec(words) ?? [];
    const [, rate] = /\brate=(\d+r\/[sm])/.exec(words) ?? [];
    if (zone === undefined || rate === undefined) throw refused('A limit_req_zone lacks its zone or its rate.');
    zones.set(zone, rate);
  }
  const requests = [...text.matchAll(/\blimit_req\s+([^;]+);/g)].map(([, words = '']) => {
    const [, zone = ''] = /\bzone=([\w-]+)/.exec(words) ?? [];
    const rate = zones.get(zone);
    if (rate === undefined) throw refused(`The zone ${JSON.stringify(zone)} of a limit_req has no limit_req_zone.`);
    return {
      like: 'nginx',
      rate,
      ...numberIn(words, 'burst'),
      ...numberIn(words, 'delay'),
      ...(/\bnodelay\b/.test(words) ? { nodelay: true } : {}),
    };
  });
  const connections = [...text.matchAll(/\blimit_conn\s+[\w-]+\s+(\d+)\s*;/g)].map(([, most]) => ({
    like: 'nginx-limit-conn',
    connections: Number(most),
  }));
  return [...requests, ...connections];
}

function numberIn(words: string, name: string): object {
  const [, value] = new RegExp(`\\b${name}=(\\d+)`).exec(words) ?? [];
  return value === undefined ? {} : { [name]: Number(value) };
}

function haproxyLimits(text: string): Like[] {
  const denies = [
    ...text.matchAll(/\bsc\d?_(http_req_rate|gpc0_rate|http_req_cnt)(?:\(\d*[^)]*\))?\s+(gt|ge)\s+(\d+)/g),
  ];
  const counters = denies.map(([, counter = '', compared, figure]) => {
    // A request that is counted before it is judged is in the count: `gt 10` admits ten. One that is not: `ge 10`.
    const isBefore = counter === 'gpc0_rate';
    const limit = Number(figure) + (compared === 'gt' ? (isBefore ? 1 : 0) : isBefore ? 0 : -1);
    const [, period] = new RegExp(`\\b${counter}\\((\\w+)\\)`).exec(text.replace(/\bsc\d?_\w+\([^)]*\)/g, '')) ?? [];
    const [, expire] = /\bexpire\s+(\w+)/.exec(text) ?? [];
    if (counter === 'http_req_cnt') {
      if (expire === undefined) throw refused('The stick-table of http_req_cnt has no expire: it never forgets.');
      return { like: 'haproxy-http-req-cnt', expire: inUnits(expire), limit };
    }
    if (period === undefined) throw refused(`No stick-table stores ${counter}(period).`);
    const like = isBefore ? 'haproxy-gpc0-rate' : 'haproxy-http-req-rate';
    return { like, period: inUnits(period), limit };
  });
  const [, queue] = /\btimeout\s+queue\s+(\w+)/.exec(text) ?? [];
  const servers = [...text.matchAll(/\bserver\s+[^\n]*\bmaxconn\s+(\d+)/g)].map(([, most]) => ({
    like: 'haproxy-maxconn',
    maxconn: Number(most),
    queue: queue === undefined ? '5s' : inUnits(queue),
  }));
  return [...counters, ...servers];
}

/** HAProxy counts ms where there is no unit. */
function inUnits(time: string): string | number {
  return /^\d+$/.test(time) ? Number(time) : time;
}
