// The thread of live/embedded-node.ts: starts and warms up a node, and closes it on a message.
import { parentPort, workerData } from 'node:worker_threads';
import { rateLimiter } from '../core/limiter/rate-limiter.js';
import { planContract } from '../core/limiter/validate.js';
import { generateSigner } from '../core/record/signing.js';
import { assert } from '../core/schema/failure.js';
import { WallClock } from '../core/time/wall.js';
import { connectTo, warmUp } from '../harness/live/connection.js';
import { type EmbeddedNodeMessage, type EmbeddedNodeTask, startFailure } from '../harness/live/embedded-node.js';
import { WeirTarget } from '../harness/live/weir-target.js';
import { startNode } from '../node/node.js';
import { openSqliteStore } from '../node/store/sqlite.js';

const port = parentPort;
assert(port !== null, 'embedded-node-worker.ts runs as a thread');
const post = (message: EmbeddedNodeMessage) => port.postMessage(message);
const { cycleMs, dir } = workerData as EmbeddedNodeTask;

try {
  const store = openSqliteStore({ dir });
  const clock = new WallClock(cycleMs);
  const node = await startNode({ store, credentials: store.credentials, clock, signer: generateSigner() });
  port.once('message', async () => {
    await node.close();
    port.close();
  });
  await warmUpAt(node.url);
  post({ url: node.url });
} catch (error) {
  const { code, what, why, fix } = startFailure(error);
  post({ failure: { code, what, why, fix } });
}

/** Uses a gate of its own that opens and shuts all the time, so that deciding, moving and recording get compiled. */
async function warmUpAt(url: string): Promise<void> {
  const plan = planContract(rateLimiter({ threshold: 64, within: 2 }));
  const connection = await connectTo(url, { cycleMs: undefined });
  try {
    const target = await WeirTarget.prepare(connection, { plan, names: ['all'] });
    await warmUp(connection, target!.request(0));
  } finally {
    await connection.close();
  }
}
