import { MemoryStore } from '../../../src/node/store/memory.js';
import { describeStore } from '../../suite/store.js';

describeStore(
  'memory',
  async () => {
    let failing = false;
    return {
      store: new MemoryStore({ failCommits: () => failing }),
      failCommits: () => {
        failing = true;
      },
      cleanup: async () => {},
    };
  },
  { durable: false },
);
