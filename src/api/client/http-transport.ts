// HTTP beside `fetch` for the clients of a node: jitter, bodies read piece by piece within a time, untrusted text.
import { pause } from '../../core/time/wall.js';

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export interface FetchOptions {
  /** Default: the runtime's `fetch`. */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<Response>) | undefined;
  /** Longest wait for an answer, in ms, from 1. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a safe request is sent again, a whole number from 0. Default: 3. */
  readonly retries?: number | undefined;
  /** Longest wait between two attempts, in ms; a longer Retry-After ends the retries. Default: 10,000. */
  readonly longestWaitMs?: number | undefined;
}

/** Silence after which a connection counts as lost; the node sends a comment every 10 s. */
export const SILENCE_MS = 30_000;

/** Uniform in [0, 1). Unseeded: no decision depends on it. */
export function jitter(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}

/** 128 random bits, hexadecimal. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param waiting limits the wait for the next piece */
export async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  waiting: <T>(next: Promise<T>) => Promise<T> = (next) => next,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await waiting(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Aborts `late` if the promise takes longer than `ms`. */
export async function within<T>(ms: number, promise: Promise<T>, late: AbortController): Promise<T> {
  const settled = new AbortController();
  void pause(ms, settled.signal).then(() => {
    if (!settled.signal.aborted) late.abort(new DOMException('', 'TimeoutError'));
  });
  try {
    return await promise;
  } finally {
    settled.abort();
  }
}

/** Untrusted text on one line, control characters replaced. */
export function readable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\u00b7');
}
