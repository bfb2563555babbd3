// Owns what every live target is to a run: how a request of a contract is sent, and how its answer is read. Leaves a node to
// weir-target.ts, any other service to foreign-target.ts.
import type { WireAnswer, WireRequest } from './http-pool.js';

/** What an answer says. */
export type Reading =
  | {
      readonly type: 'decided';
      readonly admitted: boolean;
      /** The cycle in which the target counted the request; undefined where it does not say. */
      readonly cycle?: number | undefined;
      /** State and count after the request; undefined where it does not say. */
      readonly state?: string | undefined;
      readonly count?: number | undefined;
      /** How long a limited client is to wait, in ms; undefined where it is not said. */
      readonly retryAfterMs?: number | undefined;
    }
  /** The target says that it cannot take the request now, which is no decision and no mistake. */
  | { readonly type: 'overloaded'; readonly words: string }
  /** Anything else: a status or body that a right answer would not have. */
  | { readonly type: 'unexpected'; readonly words: string };

export interface Target {
  /** Where the requests go, for people. */
  readonly description: string;
  /** The request that is sent for a contract, by index. */
  request(contract: number): WireRequest;
  read(answer: WireAnswer): Reading;
}

/** `Retry-After` in seconds, as ms; undefined without it, or where it is a date. */
export function retryAfterMs({ fields }: WireAnswer): number | undefined {
  const seconds = Number(fields['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** The beginning of a text, to be quoted in a sentence. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 120 ? `"${line.slice(0, 120)}…"` : `"${line}"`;
}
