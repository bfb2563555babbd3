// Whether an explanation, or its absence, is certain. Pure.
//
//   explained  some order of counting gives the observed answers
//   refuted    with these parameters, no order does: all were searched
//   unknown    the search takes too long, or the answers depend on something not visible from outside
import { LONG_AGO_MS } from '../explain/counting.js';
import { countingOf } from '../explain/counting-of.js';
import { queuesOf } from '../explain/queues.js';
import { searchOrder } from '../explain/search.js';
import { countedWithin, type Evidence, type Seen } from './evidence.js';
import type { Hypothesis, Structure } from './structure.js';
import { BASE_MS } from './violation.js';

const MOST_NODES = 20_000;
const SLACK_MS = 1.05;

export function orderVerdict(hypothesis: Hypothesis, evidence: Evidence, mostNodes = MOST_NODES) {
  const { structure, parameters } = hypothesis;
  const counting = structure.isInFlight ? undefined : countingOf(structure.definition(parameters));
  if (counting === undefined) return 'unknown';
  let isUnknown = false;
  const longAgoMs = beginsWhenMade(structure) ? LONG_AGO_MS : 0;
  for (const { key } of evidence.keys) {
    const requests = evidence.seen.filter((one) => one.key === key).map((one) => within(one, structure, evidence));
    const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Infinity);
    const queues = queuesOf(requests, counting.stepMs, { slackMs: SLACK_MS, transportMs: Infinity });
    const { type } = searchOrder(queues, counting, {
      startMs: fromMs + BASE_MS + parameters.shiftMs + longAgoMs,
      longAgoMs,
      mostNodes,
    });
    if (type === 'refuted') return 'refuted';
    isUnknown ||= type !== 'explained';
  }
  return isUnknown ? 'unknown' : 'explained';
}

function within(one: Seen, { holds }: Structure, evidence: Evidence): Seen {
  const [sentMs, lastMs] = countedWithin(one, evidence);
  return { ...one, sentMs, answeredMs: holds ? Math.max(lastMs, one.answeredMs) : lastMs };
}

/** The grids of these begin when the limiter is made, other grids when its clock does. */
function beginsWhenMade({ id, family }: Structure): boolean {
  return family === 'segmented window' || id.startsWith('bucket-ticks/');
}
