// Whether use before a run explains answers that are not those of a new limiter. Pure.
//
//   before the run   | the run, 5 in a window
//   o  o             | o  o  o  x  x  x  o ..  the rule explains it with requests before the run, and not without: the run is invalid
//                    | o  o  o  x  x  o  o  o  x  x      after the window all 5 are free again, whatever was before: the limiter differs
//
// A smaller limit looks like the first until the window is over, so both are said, unless the target announces the limit that was seen.
import { countingOf } from '../explain/counting-of.js';
import { type ExplanationOptions, isExplained } from '../explain/explain.js';
import type { SeenRequest } from '../explain/seen-request.js';
import { planRule } from '../limiter/planned-rule.js';
import { LIMITED } from '../limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../limiter/rule/rule-definition.js';
import { memoryMs, seconds } from './near-rules.js';

const MOST_EARLIER = 5_000;
/** Two windows of admitted requests may count, and where refused ones do, more than that. */
const MORE_THAN_ROOM = 4;
const NODES = 60_000;
const NODES_OF_REQUEST = 30;

/** Why the answers show no difference; undefined if no use before the run explains them. @param requests all of one key */
export function usedBefore(
  requests: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: ExplanationOptions,
  announcedLimit: number | undefined,
): string | undefined {
  const inOrder = requests.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  const refused = inOrder
    .filter(({ decision }) => decision === 'limited')
    .reduce<SeenRequest | undefined>(
      (one, other) => (one && one.answeredMs <= other.answeredMs ? one : other),
      undefined,
    );
  const admitted = inOrder.filter(({ decision }) => decision === 'admitted');
  const first = admitted.filter(({ answeredMs }) => refused && answeredMs < refused.sentMs).length;
  const ofNew = admittedFirst(rules[0]!, inOrder);
  if (first > 0 && first === announcedLimit && first !== ofNew) return undefined;
  const spanMs = Math.max(...rules.map(memoryMs));
  const most = Math.min(MOST_EARLIER, 2 * planRule(rules[0]!).most + MORE_THAN_ROOM);
  const mostNodes = NODES + NODES_OF_REQUEST * requests.length;
  const isRefusedAtOnce = refused !== undefined && admitted.every(({ sentMs }) => sentMs > refused.answeredMs);
  const isExplainedByUse = isExplained(requests, rules, { ...options, mostNodes, earlier: { spanMs, most } });
  // Not all uses are searched then; but no limit refuses the first request of all.
  const isOpen = isExplainedByUse === undefined || !rules.every((rule) => countingOf(rule)?.isBounded);
  const isShort = inOrder.at(-1)!.sentMs - inOrder[0]!.sentMs < spanMs;
  if (!isExplainedByUse && !(isOpen && isShort && isRefusedAtOnce)) return undefined;
  const waitMs = Math.max(spanMs, refused?.announcedMs ?? 0);
  const again = `Wait ${seconds(1000 * Math.ceil(waitMs / 1000))} and run again`;
  if (isRefusedAtOnce) {
    const asks = refused.announcedMs === undefined ? '' : ` and asked to wait ${seconds(refused.announcedMs)}`;
    const never = admitted.length === 0 ? ', or it admits nothing' : '';
    return `The limiter was in use before the run${never}: the first answer was a refusal${asks}. ${again}.`;
  }
  const seen =
    first !== ofNew && refused !== undefined
      ? `${first} were admitted before the first refusal, and ${ofNew} are by one that was not in use`
      : 'its first answers are those of one that had counted or held others';
  return `The limiter was in use before the run, or it is another: ${seen}. ${again}: if the answers are the same then, it is another.`;
}

/** How many of the requests the rule admits before it refuses one, if it counted none before. */
function admittedFirst(definition: RuleDefinition, inOrder: readonly SeenRequest[]): number {
  const rule = uncheckedRule(definition);
  const state = rule.fresh(0);
  const refused = inOrder.findIndex(({ sentMs, cost = 1 }) => rule.decide(state, sentMs, cost, 0) === LIMITED);
  return refused < 0 ? inOrder.length : refused;
}
