// Senders and readers that are too slow to be served hold a node up nowhere: they are cut, and whoever behaves is answered all the while.
import { expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { isAll } from '../draws.js';
import { figureIn, metricsOf } from './asking.js';
import { inTurn } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { Raw } from './raw.js';

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
    const begin = first.replace('KEY', owner.key);
    const slow = await inTurn(Array(isDeaf ? DEAF : EACH).keys(), () => slowClient(begin, drip, isDeaf));
    let areThere = true;
    const [beside] = await Promise.all([goodClients(() => !areThere), gone().then(() => (areThere = false))]);
    for (const client of slow) client.socket.resume();
    await Promise.all(slow.map((client) => client.ended()));
    process.stdout.write(`beside slow clients (${name}): ${JSON.stringify(beside)}\n`);
    expect([...new Set(slow.map(({ statuses }) => statuses[0]))]).toEqual([status]);
    expect({ refused: beside.refused, errors: node.errors }).toEqual({ refused: 0, errors: [] });
    // Answered while the slow ones were there, and not only once they were gone.
    expect(beside.answered).toBeGreaterThan(0);
  },
);

/** Resolves when no more connections are open than good clients have. */
async function gone(): Promise<void> {
  for (;;) {
    if (figureIn(await metricsOf(node.url), 'weir_connections') <= GOOD) return;
    await pause(50);
  }
}

/** Sends the beginning of something, and goes on a little at a time; one that is deaf reads the beginning of the answer alone. */
async function slowClient(first: string, drip: string, isDeaf: boolean): Promise<Raw> {
  const raw = await Raw.on(node.url);
  if (first !== '') raw.send(first);
  const dripping = drip === '' ? undefined : setInterval(() => raw.socket.writable && raw.send(drip), DRIP_MS);
  raw.socket.once('close', () => clearInterval(dripping));
  if (isDeaf) raw.socket.once('data', () => raw.socket.pause());
  return raw;
}

/** Clients that ask one thing after the other, until it is over: what was answered before, and how long the slowest took. */
async function goodClients(isOver: () => boolean) {
  const found = { answered: 0, refused: 0, longestMs: 0 };
  const client = async () => {
    while (!isOver()) {
      const begin = performance.now();
      const { status } = await owner.post('/api/chain/long/event', { type: 'request' });
      found.longestMs = Math.max(found.longestMs, Math.round(performance.now() - begin));
      if (status !== 200) found.refused += 1;
      if (!isOver()) found.answered += 1;
    }
  };
  await Promise.all([client(), client()]);
  return found;
}
