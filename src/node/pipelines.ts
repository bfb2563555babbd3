// Requests that a client sends on one connection without waiting for answers: some of each connection in a turn of the loop, so that nobody
// waits for all that one client has sent at once.
//
//   connection a   a1 a2 … a8 │ a9 … a16 │ a17 …       64 KB that come together are 400 gates: some 40 ms in one go
//   connection b   b1         │ b2       │
//                    turn         turn
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that are handled in one turn. */
const AT_ONCE = 8;

interface Pipeline {
  handled: number;
  turn: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  isRefused: boolean;
}

export class Pipelines {
  readonly #mostWaiting: number;
  readonly #refuse: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #bySocket = new WeakMap<Socket, Pipeline>();
  readonly #behind = new Map<Socket, Pipeline>();
  #turn = 0;
  #isInTurn = false;

  /** @param mostWaiting requests of a connection; one more is the last of it @param refuse answers that one, and closes the connection */
  constructor(mostWaiting: number, refuse: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#mostWaiting = mostWaiting;
    this.#refuse = refuse;
  }

  before(next: RequestListener): RequestListener {
    const handOver = () => {
      this.#isInTurn = false;
      this.#turn += 1;
      for (const [socket, pipeline] of this.#behind) {
        const { waiting } = pipeline;
        const some = waiting.splice(0, AT_ONCE);
        pipeline.turn = this.#turn;
        pipeline.handled = some.length;
        if (waiting.length === 0) this.#behind.delete(socket);
        if (!socket.destroyed) for (const [request, response] of some) next(request, response);
      }
      if (this.#behind.size > 0) this.#enter(handOver);
    };
    return (request, response) => {
      const { socket } = request;
      const pipeline = this.#of(socket);
      if (pipeline.isRefused) return;
      this.#enter(handOver);
      if (pipeline.turn !== this.#turn) {
        pipeline.turn = this.#turn;
        pipeline.handled = 0;
      }
      const { waiting } = pipeline;
      if (waiting.length === 0 && pipeline.handled < AT_ONCE) {
        pipeline.handled += 1;
        next(request, response);
      } else if (waiting.length < this.#mostWaiting) {
        waiting.push([request, response]);
        this.#behind.set(socket, pipeline);
      } else {
        pipeline.isRefused = true;
        this.#refuse(request, response);
      }
    };
  }

  #enter(end: () => void): void {
    if (this.#isInTurn) return;
    this.#isInTurn = true;
    setImmediate(end);
  }

  #of(socket: Socket): Pipeline {
    let pipeline = this.#bySocket.get(socket);
    if (pipeline === undefined) {
      pipeline = { handled: 0, turn: this.#turn, waiting: [], isRefused: false };
      this.#bySocket.set(socket, pipeline);
    }
    return pipeline;
  }
}
