import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { temporaryFolder } from '../left-behind.js';
import { describeCounting } from '../suite/counting.js';
import { startRunning } from './running.js';

describeCounting('memory', async (cycleMs) => {
  const node = await startRunning({ cycleMs });
  return { nodes: [node], stop: () => node.close() };
});

describeCounting('SQLite', async (cycleMs) => {
  const onError = (error: unknown) => {
    throw error;
  };
  const ground = openStorage({ dir: temporaryFolder(), cycleMs, onError });
  const node = await startNode({ ...ground, signer: ground.identity.signer });
  return { nodes: [node], stop: () => node.close() };
});
