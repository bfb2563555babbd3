// How many requests a turn of the loop takes: a few of each connection, so that others do not wait for all that one client pipelines; and a
// few of strangers, over all connections without a valid credential: 500 of them at once would be a turn of 80 ms.
//
//   connection a   a1 a2 … a8 │ a9 … a16 │ a17 …       64 KB at once are 400 gates: some 40 ms in one go
//   connection b   b1         │ b2       │
//   strangers      c1 … j1    │ k1 … r1  │ s1 …
//                    turn         turn
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Overload, SUPERVISES } from './overload.js';

const AT_ONCE = 8;
/** Requests of strangers that wait: a third of a second of work. */
const MOST_STRANGERS = 2_048;

interface Pipeline {
  handled: number;
  turn: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  isRefused: boolean;
  /** Whether a request on it came with a valid credential. */
  isKnown: boolean;
  /** Its requests that wait among those of strangers: what comes after them waits behind them. */
  amongStrangers: number;
}

/** On the socket itself: every request looks it up. */
interface PipelinedSocket extends Socket {
  pipeline?: Pipeline;
}

/** @param mostWaiting requests per connection: the next one is refused, and the connection closed */
export function inTurns(
  overload: Pick<Overload, 'turn' | 'refuse'>,
  mostWaiting: number,
  next: RequestListener,
): RequestListener {
  const inLine = (lineOf: typeof pipelineOf, most: number, then: RequestListener): RequestListener => {
    const handOver = (line: Pipeline) => {
      const some = line.waiting.splice(0, AT_ONCE);
      line.turn = overload.turn.count();
      line.handled = some.length;
      for (const [request, response] of some) if (request.socket.writable) then(request, response);
      if (line.waiting.length > 0) setImmediate(handOver, line);
    };
    return (request, response) => {
      const line = lineOf(request);
      const turn = overload.turn.count();
      if (line.turn !== turn) {
        line.turn = turn;
        line.handled = 0;
      }
      if (line.waiting.length === 0 && line.handled < AT_ONCE) {
        line.handled += 1;
        then(request, response);
      } else if (line.waiting.length < most) {
        if (line.waiting.length === 0) setImmediate(handOver, line);
        line.waiting.push([request, response]);
      } else {
        pipelineOf(request).isRefused = true;
        overload.refuse(request, response, true);
      }
    };
  };
  const strangers = newPipeline();
  const ofStrangers = inLine(
    () => strangers,
    MOST_STRANGERS,
    (request, response) => {
      pipelineOf(request).amongStrangers -= 1;
      next(request, response);
    },
  );
  const ofConnection = inLine(pipelineOf, mostWaiting, (request, response) => {
    const pipeline = pipelineOf(request);
    if ((pipeline.isKnown && pipeline.amongStrangers === 0) || SUPERVISES.test(request.url ?? ''))
      return next(request, response);
    pipeline.amongStrangers += 1;
    ofStrangers(request, response);
  });
  return (request, response) => {
    if (!pipelineOf(request).isRefused) ofConnection(request, response);
  };
}

/** For an answer that closes the connection: requests pipelined behind it are dropped. */
export function endPipeline(request: IncomingMessage): void {
  const pipeline = pipelineOf(request);
  pipeline.isRefused = true;
  pipeline.waiting.length = 0;
}

export function pipelineOf(request: IncomingMessage): Pipeline {
  const socket: PipelinedSocket = request.socket;
  socket.pipeline ??= newPipeline();
  return socket.pipeline;
}

function newPipeline(): Pipeline {
  return { handled: 0, turn: 0, waiting: [], isRefused: false, isKnown: false, amongStrangers: 0 };
}
