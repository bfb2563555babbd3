// Owns the rehearsal of a generator: some thousand requests, sent, answered and taken down as in a run, to a server of its own that
// counts nothing. Leaves the run itself to live-run.ts.
//
//   cycle of 777 ms with 10,000 requests     first    second   third         what was sent of them in time: code that the engine has
//   without                                   19 %     93 %    100 %         not compiled yet takes five times as long
//
// A target cannot be warmed up with requests that count, and a service that is no node has no others.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { rateLimiter } from '../../core/contract/rate-limiter.js';
import { planContract } from '../../core/contract/validate.js';
import type { FindOperator } from '../../core/operator/operator.js';
import { connectTo } from './connection.js';
import { runLive } from './live-run.js';
import { PacedSender } from './paced-sender.js';

/** The rehearsal: cycles, their length in ms, and requests in each. */
const CYCLES = 12;
const CYCLE_MS = 40;
const PER_CYCLE = 500;

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok';
const END_OF_HEAD = '\r\n\r\n';

let rehearsed: Promise<void> | undefined;

/** Once in a process, however often it is asked for: what was compiled stays compiled. */
export function rehearse(findOperator: FindOperator, signal?: AbortSignal): Promise<void> {
  rehearsed ??= rehearsal(findOperator, signal);
  return rehearsed;
}

async function rehearsal(findOperator: FindOperator, signal: AbortSignal | undefined): Promise<void> {
  // While answers are slow, requests live long; the engine takes notice, and from then on allocates all of their kind among what is
  // old, where they stay until the next full collection: 3 kB a request, and pauses of 10 ms, eight a second, to move what hangs on
  // them. Told not to guess, it pauses for 3 ms.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const { port } = server.address() as AddressInfo;
    const connection = await connectTo(`http://127.0.0.1:${port}/`, { cycleMs: CYCLE_MS, signal });
    try {
      const planned = {
        n: PER_CYCLE,
        fractions: Float64Array.from({ length: PER_CYCLE }, (_, k) => (k + 0.5) / PER_CYCLE),
        contracts: new Uint32Array(PER_CYCLE),
      };
      await runLive(connection, {
        plan: planContract(rateLimiter(), findOperator),
        names: ['all'],
        phases: {},
        cycles: CYCLES,
        drain: 0,
        foreign: {},
        signal,
        sending: (stage) =>
          new PacedSender({
            ...stage,
            schedule: { cycles: CYCLES, at: () => planned },
            pacing: 'steady',
            launch: (contract, atMs) => stage.flights.launch(contract, atMs),
          }),
      });
    } finally {
      await connection.close();
    }
  } finally {
    await closed(server);
  }
}

/** Answers as many requests as their heads have arrived; none of them has a body. */
function answer(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let heads = 0;
    for (let at = chunk.indexOf(END_OF_HEAD); at >= 0; at = chunk.indexOf(END_OF_HEAD, at + 4)) heads += 1;
    if (heads > 0) socket.write(ANSWER.repeat(heads));
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
