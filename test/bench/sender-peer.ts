// Owns the target of the sender's bench, in a thread of its own.
import { parentPort } from 'node:worker_threads';
import { startLoopbackServer } from '../../src/harness/live/warm-up.js';

const { url } = await startLoopbackServer();
parentPort?.postMessage(url);
