// The server that a program under test calls: a script answers each of its calls.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../../../core/schema/failure.js';
import { Rank } from '../../../core/time/rank.js';
import { type WallClock, wallNowMs } from '../../../core/time/wall.js';
import { type Call, type Reply, replyAt, type Script, type SeenAttempt } from './script.js';

export interface OpenCall {
  readonly script: Script;
  readonly method: string;
  readonly start: number;
  readonly place: number;
  readonly isFresh: boolean;
  readonly attempts: SeenAttempt[];
  waiting: number;
}

export type Foreign = 'TLS' | 'HTTP/2';

function foreignIn(packet: Buffer): Foreign | undefined {
  if (packet[0] === 0x16 && packet[1] === 0x03) return 'TLS';
  return packet.toString('latin1', 0, 14) === 'PRI * HTTP/2.0' ? 'HTTP/2' : undefined;
}

/** A new call; undefined: serves it without recording. */
type Assign = (segment: string, method: string) => OpenCall | undefined;

const callIds = ['amz-sdk-invocation-id', 'idempotency-key'];
/** Headers that count attempts, with their value in the first one. */
const firstAttempt: readonly (readonly [string, RegExp])[] = [
  ['x-stainless-retry-count', /^0$/],
  ['amz-sdk-request', /\battempt=1\b/],
];

export class ScriptedServer {
  readonly #server: Server;
  readonly #open = new Map<string, OpenCall>();
  /** Two attempts of one path overlapped without a header that identifies their calls. */
  isMixed = false;
  /** A path was called again after its call was served: calls that fail could not be separated. */
  isReused = false;
  /** What a connection began with that is no HTTP/1. */
  foreign: Foreign | undefined;

  constructor(
    readonly clock: WallClock,
    readonly assign: Assign,
  ) {
    this.#server = createServer((request, response) => this.#receive(request, response));
    this.#server.on('clientError', ({ rawPacket }: Error & { rawPacket?: Buffer }, socket) => {
      if (rawPacket !== undefined) this.foreign ??= foreignIn(rawPacket);
      socket.destroy();
    });
    // Closing a connection while a program waits would be another setback.
    this.#server.keepAliveTimeout = 3_600_000;
  }

  /** @throws Failure `port_in_use` */
  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'EADDRINUSE'
            ? new Failure('port_in_use', { what: `Port ${port} is in use.`, fix: 'Give another one with --port.' })
            : error,
        ),
      );
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const arrivedMs = this.clock.monotonicMs();
    const { url = '/', method = 'GET', headers } = request;
    const header = (name: string) => String(headers[name] ?? '');
    const id = callIds.map(header).find((value) => value !== '');
    const key = id ?? `${method} ${url}`;
    const isFirst = firstAttempt.some(([name, pattern]) => pattern.test(header(name)));
    let call = isFirst ? undefined : this.#open.get(key);
    if (id === undefined && (call?.waiting ?? 0) > 0) this.isMixed = true;
    const last = call?.attempts.at(-1);
    if (call === undefined || (last?.reply.status === 200 && !last.hungUp)) {
      this.isReused ||= call !== undefined && id === undefined;
      call = this.assign(url.split(/[/?]/)[1] ?? '', method);
      if (call === undefined) {
        answer(request, response, { status: 200 });
        return;
      }
      this.#open.set(key, call);
    }
    this.#play(call, arrivedMs, request, response);
  }

  forget(call: OpenCall): void {
    for (const [key, one] of this.#open) if (one === call) this.#open.delete(key);
  }

  #play(call: OpenCall, arrivedMs: number, request: IncomingMessage, response: ServerResponse): void {
    const reply = replyAt(call.script, call.attempts.length + call.waiting);
    call.waiting += 1;
    let isOver = false;
    const end = (hungUp: boolean) => {
      if (isOver) return;
      isOver = true;
      call.waiting -= 1;
      call.attempts.push({ arrivedMs, endedMs: this.clock.monotonicMs(), reply, hungUp });
    };
    response.on('close', () => end(true));
    request.resume();
    request.on('end', () => {
      const send = () => {
        if (isOver) return;
        end(false);
        answer(request, response, reply);
      };
      const heldMs = reply.heldMs ?? 0;
      if (heldMs === 0) send();
      else this.clock.agenda.at(this.clock.now() + heldMs, Rank.client, send);
    });
  }
}

function answer({ socket }: IncomingMessage, response: ServerResponse, { status, retryAfter }: Reply): void {
  if (status === 'reset') {
    socket.resetAndDestroy();
    return;
  }
  const { form, seconds } = retryAfter ?? {};
  const after = form === 'date' ? new Date(wallNowMs() + seconds! * 1000).toUTCString() : seconds;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(after === undefined ? {} : { 'retry-after': `${after}` }),
  });
  response.end('{}');
}

/** @param silentMs observed silence after its last attempt; Infinity if the program has ended */
export function seenCall({ waiting: _, ...call }: OpenCall, silentMs: number): Call {
  const last = call.attempts.at(-1)!;
  const isServed = last.reply.status === 200 && !last.hungUp;
  if (isServed || silentMs === Infinity)
    return { ...call, ending: isServed ? 'served' : 'given up', silentMs: Infinity };
  return { ...call, ending: 'silent', silentMs };
}
