// Asks a gate every few ms, in a thread of its own: what the test does besides delays no request of the victim. A message begins a phase,
// and is sent back when it is over.
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { gate, key, phaseMs, paceMs, mostWaiting } = workerData;
const agent = new Agent({ keepAlive: true });

function ask() {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'x-sent': String(process.hrtime.bigint()) };
    get(gate, { agent, headers }, (answer) => answer.resume().on('close', resolve)).on('error', resolve);
  });
}

parentPort.on('message', async (message) => {
  const waiting = new Set();
  for (const until = performance.now() + phaseMs; performance.now() < until; ) {
    if (waiting.size < mostWaiting) {
      const asked = ask().then(() => waiting.delete(asked));
      waiting.add(asked);
    }
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
  await Promise.all(waiting);
  parentPort.postMessage(message);
});
