// What is certain of an explanation, and of there being none. Pure.
//
//   alive      one order of counting was found in which the rule answers as it was seen
//   refuted    with the parameters that come nearest, no order at all does: every one is searched
import { countingOf, LONG_AGO_MS } from '../live/counting.js';
import { searchOrder } from '../live/counting-search.js';
import { countedWithin, type Evidence } from './evidence.js';
import type { Hypothesis } from './structure.js';
import { BASE_MS } from './violation.js';

/** A search of all orders takes long: it is given so many nodes. */
const MOST_NODES = 20_000;
const SLACK_MS = 1.05;

/** Whether no order of counting explains the answers; false, too, where the search takes too long or what decides is not seen. */
export function isRefuted({ structure, parameters }: Hypothesis, evidence: Evidence): boolean {
  if (structure.isInFlight || evidence.keys.length > 1) return false;
  const counting = countingOf(structure.definition(parameters));
  if (counting === undefined) return false;
  const requests = evidence.seen.map((one) => {
    const [sentMs, lastMs] = countedWithin(one, evidence);
    return { ...one, sentMs, answeredMs: structure.holds ? Math.max(lastMs, one.answeredMs) : lastMs };
  });
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Infinity);
  const found = searchOrder(requests, counting, {
    slackMs: SLACK_MS,
    transportMs: Infinity,
    phaseMs: fromMs + BASE_MS + parameters.shiftMs - 2 * LONG_AGO_MS,
    mostNodes: MOST_NODES,
  });
  return found.type === 'refuted';
}
