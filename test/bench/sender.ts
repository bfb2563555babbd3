// Owns how well the paced sender keeps its schedule: every cycle's count, and how late requests go out. The target is the smallest
// HTTP server there is, in a thread of its own, so that it is the sender that is measured. Leaves measuring to measure.ts.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { connectTo } from '../../src/harness/live/connection.js';
import { runLive } from '../../src/harness/live/live-run.js';
import { pacedSender } from '../../src/harness/live/paced-sender.js';
import { warmUpSender } from '../../src/harness/live/warm-up.js';
import { oneByOne } from '../../src/harness/traffic/requests.js';
import { atMost, type BenchRow, beside } from './measure.js';

const CYCLE_MS = 777;
const PER_CYCLE = 10_000;
const CYCLES = 8;

/** What is asked for: at 10,000 requests a cycle, p99 of the send lag. */
const TARGET_LAG_MS = 20;

export async function benchSender(): Promise<BenchRow[]> {
  const server = new Worker(new URL('./sender-peer.js', import.meta.url));
  const [url] = (await once(server, 'message')) as [string];
  const connection = await connectTo(url, { cycleMs: CYCLE_MS });
  try {
    await warmUpSender();
    const run = (cycles: number) =>
      runLive(connection, {
        plan: planContract(rateLimiter({ threshold: 1_000_000_000 })),
        names: ['all'],
        cycles,
        drain: 1,
        target: { method: 'GET', path: '/' },
        sending: (stage) => pacedSender(scheduleOf(cycles), stage),
      });
    // The server is as cold as the sender was; it is not what is measured.
    await run(2);
    const seen = await run(CYCLES);
    const { requestLog, firstCycle } = seen;
    const exact = Array.from({ length: CYCLES }, (_, cycle) => requestLog.of(firstCycle + cycle)).filter(
      ({ planned, sent, answered }) => [planned, sent, answered.length].every((n) => n === PER_CYCLE),
    ).length;
    const lagMs = requestLog.latency.sendLag.quantileMs(0.99);
    const what = `paced sender: ${PER_CYCLE} requests a cycle`;
    const asked = beside(exact, 'the schedule', CYCLES, 1);
    const lag = atMost(TARGET_LAG_MS, lagMs, 'ms');
    const all = CYCLES * PER_CYCLE;
    return [
      { what: `${what}, cycles with the exact count`, value: exact, unit: `of ${CYCLES} cycles`, against: asked },
      { what: `${what}, p99 of the send lag`, value: lagMs, unit: 'ms', against: lag },
      { what: `${what}, answered in all`, value: requestLog.answered, unit: `of ${all}` },
    ];
  } finally {
    await connection.close();
    await server.terminate();
  }
}

const scheduleOf = (cycles: number) =>
  Array.from({ length: cycles }, (_, cycle) => oneByOne(cycle, new Uint32Array(PER_CYCLE)));
