// Pipelined requests: a few of each connection per turn of the loop, so that others do not wait for all that one client sends at once.
//
//   connection a   a1 a2 … a8 │ a9 … a16 │ a17 …       64 KB at once are 400 gates: some 40 ms in one go
//   connection b   b1         │ b2       │
//                    turn         turn
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { LoopTurn } from '../core/time/loop-turn.js';

const AT_ONCE = 8;

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
  readonly #turn: LoopTurn;
  readonly #mostWaiting: number;
  readonly #refuse: (request: IncomingMessage, response: ServerResponse) => void;

  /** @param mostWaiting requests per connection @param refuse answers the next one, and closes the connection */
  constructor(
    turn: LoopTurn,
    mostWaiting: number,
    refuse: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    this.#turn = turn;
    this.#mostWaiting = mostWaiting;
    this.#refuse = refuse;
  }

  /** For an answer that closes the connection: requests pipelined behind it are dropped. */
  endWith(request: IncomingMessage): void {
    const { pipeline }: PipelinedSocket = request.socket;
    if (pipeline === undefined) return;
    pipeline.isRefused = true;
    pipeline.waiting.length = 0;
  }

  before(next: RequestListener): RequestListener {
    const handOver = (socket: Socket, pipeline: Pipeline) => {
      const some = pipeline.waiting.splice(0, AT_ONCE);
      pipeline.turn = this.#turn.count();
      pipeline.handled = some.length;
      if (!socket.destroyed) for (const [request, response] of some) next(request, response);
      if (pipeline.waiting.length > 0) setImmediate(handOver, socket, pipeline);
    };
    return (request, response) => {
      const socket: PipelinedSocket = request.socket;
      socket.pipeline ??= { handled: 0, turn: 0, waiting: [], isRefused: false };
      const { pipeline } = socket;
      if (pipeline.isRefused) return;
      const turn = this.#turn.count();
      if (pipeline.turn !== turn) {
        pipeline.turn = turn;
        pipeline.handled = 0;
      }
      const { waiting } = pipeline;
      if (waiting.length === 0 && pipeline.handled < AT_ONCE) {
        pipeline.handled += 1;
        next(request, response);
      } else if (waiting.length < this.#mostWaiting) {
        if (waiting.length === 0) setImmediate(handOver, socket, pipeline);
        waiting.push([request, response]);
      } else {
        pipeline.isRefused = true;
        this.#refuse(request, response);
      }
    };
  }
}
