// Keep-alive connections for load; reports when the bytes of each request go out and when its answer arrives.
//
//   ready      ████████ all in use     a request waits: the next answer of a quick target comes sooner than a new connection
//   10 ms on   ████████ ████░░░░       it still waits: a group more, up to the bound, unless this process is what it waits for
import { type Dispatcher, Pool } from 'undici';
import { Failure } from '../../core/schema/failure.js';
import { monotonicNowMs, pause } from '../../core/time/wall.js';

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

interface PoolSize {
  /** Opened as soon as they are needed. */
  readonly ready: number;
  /** At least `ready`. */
  readonly most: number;
}

export class HttpPool {
  connected = 0;
  mostConnected = 0;
  readonly #origins: readonly ReturnType<typeof originPool>[];
  #next = 0;

  constructor(
    readonly origin: string,
    { ready, most, also = [] }: PoolSize & { readonly also?: readonly string[] },
  ) {
    const origins = [origin, ...also];
    const each = (n: number) => Math.max(1, Math.floor(n / origins.length));
    const size = { ready: each(ready), most: each(most) };
    const counts = (by: 1 | -1) => {
      this.connected += by;
      this.mostConnected = Math.max(this.mostConnected, this.connected);
    };
    this.#origins = origins.map((one) => originPool(one, size, counts));
  }

  /** Sends as soon as a connection is free. @returns cancels: cuts the connection, and nothing more is reported */
  fire(request: PoolRequest, listener: RequestListener): () => void {
    const exchange = new Exchange(dispatched(request), listener);
    this.#turn().take(exchange);
    return () => exchange.cancel();
  }

  /** Requests that waited while as many connections as allowed were in use. */
  get waited(): number {
    return this.#origins.reduce((sum, { waited }) => sum + waited, 0);
  }

  /** Opens `n` of the ready connections by simultaneous requests. @throws Failure `node_unreachable` */
  async warm(n: number, request: PoolRequest, timeoutMs: number): Promise<void> {
    const asked = Array.from({ length: n }, async () => {
      const options = { ...dispatched(request), signal: AbortSignal.timeout(timeoutMs) };
      const { body } = await this.#turn().ready.request(options);
      await body.dump();
    });
    await Promise.all(asked).catch((error: Error) => {
      const isLate = error.name === 'TimeoutError';
      const why = isLate ? `It did not answer within ${timeoutMs / 1000} s.` : breakageOf(error).words;
      throw unreachableFailure(this.origin, why);
    });
  }

  #turn() {
    const pool = this.#origins[this.#next]!;
    this.#next = (this.#next + 1) % this.#origins.length;
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all(this.#origins.map((pool) => pool.close()));
  }
}

/** Connections of a further group, fewer than servers let wait to be accepted (511): beyond that a connection takes a second more. */
const GROUP = 128;
const PATIENCE_MS = 10;
/** Of the time. What waits for a process that computes would wait longer if it opened connections, too: at 13,000 requests/s by a second. */
const BUSY = 0.9;

interface Group {
  readonly pool: Pool;
  free: number;
}

function originPool(origin: string, { ready, most }: PoolSize, counts: (by: 1 | -1) => void) {
  let waited = 0;
  const groups: Group[] = [];
  const waiting: { readonly exchange: Exchange; readonly sinceMs: number }[] = [];
  let isOpening = false;
  let unopened = most;
  const add = (connections: number): void => {
    unopened -= connections;
    const pool = new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: LONGEST_REST_MS,
      keepAliveMaxTimeout: LONGEST_REST_MS,
      // The caller bounds the time, on the clock of the run.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pool.on('connect', () => counts(1));
    pool.on('disconnect', () => counts(-1));
    const group = { pool, free: connections };
    groups.push(group);
    while (group.free > 0 && waiting.length > 0) sendNext(group);
    if (unopened === 0) waited += waiting.length;
  };
  const open = async (): Promise<void> => {
    isOpening = true;
    while (waiting.length > 0 && unopened > 0) {
      const before = performance.eventLoopUtilization();
      await pause(PATIENCE_MS);
      if (performance.eventLoopUtilization(before).utilization > BUSY) continue;
      const [first] = waiting;
      if (first !== undefined && monotonicNowMs() - first.sinceMs >= PATIENCE_MS) add(Math.min(GROUP, unopened));
    }
    isOpening = false;
  };
  const sendNext = (group: Group): void => {
    let next = waiting.shift();
    while (next?.exchange.isOver === true) next = waiting.shift();
    if (next === undefined) return;
    group.free -= 1;
    next.exchange.sendBy(group.pool, () => {
      group.free += 1;
      sendNext(group);
    });
  };
  add(ready);
  return {
    ready: groups[0]!.pool,
    get waited() {
      return waited;
    },
    take(exchange: Exchange): void {
      waiting.push({ exchange, sinceMs: monotonicNowMs() });
      const group = groups.find(({ free }) => free > 0);
      if (group !== undefined) sendNext(group);
      else if (unopened === 0) waited += 1;
      else if (!isOpening) void open();
    },
    async close(): Promise<void> {
      waiting.length = 0;
      await Promise.all(groups.map(({ pool }) => pool.destroy()));
    },
  };
}

function dispatched({ method, path, headers = {}, body }: PoolRequest): Dispatcher.DispatchOptions {
  return { method, path, headers: { ...headers }, body: body ?? null };
}

export function unreachableFailure(origin: string, why: string): Failure {
  return new Failure('node_unreachable', {
    what: `${origin} could not be reached.`,
    why,
    fix: 'Start it, or check the address and the port.',
  });
}

const letGoOf = new Error('let go');

class Exchange implements Dispatcher.DispatchHandler {
  #onFree: () => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #fields: Fields = {};
  #body: Buffer | undefined;
  #bytes = 0;
  isOver = false;

  constructor(
    readonly options: Dispatcher.DispatchOptions,
    readonly listener: RequestListener,
  ) {}

  /** @param onFree called once, also if cancelled */
  sendBy(pool: Pool, onFree: () => void): void {
    this.#onFree = onFree;
    pool.dispatch(this.options, this);
  }

  cancel(): void {
    this.isOver = true;
    this.#controller?.abort(letGoOf);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(letGoOf);
    else this.listener.started();
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
    this.#onFree();
    if (this.isOver) return;
    this.isOver = true;
    const body = this.#body === undefined ? '' : this.#body.toString('utf8', 0, MOST_BODY);
    this.listener.answered({ status: this.#status, fields: this.#fields, body, bytes: this.#bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#onFree();
    if (this.isOver) return;
    this.isOver = true;
    this.listener.broke(breakageOf(error));
  }
}

export function breakageOf(error: Error): Breakage {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return { kind: 'refused', words: 'Connection refused.' };
  if (error.name === 'HTTPParserError') return { kind: 'not_http', words: `It speaks no HTTP: ${error.message}.` };
  if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code)) {
    return { kind: 'closed', words: `It closed the connection without an answer: ${error.message}.` };
  }
  if (code === 'EMFILE')
    return { kind: 'other', words: 'This process may open no more connections: raise `ulimit -n`.' };
  return { kind: 'other', words: `${error.message}${code === '' ? '' : ` (${code})`}.` };
}
