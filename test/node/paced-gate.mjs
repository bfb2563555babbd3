// Asks a gate every few ms, in a thread of its own: what the test does besides delays no request of the victim. A message begins a phase;
// when it is over, how many requests were not decided is sent back.
import { Agent, get } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { gate, key, phaseMs, paceMs, mostWaiting } = workerData;
const agent = new Agent({ keepAlive: true });
let undecided = 0;

function ask() {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'x-sent': String(process.hrtime.bigint()) };
    const lost = () => {
      undecided += 1;
      resolve();
    };
    get(gate, { agent, headers }, (answer) => {
      if (answer.statusCode !== 200 && answer.statusCode !== 429) undecided += 1;
      answer.resume().on('close', resolve);
    }).on('error', lost);
  });
}

parentPort.on('message', async () => {
  undecided = 0;
  const waiting = new Set();
  for (const until = performance.now() + phaseMs; performance.now() < until; ) {
    if (waiting.size < mostWaiting) {
      const asked = ask().then(() => waiting.delete(asked));
      waiting.add(asked);
    }
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
  await Promise.all(waiting);
  parentPort.postMessage(undecided);
});
