// Whether an explanation, or its absence, is certain. Pure.
//
//   explained  some order of counting gives the observed answers
//   refuted    with these parameters, no order does: all were searched
//   unknown    the search takes too long, or the answers depend on something not visible from outside
import { LONG_AGO_MS } from '../../harness/explain/counting.js';
import { countingOf } from '../../harness/explain/counting-of.js';
import { queuesOf } from '../../harness/explain/queues.js';
import { searchOrder } from '../../harness/explain/search.js';
import { countedWithin, type Evidence, type Seen } from './evidence.js';
import { midpoints } from './parameter-steps.js';
import { type Hypothesis, type Structure, windowMsOf } from './structure.js';
import { BASE_MS, heldLateMs } from './violation.js';

const MOST_NODES = 20_000;
const SLACK_MS = 1.05;

/** @param before further requests, counted at any instant from `sentMs` to `answeredMs` */
export function orderVerdict(
  hypothesis: Hypothesis,
  evidence: Evidence,
  mostNodes = MOST_NODES,
  before: readonly Seen[] = [],
) {
  const { structure, parameters } = hypothesis;
  const counting = structure.isInFlight ? undefined : countingOf(structure.definition(parameters));
  if (counting === undefined) return 'unknown';
  let isUnknown = false;
  // When a request before was answered is not known.
  const transportMs = structure.holds && before.length === 0 ? transportMsOf(hypothesis, evidence) : Infinity;
  const longAgoMs = beginsWhenMade(structure) ? LONG_AGO_MS : 0;
  for (const { key } of evidence.keys) {
    const own = evidence.seen.filter((one) => one.key === key).map((one) => within(one, structure, evidence));
    const requests = [...before.filter((one) => one.key === key), ...own];
    const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Infinity);
    const queues = queuesOf(requests, counting.stepMs, { slackMs: SLACK_MS, transportMs });
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

const MOST_TRIES = 64;
/** Instants within a window before, as shares of it. */
const INSTANTS = midpoints(16);

/**
 * Answers to a limiter that was in use: how many requests it must have admitted within its window before the first of them, so that
 * some order of counting gives all. Where those can be counted in too many ways, all of them at one instant are tried. Undefined: none
 * was found.
 */
export function admittedBefore(hypothesis: Hypothesis, evidence: Evidence): number | undefined {
  const { key, sentMs } = evidence.seen[0]!;
  const { limit } = hypothesis.parameters;
  const windowMs = windowMsOf(hypothesis);
  const verdictOf = (n: number, fromMs: number, toMs: number) => {
    const before = Array<Seen>(n).fill({ key, sentMs: fromMs, answeredMs: toMs, decision: 'admitted' });
    return orderVerdict(hypothesis, evidence, MOST_NODES, before);
  };
  const instants = INSTANTS.map((share) => sentMs - share * windowMs);
  const step = Math.ceil(limit / MOST_TRIES);
  for (let n = step; n < limit + step; n += step) {
    const verdict = verdictOf(n, sentMs - windowMs, sentMs);
    if (verdict === 'explained') return n;
    if (verdict === 'unknown' && instants.some((ms) => verdictOf(n, ms, ms) === 'explained')) return n;
  }
  return undefined;
}

function within(one: Seen, { holds }: Structure, evidence: Evidence): Seen {
  const [sentMs, lastMs] = countedWithin(one, evidence);
  return { ...one, sentMs, answeredMs: holds ? Math.max(lastMs, one.answeredMs) : lastMs };
}

/** Longest time to the limiter, or from the release of a held request to its answer. */
function transportMsOf(hypothesis: Hypothesis, { shortestMs, slackMs, longestExtraMs }: Evidence): number {
  return shortestMs + slackMs + longestExtraMs + heldLateMs(hypothesis);
}

/** The grids of these begin when the limiter is made, other grids when its clock does. */
function beginsWhenMade({ id, family }: Structure): boolean {
  return family === 'segmented window' || id.startsWith('bucket-ticks/');
}
