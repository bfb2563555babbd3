// The client libraries themselves, one call each, and a local server that refuses by a script. Their waits pass in no time: timers
// and clock are faked, and move on to the next timer whenever no request is in flight.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as realWait, setImmediate as turn } from 'node:timers/promises';
import { vi } from 'vitest';

/** What the server does with an attempt: a status, a reset, or a status with Retry-After in seconds. */
export type Refusal = number | 'reset' | { readonly status: number; readonly retryAfter: number };

/** Calls a URL once, with the retries of the library. Rejects or resolves as the library does. */
export type Call = (url: string) => Promise<unknown>;

export class RefusingServer {
  readonly #server: Server;
  readonly atMs: number[] = [];
  #inFlight = 0;
  #refusal: Refusal = 503;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.atMs.push(Date.now());
      this.#inFlight += 1;
      response.on('close', () => {
        this.#inFlight -= 1;
      });
      request.resume();
      request.on('end', () => {
        const refusal = this.#refusal;
        if (refusal === 'reset') return request.socket.destroy();
        const status = typeof refusal === 'number' ? refusal : refusal.status;
        const told = typeof refusal === 'number' ? {} : { 'retry-after': String(refusal.retryAfter) };
        return response
          .writeHead(status, { 'content-type': 'application/json', connection: 'close', ...told })
          .end('{}');
      });
    });
  }

  static async listen(): Promise<RefusingServer> {
    const server = new RefusingServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The waits between the attempts of one call, in ms of the faked clock. */
  async waits(call: Call, refusal: Refusal): Promise<number[]> {
    this.refuse(refusal);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 1_700_000_000_000 });
    try {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      call(this.url).then(over, over);
      while (!isOver) {
        await this.#quiet();
        if (!isOver) vi.advanceTimersToNextTimer();
      }
    } finally {
      vi.useRealTimers();
    }
    return this.gaps;
  }

  /** Begins anew with this refusal. */
  refuse(refusal: Refusal): void {
    this.#refusal = refusal;
    this.atMs.length = 0;
  }

  get gaps(): number[] {
    return this.atMs.slice(1).map((ms, n) => ms - this.atMs[n]!);
  }

  /** Until nothing is in flight, and the library has had time to go on. */
  async #quiet(): Promise<void> {
    for (let still = 0, seen = -1; still < 3; ) {
      await realWait(4);
      await turn();
      still = this.#inFlight === 0 && this.atMs.length === seen ? still + 1 : 0;
      seen = this.atMs.length;
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
