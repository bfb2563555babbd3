// Whether an explanation, or its absence, is certain. Pure.
//
//   explained  some order of counting gives the observed answers
//   refuted    with these parameters, no order does: all were searched
//   unknown    the search takes too long, or the answers depend on something not visible from outside
import { ALWAYS, LONG_AGO_MS } from '../../harness/explain/counting.js';
import { countingOf } from '../../harness/explain/counting-of.js';
import { queuesOf } from '../../harness/explain/queues.js';
import { searchOrder } from '../../harness/explain/search.js';
import { layerOf, NONE_COUNTED, type SearchNode } from '../../harness/explain/search-nodes.js';
import { countedWithin, type Evidence, type Seen } from './evidence.js';
import { midpoints } from './parameter-steps.js';
import { type Hypothesis, type Structure, windowMsOf } from './structure.js';
import { BASE_MS, heldLateMs } from './violation.js';

const MOST_NODES = 20_000;
const SLACK_MS = 1.05;

/** @param from what the limiter may hold of the first key before its first request */
export function orderVerdict(
  hypothesis: Hypothesis,
  evidence: Evidence,
  mostNodes = MOST_NODES,
  from?: readonly SearchNode[],
) {
  const { structure, parameters } = hypothesis;
  const counting = countingOf(structure.definition(parameters));
  if (counting === undefined) return 'unknown';
  let isUnknown = false;
  // Longest time to the limiter, or from a release to its answer. When a request before was answered is not known.
  const { shortestMs, slackMs, longestExtraMs } = evidence;
  const heldMs = shortestMs + slackMs + longestExtraMs + heldLateMs(hypothesis);
  const transportMs = structure.holds && from === undefined ? heldMs : Infinity;
  for (const [k, { key }] of evidence.keys.entries()) {
    const requests = evidence.seen.filter((one) => one.key === key).map((one) => within(one, structure, evidence));
    const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Infinity);
    const queues = queuesOf(requests, counting.stepMs, { slackMs: SLACK_MS, transportMs });
    const options = { ...clockOf(hypothesis, fromMs), mostNodes, from: k === 0 ? from : undefined };
    const { type } = searchOrder(queues, counting, options);
    if (type === 'refuted') return 'refuted';
    isUnknown ||= type !== 'explained';
  }
  return isUnknown ? 'unknown' : 'explained';
}

const MOST_TRIES = 64;
const APART = 12;
/** Instants within a window before, as shares of it. */
const INSTANTS = midpoints(16);

/**
 * Answers to a limiter that was in use: how many requests it must have admitted within its window before the first of them, so that
 * some order of counting gives all. Undefined: none was found. One search from what all numbers leave refutes most hypotheses.
 */
export function admittedBefore(hypothesis: Hypothesis, evidence: Evidence): number | undefined {
  const { limit } = hypothesis.parameters;
  const step = Math.ceil(limit / MOST_TRIES);
  const used = usedStates(hypothesis, evidence.seen[0]!.sentMs, Math.ceil(limit + step - 1));
  const tried = used.filter(({ n, nodes }) => n % step === 0 && nodes.length > 0);
  const verdictOf = (some: typeof tried, share: number) => {
    const from = some.flatMap(({ nodes }) => nodes);
    return orderVerdict(hypothesis, evidence, (MOST_TRIES * MOST_NODES) / share, from);
  };
  if (tried.length === 0 || verdictOf(tried, 1) === 'refuted') return undefined;
  return tried.find((one) => verdictOf([one], tried.length) === 'explained')?.n;
}

/** By number: what it leaves if counted at any instants of the window before, or all at one where that is possible in too many ways. */
function usedStates(hypothesis: Hypothesis, sentMs: number, most: number) {
  const counting = countingOf(hypothesis.structure.definition(hypothesis.parameters));
  if (counting === undefined) return [];
  const { startMs, longAgoMs } = clockOf(hypothesis, sentMs);
  const firstMs = startMs - SLACK_MS - counting.stepMs;
  const windowMs = windowMsOf(hypothesis);
  const found = Array.from({ length: most }, () => layerOf(counting, APART));
  for (const [early, late] of [[1, 0], ...INSTANTS.map((share) => [share, share])] as const) {
    const [from, to] = [startMs - early! * windowMs - SLACK_MS, startMs - late! * windowMs + SLACK_MS];
    let layer = counting.begin(from, longAgoMs).map((state): SearchNode => ({ ...NONE_COUNTED, state, nowMs: from }));
    let left = MOST_NODES;
    for (const used of found) {
      const next = layerOf(counting, APART);
      for (const node of layer) {
        const counted = left < 0 ? [] : counting.admit(node.state, { from: node.nowMs, to }, ALWAYS, 1);
        left -= counted.length;
        for (const { state, at } of counted) next.add({ ...node, state, nowMs: at.from }, at.from);
      }
      layer = left < 0 ? [] : next.nodes();
      for (const node of layer) used.add(node, Math.max(firstMs, node.nowMs));
    }
  }
  return found.map((used, k) => ({ n: k + 1, nodes: used.nodes() }));
}

/** When a request is sent, on the limiter's clock, and when the limiter was made. */
function clockOf({ structure: { id, family }, parameters }: Hypothesis, sentMs: number) {
  // The grids of these begin when the limiter is made, other grids when its clock does.
  const longAgoMs = family === 'segmented window' || id.startsWith('bucket-ticks/') ? LONG_AGO_MS : 0;
  return { startMs: sentMs + BASE_MS + parameters.shiftMs + longAgoMs, longAgoMs };
}

function within(one: Seen, { holds }: Structure, evidence: Evidence): Seen {
  const [sentMs, lastMs] = countedWithin(one, evidence);
  return { ...one, sentMs, answeredMs: holds ? Math.max(lastMs, one.answeredMs) : lastMs };
}
