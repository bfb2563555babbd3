// Senders and readers that are too slow to be served hold a node up nowhere: they are cut, and whoever behaves is answered all the while.
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { nearestRank } from '../../src/core/math/nearest-rank.js';
import { pause } from '../../src/core/time/wall.js';
import { isAll } from '../draws.js';
import { figureIn, metricsOf } from './asking.js';
import { nodeOfFile } from './node-of-file.js';

const EACH = 100;
/** Each of these is sent as much as fits between the two: some megabytes, which cost the node most of the time that the test takes. */
const DEAF = isAll ? 30 : 12;
/** What good clients have open: one each, one for figures, and some that are closing. */
const GOOD = 5;
const DRIP_MS = 40;
/** More than all buffers between two programs of one machine hold. */
const ROWS = 12_000;

const node = await nodeOfFile({
  limits: {
    headersTimeoutMs: 1_500,
    requestTimeoutMs: 2_400,
    connectionsCheckMs: 50,
    // Longer than a busy machine takes to the first byte of an export: who is cut must have been answered before.
    idleTimeoutMs: 6_000,
    keepAliveTimeoutMs: 900,
  },
});
const owner = node.owner();
await owner.contractOn('long', {}, true);
const [contract] = node.host.machines.get('long')?.contracts ?? [];
for (let row = 0; row < ROWS && contract !== undefined; row += 1) {
  node.host.transition(contract, { to: row % 2 === 0 ? 'limiting' : 'allowing', holdCycles: 1_000 });
}

const EVENT =
  'POST /api/chain/long/event HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer KEY\r\n';

// biome-ignore format: one case a line
it.each([
  ['senders of a head, a little at a time', 'GET /api/clock HTTP/1.1\r\nHost: localhost\r\n', 'X: 1\r\n', 408],
  ['senders of a body, a byte at a time', `${EVENT}Content-Length: 900\r\n\r\n`, ' ', 408],
  ['senders of a body of no length', `${EVENT}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n', 408],
  ['those that say nothing', '', '', 408],
  ['those that say no more', 'GET /api/clock HTTP/1.1\r\nHost: localhost\r\n\r\n', '', 200],
  ['those that do not read', 'GET /api/chain/long/state?format=ndjson HTTP/1.1\r\nHost: localhost\r\n\r\n', '', 200, true],
])(
  'slow clients are cut, good ones are answered meanwhile: %s',
  async (name, first, drip, status, isDeaf = false) => {
    const alone = await goodClients((answered) => answered >= 200);
    const slow = Array.from(
      { length: isDeaf ? DEAF : EACH },
      () => new SlowClient(node.url, first.replace('KEY', owner.key), drip, isDeaf),
    );
    await Promise.all(slow.map(({ connected }) => connected));
    let areThere = true;
    const [beside] = await Promise.all([goodClients(() => !areThere), gone().then(() => (areThere = false))]);
    for (const client of slow) client.listen();
    await Promise.all(slow.map(({ ended }) => ended));
    process.stdout.write(`beside slow clients (${name}): ${beside.words}; alone: ${alone.words}\n`);
    expect([...new Set(slow.map(({ told }) => told))]).toEqual([status]);
    expect({ refused: beside.refused, errors: node.errors }).toEqual({ refused: 0, errors: [] });
    // Answered while the slow ones were there, and not only once they were gone.
    expect(beside.answeredMeanwhile).toBeGreaterThan(0);
  },
);

/** Resolves when no more connections are open than good clients have. */
async function gone(): Promise<void> {
  for (;;) {
    if (figureIn(await metricsOf(node.url), 'weir_connections') <= GOOD) return;
    await pause(50);
  }
}

/** Sends the beginning of something, goes on a little at a time, and reads what it is told at once, or when it is made to. */
class SlowClient {
  readonly connected: Promise<void>;
  readonly ended: Promise<void>;
  #text = '';
  readonly #socket: Socket;

  constructor(url: string, first: string, drip: string, isDeaf: boolean) {
    this.#socket = connect(Number(new URL(url).port), '127.0.0.1');
    const socket = this.#socket;
    this.connected = new Promise((resolve) => socket.once('connect', resolve));
    const dripping = drip === '' ? undefined : setInterval(() => socket.writable && socket.write(drip), DRIP_MS);
    this.ended = new Promise((resolve) => socket.once('close', () => resolve(clearInterval(dripping))));
    socket.on('error', () => {});
    if (first !== '') socket.write(first);
    // Who does not read has read the beginning of the answer.
    if (isDeaf) {
      socket.once('data', (data) => {
        this.#text = data.toString('latin1').slice(0, 1_000);
        socket.pause();
      });
    } else this.listen();
  }

  /** The status that it was told. */
  get told(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.#text)?.[1]);
  }

  listen(): void {
    this.#socket.on('data', (data) => (this.#text = (this.#text + data.toString('latin1')).slice(0, 1_000)));
    this.#socket.resume();
  }
}

interface Answered {
  readonly answered: number;
  /** Of these, before it was over: the last one of each client may come after. */
  readonly answeredMeanwhile: number;
  readonly refused: number;
  /** What they took, in words. */
  readonly words: string;
}

/** Clients that ask one thing after the other, until it is over. */
async function goodClients(isOver: (answered: number) => boolean): Promise<Answered> {
  const took: number[] = [];
  let refused = 0;
  let answeredMeanwhile = 0;
  const client = async () => {
    while (!isOver(took.length)) {
      const begin = performance.now();
      const { status } = await owner.post('/api/chain/long/event', { type: 'request' });
      took.push(performance.now() - begin);
      if (status !== 200) refused += 1;
      if (!isOver(took.length)) answeredMeanwhile += 1;
    }
  };
  await Promise.all([client(), client()]);
  took.sort((a, b) => a - b);
  const at = (p: number) => nearestRank(took, p)?.toFixed(1);
  return {
    answered: took.length,
    answeredMeanwhile,
    refused,
    words: `${took.length} answers in ${at(0.5)} ms each, ${at(0.99)} ms at p99`,
  };
}
