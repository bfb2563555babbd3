import { MemoryStore } from '../../../src/node/store/memory.js';
import { describeStore } from '../../suite/store.js';

describeStore('memory', async () => ({ store: new MemoryStore(), cleanup: async () => {} }), { durable: false });
