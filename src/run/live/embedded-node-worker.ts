// Owns the thread of embedded-node.ts: a node, started when the thread is, closed when it is told to.
import { parentPort, workerData } from 'node:worker_threads';
import { WallClock } from '../../clock/wall.js';
import { assert } from '../../core/failure.js';
import { generateSigner } from '../../core/record/signing.js';
import { startNode } from '../../node/node.js';
import { openSqliteStore } from '../../store/sqlite.js';
import type { EmbeddedNodeMessage, EmbeddedNodeTask } from './embedded-node.js';

const port = parentPort;
assert(port !== null, 'embedded-node-worker.ts runs as a thread');
const tell = (message: EmbeddedNodeMessage) => port.postMessage(message);
const { cycleMs, dir } = workerData as EmbeddedNodeTask;

try {
  const store = openSqliteStore({ dir });
  const clock = new WallClock(cycleMs, {
    onError: (error) => {
      throw error;
    },
  });
  const node = await startNode({ store, credentials: store.credentials, clock, signer: generateSigner() });
  port.once('message', async () => {
    await node.close();
    port.close();
  });
  tell({ url: node.url });
} catch (error) {
  tell({ error: error instanceof Error ? error.message : String(error) });
}
