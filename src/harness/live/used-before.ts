// Whether use before a run explains answers that are not those of a new limiter. Pure.
//
//   before the run   | the run, 5 in a window
//   o  o             | o  o  o  x  x  x  o ..  the rule explains it with requests before the run, and not without: the run is invalid
//                    | o  o  o  x  x  o  o  o  x  x      after the window all 5 are free again, whatever was before: the limiter differs
//
// A smaller limit looks like the first until the window is over, so both are said, unless the target announces the limit that was seen.
import { planRule } from '../../core/limiter/planned-rule.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { countingOf } from '../explain/counting-of.js';
import { type ExplanationOptions, isExplained } from '../explain/explain.js';
import type { SeenRequest } from '../explain/seen-request.js';
import { memoryMs, seconds } from './near-rules.js';
import { answersOf } from './neighbours.js';

const MOST_EARLIER = 5_000;
/** Where refused requests count, too, the limiter may hold more than it admits. */
const MORE_THAN_ROOM = 4;
const MOST_TRIED = 100;
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
  const sentMs = inOrder.map((one) => one.sentMs);
  const refusedNew = answersOf(rules[0]!, sentMs, 0).findIndex(({ decision }) => decision === 'limited');
  const ofNew = refusedNew < 0 ? inOrder.length : refusedNew;
  if (first > 0 && first === announcedLimit && first !== ofNew) return undefined;
  const spanMs = Math.max(...rules.map(memoryMs));
  const { most: room } = planRule(rules[0]!);
  const isBounded = rules.every((rule) => countingOf(rule)?.isBounded);
  const most = Math.min(MOST_EARLIER, (isBounded ? 1 : 2) * room + MORE_THAN_ROOM);
  // If there are many: those that leave as much as was seen, and some between.
  const isTried = (n: number) =>
    most <= MOST_TRIED ||
    Math.abs(room - first - n) <= MOST_TRIED / 25 ||
    n % Math.ceil((10 * most) / MOST_TRIED) === 0;
  const mostNodes = NODES + NODES_OF_REQUEST * requests.length;
  const isRefusedAtOnce = refused !== undefined && admitted.every((one) => one.sentMs > refused.answeredMs);
  const isExplainedByUse = isExplained(requests, rules, { ...options, mostNodes, earlier: { spanMs, most, isTried } });
  // Not all uses are searched then; but no limit refuses the first request of all.
  const isOpen = isExplainedByUse === undefined || !isBounded;
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
      ? `it admitted ${first} before the first refusal, and one that was not in use admits ${ofNew}`
      : 'its first answers are those of one that had counted or held others';
  return `The limiter was in use before the run, or it is another: ${seen}. ${again}: if the answers are the same then, it is another.`;
}
