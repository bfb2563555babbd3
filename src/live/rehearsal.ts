// Owns the rehearsal of a generator: some thousand requests, sent, answered and taken down as in a run, to a server of its own that
// counts nothing. Leaves the run itself to live-run.ts.
//
//   cycle of 777 ms with 10,000 requests     first    second   third         what was sent of them in time: code that the engine has
//   without                                   19 %     93 %    100 %         not compiled yet takes five times as long
//
// A target cannot be warmed up with requests that count, and a service that is no node has no others.
import { setFlagsFromString } from 'node:v8';
import { rateLimiter } from '../limiter/rate-limiter.js';
import { planContract } from '../limiter/validate.js';
import { startAnswering } from './answering.js';
import { connectTo } from './connection.js';
import { runLive } from './live-run.js';
import { pacedSending } from './paced-sender.js';
import { evenly } from './schedule.js';

/** The rehearsal: cycles, their length in ms, and requests in each. */
const CYCLES = 12;
const CYCLE_MS = 40;
const PER_CYCLE = 500;

let rehearsed: Promise<void> | undefined;

/**
 * Once in a process, however often it is asked for: what was compiled stays compiled. It never fails: what does not work here does not
 * work in the run that counts, and is told there.
 */
export function rehearse(signal?: AbortSignal): Promise<void> {
  rehearsed ??= rehearsal(signal).catch(() => {});
  return rehearsed;
}

async function rehearsal(signal: AbortSignal | undefined): Promise<void> {
  // While answers are slow, requests live long; the engine takes notice, and from then on allocates all of their kind among what is
  // old, where they stay until the next full collection: 3 kB a request, and pauses of 10 ms, eight a second, to move what hangs on
  // them. Told not to guess, it pauses for 3 ms.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const server = await startAnswering();
  try {
    const connection = await connectTo(server.url, { cycleMs: CYCLE_MS, signal });
    try {
      const planned = evenly(new Uint32Array(PER_CYCLE));
      await runLive(connection, {
        plan: planContract(rateLimiter()),
        names: ['all'],
        phases: {},
        cycles: CYCLES,
        drain: 0,
        foreign: {},
        signal,
        sending: (stage) => pacedSending({ cycles: CYCLES, at: () => planned }, stage, 'steady'),
      });
    } finally {
      await connection.close();
    }
  } finally {
    await server.close();
  }
}
