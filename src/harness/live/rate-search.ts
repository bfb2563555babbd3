// Searches the highest rate at which a node still answers in time: paced trials, then bisection between the last rate that held and the
// first that did not.
import type { Plan } from '../../core/limiter/plan.js';
import { exact } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { Measure } from '../outcome/read-schema.js';
import { type CycleCounts, oneByOne } from '../traffic/requests.js';
import type { Connection } from './connection.js';
import { type LiveSeen, runLive } from './live-run.js';
import { PacedSender } from './paced-sender.js';

const Trial = exact({
  ratePerSecond: Measure('The rate that was tried.'),
  latencyMsP99: Measure('Latency of its answers, in ms.'),
  sendLagMsP99: Measure('How late its requests were sent, in ms.'),
  outcome: Type.Enum(['held', 'too slow', 'generator saturated'], { description: 'How it went.' }),
});

export const RateSearch = exact({
  p99Ms: Measure('The bound on the latency, in ms.'),
  ratePerSecond: Measure('The highest rate that kept it.'),
  boundBy: Type.Enum(['node', 'generator', 'nothing'], { description: 'What kept it from being higher.' }),
  trials: Type.Array(Trial, { description: 'In the order made.' }),
});
type Trial = Shaped<typeof Trial>;
export type RateSearch = Shaped<typeof RateSearch>;

interface RateSearchOptions {
  readonly plan: Plan;
  readonly key: string;
  readonly p99Ms: number;
  /** Upper bound of the search, in requests per second. */
  readonly most: number;
  readonly signal?: AbortSignal | undefined;
  readonly onStep?: ((step: string) => void) | undefined;
}

const TRIALS = 7;
const TRIAL_MS = 2_000;

export async function searchRate(connection: Connection, options: RateSearchOptions): Promise<RateSearch> {
  const { p99Ms, most, signal, onStep } = options;
  const trials: Trial[] = [];
  let held = 0;
  let broke = most;
  let boundBy: RateSearch['boundBy'] = 'nothing';
  const isStopped = () => signal?.aborted === true;
  for (let n = 0; n < TRIALS && !isStopped(); n += 1) {
    const ratePerSecond = Math.max(1, Math.round((held + broke) / 2));
    onStep?.(`trying ${ratePerSecond} requests a second`);
    const trial = await tryRate(connection, options, ratePerSecond);
    if (isStopped()) break;
    trials.push(trial);
    if (trial.outcome === 'held') {
      held = ratePerSecond;
    } else {
      broke = ratePerSecond;
      boundBy = trial.outcome === 'too slow' ? 'node' : 'generator';
    }
  }
  return { p99Ms, ratePerSecond: held, boundBy, trials };
}

async function tryRate(
  connection: Connection,
  { plan, key, p99Ms, signal }: RateSearchOptions,
  ratePerSecond: number,
): Promise<Trial> {
  const { cycleMs } = connection.time;
  const cycles = Math.max(1, Math.ceil(TRIAL_MS / cycleMs));
  const schedule = steadySchedule((ratePerSecond * cycleMs) / 1000, cycles);
  const seen = await runLive(connection, {
    plan,
    key,
    names: ['all'],
    cycles,
    drain: 0,
    signal,
    sending: (stage) => new PacedSender(schedule, stage, true),
  });
  return judged(seen, ratePerSecond, p99Ms);
}

function judged({ requestLog }: LiveSeen, ratePerSecond: number, p99Ms: number): Trial {
  const latencyMsP99 = requestLog.latency.latency.quantileMs(0.99);
  const sendLagMsP99 = requestLog.latency.sendLag.quantileMs(0.99);
  const isWhole = requestLog.answered === requestLog.planned;
  const isInTime = isWhole && latencyMsP99 <= p99Ms;
  const outcome = isInTime ? 'held' : sendLagMsP99 > p99Ms / 2 ? 'generator saturated' : 'too slow';
  return { ratePerSecond, latencyMsP99, sendLagMsP99, outcome };
}

function* steadySchedule(perCycle: number, cycles: number): Generator<CycleCounts> {
  let carried = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const n = Math.floor(perCycle + carried);
    carried += perCycle - n;
    yield oneByOne(cycle, new Uint32Array(n));
  }
}
