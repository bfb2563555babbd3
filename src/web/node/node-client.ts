// A client of the node that served the page. The page's session, if any, is its credential.
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { WeirClient, WeirError } from '../../api/client/weir-client.js';
import { duration } from '../../report/words.js';

export type ShownContract = AnswerOf<Endpoints['listContracts']>['contracts'][number];

export const weir = new WeirClient({ url: location.origin, retries: 1 });

/** A client that sends a key instead. @throws WeirError for an invalid key, or a connection that others can read */
export function withKey(key: string): WeirClient {
  return new WeirClient({ url: location.origin, key });
}

export function wordsOf(error: unknown): string {
  if (error instanceof WeirError) return error.message;
  return error instanceof Error ? error.message : String(error);
}

const figure = new Intl.NumberFormat('en');

export function grouped(value: number): string {
  return figure.format(value);
}

export function some(n: number, thing: string): string {
  return `${grouped(n)} ${thing}${n === 1 ? '' : 's'}`;
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** How long some cycles are, as `28 s`, `12 min`, `3 h`, `2 d`; nothing before their length is known. */
export function cyclesInWords(cycles: number, cycleMs: number | undefined): string {
  if (cycleMs === undefined) return '';
  const seconds = Math.round((cycles * cycleMs) / 1000);
  if (seconds < 2 * MINUTE_S) return `${seconds} s`;
  if (seconds < 2 * HOUR_S) return `${Math.round(seconds / MINUTE_S)} min`;
  if (seconds < 2 * DAY_S) return `${Math.round(seconds / HOUR_S)} h`;
  return `${grouped(Math.round(seconds / DAY_S))} d`;
}

/** As people think of it: `46.6 s`; in cycles before their length is known. */
export function lasting(cycles: number, cycleMs: number | undefined): string {
  return cycleMs === undefined ? some(cycles, 'cycle') : duration(cycles * cycleMs);
}

export function ago(cycle: number, now: number, cycleMs: number | undefined): string {
  const length = cyclesInWords(Math.max(0, now - cycle), cycleMs);
  if (length === '') return '';
  return length === '0 s' ? 'now' : `${length} ago`;
}
