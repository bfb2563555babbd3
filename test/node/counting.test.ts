import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { afterTest, temporaryFolder } from '../left-behind.js';
import { describeCounting } from '../suite/counting.js';
import { startRunning } from './running.js';

describeCounting('memory', async (cycleMs) => [await startRunning({ cycleMs })]);

describeCounting('SQLite', async (cycleMs) => {
  const onError = (error: unknown) => {
    throw error;
  };
  const ground = openStorage({ dir: temporaryFolder(), cycleMs, onError });
  const node = await startNode({ ...ground, signer: ground.identity.signer });
  afterTest(node.close);
  return [node];
});
