import type { Limits } from '../../src/node/limits.js';
import { createNodeContext } from '../../src/node/node-context.js';
import { openStorage } from '../../src/node/node-storage.js';
import { temporaryFolder } from '../left-behind.js';
import { CYCLE_MS, describeRegistry, onError, type RegistryUnderTest, surface } from '../suite/registry.js';

async function local(limits: Partial<Limits>, dir?: string): Promise<RegistryUnderTest> {
  const ground = openStorage({ dir, cycleMs: CYCLE_MS, onError });
  ground.clock.start();
  const context = createNodeContext({ ...ground, signer: ground.identity.signer, limits }, surface);
  return {
    context,
    async close() {
      ground.clock.stop();
      context.registry.close();
    },
  };
}

describeRegistry('in memory', (limits) => local(limits));
describeRegistry('on SQLite', (limits) => local(limits, temporaryFolder()));
