// Keep-alive connections for load; reports when the bytes of each request go out and when its answer arrives.
import { type Dispatcher, Pool } from 'undici';
import { Failure } from '../schema/failure.js';

export interface PoolRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'HEAD' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export type Fields = Readonly<Record<string, string | string[] | undefined>>;

export interface PoolAnswer {
  readonly status: number;
  readonly fields: Fields;
  readonly body: string;
  readonly bytes: number;
}

interface Breakage {
  /** `closed`: by the other side; `not_http`: unreadable answer. */
  readonly kind: 'refused' | 'closed' | 'not_http' | 'other';
  readonly words: string;
}

/** `started` at most once, then exactly one of the others, unless the request was cancelled. */
export interface RequestListener {
  /** The bytes go out now; before, the request waited for a free connection. */
  started(): void;
  answered(answer: PoolAnswer): void;
  broke(breakage: Breakage): void;
}

const MOST_BODY = 64 * 1024;

/** Idle connections are closed earlier than by node servers (5 s): a request sent at that moment would be lost. */
const LONGEST_REST_MS = 2_000;

export class HttpPool {
  mostConnected = 0;
  readonly #pools: readonly Pool[];
  #next = 0;

  constructor(
    readonly origin: string,
    { connections, also = [] }: { readonly connections: number; readonly also?: readonly string[] },
  ) {
    const origins = [origin, ...also];
    const options = {
      connections: Math.max(1, Math.floor(connections / origins.length)),
      pipelining: 1,
      keepAliveTimeout: LONGEST_REST_MS,
      keepAliveMaxTimeout: LONGEST_REST_MS,
      // The caller bounds the time, on the clock of the run.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#pools = origins.map((one) => new Pool(one, options));
    for (const pool of this.#pools)
      pool.on('connect', () => {
        this.mostConnected = Math.max(this.mostConnected, this.connected);
      });
  }

  /** Sends as soon as a connection is free. @returns cancels: cuts the connection, and nothing more is reported */
  fire(request: PoolRequest, listener: RequestListener): () => void {
    const exchange = new Exchange(listener);
    this.#turn().dispatch(dispatched(request), exchange);
    return () => exchange.cancel();
  }

  get connected(): number {
    return this.#pools.reduce((sum, { stats }) => sum + stats.connected, 0);
  }

  /** Opens `n` connections by simultaneous requests. @throws Failure `node_unreachable` */
  async warm(n: number, request: PoolRequest, timeoutMs: number): Promise<void> {
    const asked = Array.from({ length: n }, async () => {
      const { body } = await this.#turn().request({ ...dispatched(request), signal: AbortSignal.timeout(timeoutMs) });
      await body.dump();
    });
    await Promise.all(asked).catch((error: Error) => {
      const isLate = error.name === 'TimeoutError';
      const why = isLate ? `It did not answer within ${timeoutMs / 1000} s.` : breakageOf(error).words;
      throw unreachableFailure(this.origin, why);
    });
  }

  #turn(): Pool {
    const pool = this.#pools[this.#next]!;
    this.#next = (this.#next + 1) % this.#pools.length;
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }
}

function dispatched({ method, path, headers = {}, body }: PoolRequest): Dispatcher.DispatchOptions {
  return { method, path, headers: { ...headers }, body: body ?? null };
}

export function unreachableFailure(origin: string, why: string): Failure {
  return new Failure('node_unreachable', {
    what: `${origin} could not be reached.`,
    why,
    fix: 'Start the node, or check the address and the port.',
  });
}

const letGoOf = new Error('let go');

class Exchange implements Dispatcher.DispatchHandler {
  readonly #listener: RequestListener;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #fields: Fields = {};
  #body: Buffer | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(listener: RequestListener) {
    this.#listener = listener;
  }

  cancel(): void {
    this.#isOver = true;
    this.#controller?.abort(letGoOf);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(letGoOf);
    else this.#listener.started();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, fields: Fields): void {
    this.#status = status;
    this.#fields = fields;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const body = this.#body;
    this.#bytes += chunk.length;
    if (body === undefined) this.#body = chunk;
    else if (body.length < MOST_BODY) this.#body = Buffer.concat([body, chunk]);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const body = this.#body === undefined ? '' : this.#body.toString('utf8', 0, MOST_BODY);
    this.#listener.answered({ status: this.#status, fields: this.#fields, body, bytes: this.#bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.broke(breakageOf(error));
  }
}

function breakageOf(error: Error): Breakage {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return { kind: 'refused', words: 'Connection refused.' };
  if (error.name === 'HTTPParserError') return { kind: 'not_http', words: `It speaks no HTTP: ${error.message}.` };
  if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code)) {
    return { kind: 'closed', words: `It closed the connection without an answer: ${error.message}.` };
  }
  return { kind: 'other', words: `${error.message}${code === '' ? '' : ` (${code})`}.` };
}
