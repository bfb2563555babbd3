// How many requests a turn of the loop takes: a few of each connection, so that others do not wait for all that one client pipelines; and a
// few of those without a credential, over all connections: 500 strangers who ask at once would be a turn of 80 ms.
//
//   connection a   a1 a2 … a8 │ a9 … a16 │ a17 …       64 KB at once are 400 gates: some 40 ms in one go
//   connection b   b1         │ b2       │
//   strangers      c1 … j1    │ k1 … r1  │ s1 …
//                    turn         turn
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Overload, SUPERVISES } from './overload.js';

const AT_ONCE = 8;
/** Requests without a credential that wait: a third of a second of work. */
const MOST_STRANGERS = 2_048;

interface Pipeline {
  handled: number;
  turn: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  isRefused: boolean;
}

/** On the socket itself: every request looks it up. */
interface PipelinedSocket extends Socket {
  pipeline?: Pipeline;
}

export class Pipelines {
  readonly #overload: Pick<Overload, 'turn' | 'refuse'>;
  readonly #mostWaiting: number;

  /** @param mostWaiting requests per connection: the next one is refused, and the connection closed */
  constructor(overload: Pick<Overload, 'turn' | 'refuse'>, mostWaiting: number) {
    this.#overload = overload;
    this.#mostWaiting = mostWaiting;
  }

  /** For an answer that closes the connection: requests pipelined behind it are dropped. */
  endWith(request: IncomingMessage): void {
    const { pipeline }: PipelinedSocket = request.socket;
    if (pipeline === undefined) return;
    pipeline.isRefused = true;
    pipeline.waiting.length = 0;
  }

  before(next: RequestListener): RequestListener {
    const strangers = newPipeline();
    const ofStrangers = this.#inTurns(() => strangers, MOST_STRANGERS, next);
    return this.#inTurns(pipelineOf, this.#mostWaiting, (request, response) => {
      if (isStranger(request)) ofStrangers(request, response);
      else next(request, response);
    });
  }

  #inTurns(lineOf: typeof pipelineOf, mostWaiting: number, next: RequestListener): RequestListener {
    const handOver = (line: Pipeline) => {
      const some = line.waiting.splice(0, AT_ONCE);
      line.turn = this.#overload.turn.count();
      line.handled = some.length;
      for (const [request, response] of some) if (!request.socket.destroyed) next(request, response);
      if (line.waiting.length > 0) setImmediate(handOver, line);
    };
    return (request, response) => {
      if (pipelineOf(request).isRefused) return;
      const line = lineOf(request);
      const turn = this.#overload.turn.count();
      if (line.turn !== turn) {
        line.turn = turn;
        line.handled = 0;
      }
      if (line.waiting.length === 0 && line.handled < AT_ONCE) {
        line.handled += 1;
        next(request, response);
      } else if (line.waiting.length < mostWaiting) {
        if (line.waiting.length === 0) setImmediate(handOver, line);
        line.waiting.push([request, response]);
      } else {
        pipelineOf(request).isRefused = true;
        this.#overload.refuse(request, response, true);
      }
    };
  }
}

const newPipeline = (): Pipeline => ({ handled: 0, turn: 0, waiting: [], isRefused: false });

function pipelineOf(request: IncomingMessage): Pipeline {
  const socket: PipelinedSocket = request.socket;
  socket.pipeline ??= newPipeline();
  return socket.pipeline;
}

function isStranger({ headers, url = '' }: IncomingMessage): boolean {
  return headers.authorization === undefined && headers.cookie === undefined && !SUPERVISES.test(url);
}
