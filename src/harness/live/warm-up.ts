// Warms up the generator with a short run against a loopback server that always sends the same bytes: uncompiled code sends its first burst late.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { rateLimiter } from '../../core/limiter/rate-limiter.js';
import { planContract } from '../../core/limiter/validate.js';
import { oneByOne } from '../traffic/requests.js';
import { connectTo } from './connection.js';
import { runLive } from './live-run.js';
import { pacedSender } from './paced-sender.js';

const CYCLES = 12;
const CYCLE_MS = 40;
const PER_CYCLE = 500;
/** Both ends are of this process: as many as it may open would leave no files for the run. */
const CONNECTIONS = 128;

let warmed: Promise<void> | undefined;

/** Once per process. Never fails: the run that counts will report the same error. */
export function warmUpSender(signal?: AbortSignal): Promise<void> {
  warmed ??= run(signal).catch(() => {});
  return warmed;
}

async function run(signal: AbortSignal | undefined): Promise<void> {
  const server = await startLoopbackServer();
  try {
    const connection = await connectTo(server.url, { cycleMs: CYCLE_MS, connections: CONNECTIONS, signal });
    try {
      const schedule = Array.from({ length: CYCLES }, (_, cycle) => oneByOne(cycle, new Uint32Array(PER_CYCLE)));
      await runLive(connection, {
        plan: planContract(rateLimiter()),
        names: ['all'],
        cycles: CYCLES,
        drain: 0,
        signal,
        sending: (stage) => pacedSender(schedule, stage, true),
      });
    } finally {
      await connection.close();
    }
  } finally {
    await server.close();
  }
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok';
const END_OF_HEAD = '\r\n\r\n';

/** Closing it cuts its connections. */
export async function startLoopbackServer() {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    answer(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function answer(socket: Socket): void {
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    let heads = 0;
    for (let at = chunk.indexOf(END_OF_HEAD); at >= 0; at = chunk.indexOf(END_OF_HEAD, at + 4)) heads += 1;
    if (heads > 0) socket.write(ANSWER.repeat(heads));
  });
}
