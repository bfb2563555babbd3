// Sends the requests of a client with `fetch`: Node, Deno, Bun, workers and browsers. What is safe is sent again.
//
//   attempt ─► no answer, or 408, 429, 502, 503, 504 ─► wait ─► attempt ─► …          only for an `isSafe` request
//   wait     = Retry-After + random · min(MOST, FIRST · 2^attempt)                    full jitter: 0 to all of it
//
// Full jitter: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. With a Retry-After above `longestWaitMs` the
// answer is final: the caller decides.

import { pause } from '../time/wall.js';
import { retryAfterMsIn } from './limit-fields.js';
import { type Answer, type Ask, addressOf, type Transport } from './transport.js';
import { errorFrom, unreachable, unreadable } from './weir-error.js';

export interface FetchOptions {
  /** Sends a request. Default: the `fetch` of the runtime. */
  readonly fetch?: ((input: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Longest wait for an answer, and for the next bytes of a stream, in ms, from 1. Default: 10,000. The node moves a stream every 10 s. */
  readonly timeoutMs?: number | undefined;
  /** How often a safe request is sent again, a whole number from 0. Default: 3. */
  readonly retries?: number | undefined;
  /** Longest wait between two attempts, in ms. A node that asks for more is not asked again. Default: 10,000. */
  readonly longestWaitMs?: number | undefined;
}

const FIRST_WAIT_MS = 200;

/** A pause of a stream after which its connection is lost; the node sends a comment every 10 s. */
const SILENCE_MS = 30_000;

const passing = new Set([408, 429, 502, 503, 504]);

/** Uniform in [0, 1): jitter needs no seed, and nothing that is decided depends on it. */
export function jitter(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}

/** 128 random bits, hexadecimal. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class FetchTransport implements Transport {
  readonly #fetch: NonNullable<FetchOptions['fetch']>;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #longestWaitMs: number;

  constructor(
    readonly url: string,
    {
      fetch: send = (input, init) => fetch(input, init),
      timeoutMs = 10_000,
      retries = 3,
      longestWaitMs = 10_000,
    }: FetchOptions,
  ) {
    this.#fetch = send;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#longestWaitMs = longestWaitMs;
  }

  /** @throws WeirError `node_unreachable`, `answer_unreadable`; the reason of the signal if it is aborted */
  async ask(ask: Ask): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      const isLast = ask.isSafe !== true || attempt >= this.#retries;
      const answer = await this.#attempt(ask).catch((error: unknown) => {
        ask.signal?.throwIfAborted();
        if (isLast || (error as { code?: unknown }).code !== 'node_unreachable') throw error;
      });
      if (answer !== undefined && !passing.has(answer.status)) return answer;
      const askedMs = (answer && retryAfterMsIn(answer.headers)) ?? 0;
      if (answer !== undefined && (isLast || askedMs > this.#longestWaitMs)) return answer;
      const backoffMs = Math.min(this.#longestWaitMs, FIRST_WAIT_MS * 2 ** attempt);
      await pause(Math.min(this.#longestWaitMs, askedMs + jitter() * backoffMs), ask.signal);
      ask.signal?.throwIfAborted();
    }
  }

  /** @throws WeirError `node_unreachable`, `answer_unreadable`, or the refusal of the node; the reason of the signal if it is aborted */
  async open(ask: Ask, type: string): Promise<AsyncIterable<Uint8Array>> {
    const connecting = new AbortController();
    const signal = ask.signal === undefined ? connecting.signal : AbortSignal.any([ask.signal, connecting.signal]);
    const response = await within(this.#timeoutMs, this.#send(ask, signal), (error) => connecting.abort(error)).catch(
      (error: unknown) => {
        throw this.#failure(error, ask.signal);
      },
    );
    if (response.status !== 200) throw errorFrom(await this.#read(response), this.url);
    if (!response.headers.get('content-type')?.startsWith(type) || response.body === null) {
      await response.body?.cancel();
      throw unreadable(`It is not ${type}.`, this.url);
    }
    return this.#pieces(response.body, ask.signal);
  }

  async #attempt(ask: Ask): Promise<Answer> {
    const timeout = AbortSignal.timeout(ask.timeoutMs ?? this.#timeoutMs);
    try {
      const signal = ask.signal === undefined ? timeout : AbortSignal.any([ask.signal, timeout]);
      return await this.#read(await this.#send(ask, signal));
    } catch (error) {
      throw this.#failure(error, ask.signal);
    }
  }

  #send(ask: Ask, signal: AbortSignal): Promise<Response> {
    const { method, body, headers = {} } = ask;
    return this.#fetch(addressOf(this.url, ask).href, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      // A node never redirects, and a key is for the address that it was given for.
      redirect: 'error',
      signal,
    });
  }

  async #read(response: Response): Promise<Answer> {
    const { status } = response;
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    if (text === '') return { status, headers, body: undefined };
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch {
      // What stands between a client and its node answers for itself while the node is away.
      if (passing.has(status)) return { status, headers, body: undefined };
      throw unreadable(`It has status ${status} and is not JSON.`, this.url);
    }
  }

  async *#pieces(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await within(SILENCE_MS, reader.read(), () => {});
        if (done) return;
        yield value;
      }
    } catch (error) {
      throw this.#failure(error, signal);
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    const { name, message, code } = error as { name?: unknown; message?: unknown; code?: unknown };
    if (code === 'answer_unreadable') return error;
    return unreachable(name === 'TimeoutError' ? 'No answer arrived in time.' : `${String(message)}.`, this.url, error);
  }
}

/** What a promise gives, unless it takes longer than `ms`: then `onLate` is called, and the error is thrown. */
async function within<T>(ms: number, promise: Promise<T>, onLate: (error: Error) => void): Promise<T> {
  const settled = new AbortController();
  const late = pause(ms, settled.signal).then(() => {
    if (settled.signal.aborted) return promise;
    const error = new DOMException('Nothing was received in time.', 'TimeoutError');
    onLate(error);
    throw error;
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}
