// Sends the requests of a client with `fetch`: Node, Deno, Bun, workers and browsers.
//
//   attempt ─► no answer, or 408, 429, 502, 503, 504 ─► wait ─► attempt ─► …          if the request may be sent again
//   wait     = Retry-After + random · min(MOST, FIRST · 2^attempt)                    full jitter: 0 to all of it
//
// Full jitter: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. With a Retry-After above `longestWaitMs` the
// answer is final: the caller decides.
import { pause } from '../time/wall.js';
import { retryAfterMsIn } from './limit-fields.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Appended to the base address; its segments are encoded. */
  readonly path: string;
  /** Undefined fields are not sent. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** Sent as JSON, and a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /**
   * When it is sent again. `refused`: the node is overloaded, has done nothing, and says when; `unanswered`: also without an answer, and
   * after answers that pass. Default: `refused`.
   */
  readonly resend?: 'never' | 'refused' | 'unanswered' | undefined;
  /** Longest wait for the whole answer, in ms. Default: that of the transport. */
  readonly timeoutMs?: number | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface TransportErrors {
  unreachable(url: string, why: string, cause: unknown): Error;
  unreadable(url: string, why: string): Error;
  /** For an answer with any other status, where a stream was asked for. */
  refused(url: string, answer: HttpAnswer): Error;
}

interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export interface FetchOptions {
  /** Sends a request. Default: the `fetch` of the runtime. */
  readonly fetch?: ((url: string, init: FetchInit) => Promise<Response>) | undefined;
  /** Longest wait for an answer, in ms, from 1. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How often a safe request is sent again, a whole number from 0. Default: 3. */
  readonly retries?: number | undefined;
  /** Longest wait between two attempts, in ms. A node that asks for more is not asked again. Default: 10,000. */
  readonly longestWaitMs?: number | undefined;
}

const FIRST_WAIT_MS = 200;

/** A pause of a stream after which its connection is lost; the node sends a comment every 10 s. */
export const SILENCE_MS = 30_000;

const LONGEST_ANSWER = 64 << 20;

const passing = new Set([408, 429, 502, 503, 504]);

/** Uniform in [0, 1): jitter needs no seed, and nothing that is decided depends on it. */
export function jitter(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;
}

export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

type RawAnswer = Omit<HttpAnswer, 'body'> & { readonly text: string };

export class HttpTransport {
  readonly #errors: TransportErrors;
  readonly #fetch: NonNullable<FetchOptions['fetch']>;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #longestWaitMs: number;

  constructor(
    readonly url: string,
    errors: TransportErrors,
    {
      fetch: send = (input, init) => fetch(input, init),
      timeoutMs = 10_000,
      retries = 3,
      longestWaitMs = 10_000,
    }: FetchOptions = {},
  ) {
    this.#errors = errors;
    this.#fetch = send;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#longestWaitMs = longestWaitMs;
  }

  /**
   * Sends a request and reads the whole answer, with any status.
   * @throws `unreachable`, `unreadable`; the reason of the signal if it is aborted
   */
  async ask(ask: HttpRequest): Promise<HttpAnswer> {
    const { signal, resend = 'refused' } = ask;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = resend === 'never' || attempt >= this.#retries;
      const answer = await this.#attempt(ask).catch((error: unknown) => {
        if (isLast || resend !== 'unanswered' || signal?.aborted) throw error;
      });
      let askedMs = 0;
      if (answer !== undefined) {
        askedMs = retryAfterMsIn(answer.headers) ?? (resend === 'unanswered' ? 0 : Number.POSITIVE_INFINITY);
        if (isLast || askedMs > this.#longestWaitMs || !isPassing(answer, resend)) return this.#parsed(answer);
      }
      const backoffMs = Math.min(this.#longestWaitMs, FIRST_WAIT_MS * 2 ** attempt);
      await pause(Math.min(this.#longestWaitMs, askedMs + jitter() * backoffMs), signal);
      signal?.throwIfAborted();
    }
  }

  /**
   * Sends a request whose answer is a stream of bytes. If the connection breaks, the iteration throws `unreachable`.
   * @param type media type that the answer must have
   * @throws `unreachable`, `unreadable`, `refused`; the reason of the signal if it is aborted
   */
  async open(ask: HttpRequest, type: string): Promise<AsyncIterable<Uint8Array>> {
    const late = new AbortController();
    const response = await this.#settled(within(this.#timeoutMs, this.#send(ask, late.signal), late), ask);
    if (response.status !== 200) {
      throw this.#errors.refused(this.url, this.#parsed(await this.#settled(this.#read(response), ask)));
    }
    const given = response.headers.get('content-type');
    if (given?.startsWith(type) && response.body !== null) return this.#pieces(response.body, ask, late);
    late.abort();
    throw this.#unreadable(`It is ${given ?? 'of no type'} and not ${type}.`);
  }

  #attempt(ask: HttpRequest): Promise<RawAnswer> {
    const late = AbortSignal.timeout(ask.timeoutMs ?? this.#timeoutMs);
    return this.#settled(
      this.#send(ask, late).then((response) => this.#read(response)),
      ask,
    );
  }

  #send({ method, path, query = {}, body, headers, signal }: HttpRequest, late: AbortSignal): Promise<Response> {
    const url = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return this.#fetch(url.href, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      // A node never redirects, and a key is for the address that it was given for.
      redirect: 'manual',
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
  }

  async #read(response: Response): Promise<RawAnswer> {
    const { status, headers, body } = response;
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of body === null ? [] : piecesOf(body)) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > LONGEST_ANSWER) throw this.#unreadable(`It has more than ${LONGEST_ANSWER} characters.`);
    }
    return { status, headers: Object.fromEntries(headers), text };
  }

  #parsed({ status, headers, text }: RawAnswer): HttpAnswer {
    // A browser shows a redirect with status 0.
    if (status === 0 || (status >= 300 && status < 400))
      throw this.#unreadable(`It redirects to ${readable(headers['location'] ?? 'another address')}.`);
    if (text === '') return { status, headers, body: undefined };
    try {
      return { status, headers, body: JSON.parse(text) };
    } catch {
      throw this.#unreadable(
        `It has status ${status} and is not JSON: it begins with "${readable(text.slice(0, 80))}".`,
      );
    }
  }

  async *#pieces(
    body: ReadableStream<Uint8Array>,
    ask: HttpRequest,
    late: AbortController,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* piecesOf(body, (next) => within(SILENCE_MS, next, late));
    } catch (error) {
      throw this.#failure(error, ask);
    }
  }

  #settled<T>(promise: Promise<T>, ask: HttpRequest): Promise<T> {
    return promise.catch((error: unknown) => {
      throw this.#failure(error, ask);
    });
  }

  #unreadable(why: string): Error {
    return this.#errors.unreadable(this.url, why);
  }

  #failure(error: unknown, { signal }: HttpRequest): unknown {
    if (signal?.aborted) return signal.reason;
    if ((error as { code?: unknown }).code === 'answer_unreadable') return error;
    const { name, message } = error as Error;
    const why = name === 'TimeoutError' ? 'No answer arrived in time.' : `${message}.`;
    return this.#errors.unreachable(this.url, why, error);
  }
}

function isPassing({ status, text }: RawAnswer, resend: HttpRequest['resend']): boolean {
  return resend === 'unanswered' ? passing.has(status) : status === 503 && text.includes('"node_overloaded"');
}

async function* piecesOf(
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

async function within<T>(ms: number, promise: Promise<T>, late: AbortController): Promise<T> {
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

export function readable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\u00b7');
}
