// What a compared count of HAProxy limits, and how it refuses.
//
//   sc_http_req_rate(0) gt 20, of http_req_rate(10s)        { like: haproxy-http-req-rate, period: 10s, limit: 20 }
//   http-request tarpit                                     status 500
import { UNITS_MS } from './duration.js';
import type { FoundLimiter, Like } from './found.js';

export interface CountComparison {
  readonly counter: string;
  readonly slot: number | undefined;
  readonly table: string | undefined;
  readonly over: 'gt' | 'ge';
  readonly figure: string;
  readonly isTracked: boolean;
}

export const COUNTERS = [
  'http_req_rate',
  'http_req_cnt',
  'http_err_rate',
  'http_fail_rate',
  'conn_rate',
  'conn_cur',
  'gpc0_rate',
  'gpc1_rate',
  'sess_rate',
];
const COMPARED = new RegExp(
  `(?:\\bsc(\\d?)_|\\bsrc_|\\b\\w+,table_)(${COUNTERS.join('|')})(?:\\(([^)]*)\\))?\\s+(?:-m\\s+int\\s+)?(gt|ge)\\s+(\\S+)`,
  'g',
);
export function comparisonsIn(text: string): CountComparison[] {
  return [...text.matchAll(COMPARED)].map(([, slot = '', counter = '', given = '', over, figure = '']) => {
    const numbers = given.split(',').map((one) => one.trim());
    const own = slot !== '' ? Number(slot) : /^\d$/.test(numbers[0]!) ? Number(numbers[0]) : undefined;
    const table = numbers.find((one) => one !== '' && !/^\d$/.test(one));
    const isTracked = !text.includes('src_') && !text.includes(',table_');
    return { counter, slot: own, table, over: over as 'gt' | 'ge', figure, isTracked };
  });
}

/** @param raised whether the count has the request when the rule is taken; if not, what is refused is not counted */
export function likeOf(
  counter: string,
  limit: number,
  raised: 'before' | 'after',
  period: string | undefined,
  expire: string | undefined,
): Like | string {
  if (counter === 'conn_cur')
    return limit < 1 ? 'a limit of 0 connections refuses all' : { like: 'nginx-limit-conn', connections: limit };
  if (counter === 'http_req_cnt')
    return expire === undefined
      ? 'the stick-table of http_req_cnt has no expire: it never forgets'
      : { like: 'haproxy-http-req-cnt', expire: inUnits(expire), limit };
  if (period === undefined) return `no stick-table stores ${counter} with a period`;
  if (limit < 1) return `a limit of 0 per ${period} refuses all`;
  if (expire !== undefined && (msOf(expire) ?? 0) < (msOf(period) ?? 0))
    return `expire ${expire} is shorter than the period ${period}: counts are lost`;
  return {
    like: raised === 'after' ? 'haproxy-gpc0-rate' : 'haproxy-http-req-rate',
    period: inUnits(period),
    limit,
  };
}

export function inUnits(time: string): string | number {
  return /^\d+$/.test(time) ? Number(time) : time;
}

function msOf(time: string): number | undefined {
  const [, figure, unit = 'ms'] = /^(\d+)(us|ms|s|m|h|d)?$/.exec(time) ?? [];
  return figure === undefined ? undefined : Number(figure) * UNITS_MS[unit]!;
}

export function statusOf(action: string): number | undefined {
  if (/\b(?:reject|silent-drop)\b/.test(action)) return undefined;
  const [, given] = /\b(?:deny_status|status|code)\s+(\d+)/.exec(action) ?? [];
  if (given !== undefined) return Number(given);
  return /\bredirect\b/.test(action) ? 302 : /\btarpit\b/.test(action) ? 500 : /\breturn\b/.test(action) ? 200 : 403;
}

export function countedBy(counter: string): FoundLimiter['counts'] {
  if (counter.startsWith('conn_cur')) return 'concurrency';
  if (/^(?:conn|sess)_rate/.test(counter)) return 'connections';
  return /err|fail/.test(counter) ? 'errors' : 'requests';
}
