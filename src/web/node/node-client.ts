// A client of the node that served the page. The page's session, if any, is its credential.
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';
import { WeirClient, WeirError } from '../../client/weir-client.js';

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

export function ago(cycle: number, now: number): string {
  return now <= cycle ? 'in this cycle' : `${some(now - cycle, 'cycle')} ago`;
}
