// Owns the target of the sender's bench, in a thread of its own.
import { parentPort } from 'node:worker_threads';
import { startAnswering } from '../../src/live/answering.js';

const { url } = await startAnswering();
parentPort?.postMessage(url);
