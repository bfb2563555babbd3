// Whether a limiter was in use before a run, where its answers are not those of a new one. Pure.
//
//   before the run   | the run                 explained     by the rule, with some requests counted before the run
//   o  o  o  (o) (o) | o  x  x  x  o           and not       by a smaller limit, which looks the same until the window is over
//
// What both explain is undecided, unless the target's own words decide: the limit that it announces, what is left of it at the first
// answer, and waits that end together with a window of the run's own requests.
import { countingOf } from '../explain/counting-of.js';
import { type ExplanationOptions, isExplained } from '../explain/explain.js';
import type { SeenRequest } from '../explain/seen-request.js';
import { planRule } from '../limiter/planned-rule.js';
import { LIMITED } from '../limiter/rule/rule.js';
import { membersOf, type RuleDefinition, uncheckedRule } from '../limiter/rule/rule-definition.js';
import { firstIndex } from '../math/first-index.js';
import { type NearRules, seconds, withCountsBy } from './near-rules.js';
import type { Announced } from './request-log.js';

/** Of requests counted in any order; more than this are not searched. */
const MOST_EARLIER = 2_000;
const MOST_TRIED = 40;
/** Where members of a rule remember different requests. */
const MOST_FEW = 5;
const NODES = 100_000;
const NODES_OF_REQUEST = 30;
/** Waits are announced in whole seconds. */
const SECOND_MS = 1_100;
/** Waits that end together are a clock's if they were announced over this time. */
const LEAST_MS = 2_000;

interface Start {
  /** All answers, in order of time. */
  readonly inOrder: readonly SeenRequest[];
  readonly refused: SeenRequest;
  /** How many were admitted before the first refusal. */
  readonly least: number;
  readonly most: number;
}

/** Why the answers show no difference; undefined if use before the run does not explain them. @param requests all of one key */
export function usedBefore(
  requests: readonly SeenRequest[],
  rules: readonly RuleDefinition[],
  options: ExplanationOptions,
  announced: Announced | undefined,
): string | undefined {
  const span = planRule(rules[0]!);
  const { spanMs } = span;
  if (span.most > MOST_EARLIER) return undefined;
  const start = startOf(requests);
  if (!isExplainedByUse({ requests, rules, options }, start, span)) return undefined;
  const again = againWords(start, rules, spanMs, announced);
  if (start === undefined)
    return `The limiter was in use before: it held the first answers for longer than one that is not in use.${again}`;
  if (start.most === 0) return refusedAtOnce(start, announced, again);
  const smaller = smallerThan(rules, start).filter((near) => isExplained(requests, near.rules, options) === true);
  const found = smaller.length === 0 ? 'used' : decidedBy(start, smaller, announced);
  if (found === 'new') return undefined;
  const about = start.least === start.most ? '' : 'about ';
  const what = `${about}${start.least} were admitted before the first refusal, and ${admittedFirst(rules[0]!, start)} are of a limiter that is not in use`;
  return found === 'used'
    ? `The limiter was in use before: ${what}.${again}`
    : `Either the limiter was in use before or it has another limit, such as ${smaller[0]!.words}: ${what}.${again} If the answers are the same then, the limit is another.`;
}

function startOf(requests: readonly SeenRequest[]): Start | undefined {
  const inOrder = requests.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.answeredMs - b.answeredMs);
  const refused = inOrder.find(({ decision }) => decision === 'limited');
  if (refused === undefined) return undefined;
  const admitted = inOrder.filter(({ decision }) => decision === 'admitted');
  return {
    inOrder,
    refused,
    least: admitted.filter(({ answeredMs }) => answeredMs < refused.sentMs).length,
    most: admitted.filter(({ sentMs }) => sentMs < refused.answeredMs).length,
  };
}

function refusedAtOnce(
  { refused: { announcedMs }, inOrder }: Start,
  announced: Announced | undefined,
  again: string,
): string {
  const asked = announcedMs === undefined ? '' : ` that asks to wait ${seconds(announcedMs)}`;
  const what = `the first answer was a ${announced?.status ?? 'refusal'}${asked}`;
  const isOpen = announcedMs === undefined && inOrder.every(({ decision }) => decision === 'limited');
  return isOpen
    ? `The limiter was in use before, or admits nothing: ${what}, and so were all others.${again}`
    : `The limiter was in use before: ${what}.${again}`;
}

function againWords(
  start: Start | undefined,
  rules: readonly RuleDefinition[],
  spanMs: number,
  announced: Announced | undefined,
): string {
  const waits = start?.inOrder.flatMap(({ announcedMs }) => announcedMs ?? []) ?? [];
  // A run that was admitted nothing left nothing.
  const isUnused = start?.inOrder.every(({ decision }) => decision === 'limited');
  const waitMs = isUnused && waits.length > 0 ? Math.max(...waits) : spanMs;
  const isOther = withCountsBy(0, rules).every(({ value }) => value !== announced?.limit);
  const other = isOther && announced?.limit !== undefined ? ` It announces a limit of ${announced.limit}.` : '';
  return `${other} Wait ${seconds(1000 * Math.ceil(waitMs / 1000))} and run again.`;
}

interface Asked {
  readonly requests: readonly SeenRequest[];
  readonly rules: readonly RuleDefinition[];
  readonly options: ExplanationOptions;
}

function isExplainedByUse(
  { requests, rules, options }: Asked,
  start: Start | undefined,
  { most: room, spanMs }: { readonly most: number; readonly spanMs: number },
): boolean {
  const beginMs = requests.reduce((first, { sentMs }) => Math.min(first, sentMs), Number.POSITIVE_INFINITY);
  // What a rule holds may be released during the run.
  const endMs = rules.some((rule) => countingOf(rule)?.holds !== 'none') ? beginMs + spanMs : beginMs;
  const earlier = (n: number, decision: 'admitted' | 'limited') =>
    Array.from({ length: n }, (): SeenRequest => ({ sentMs: beginMs - spanMs, answeredMs: endMs, decision }));
  const { least = 0, most = -1 } = start ?? {};
  const counts = Array.from({ length: Math.min(MOST_TRIED, most - least + 1) }, (_, k) => room - most + k);
  const hasMembers = rules.some((rule) => membersOf(rule).length > 0);
  const few = Array.from({ length: hasMembers ? Math.min(MOST_FEW, room) : 0 }, (_, k) => k + 1);
  const uses = [...new Set([...counts.filter((n) => n > 0), ...few, room])].map((n) => earlier(n, 'admitted'));
  uses.push([...earlier(room, 'admitted'), ...earlier(1, 'limited')]);
  let isOpen = false;
  for (const use of uses) {
    const found = isExplained([...use, ...requests], rules, {
      ...options,
      mostNodes: NODES + NODES_OF_REQUEST * requests.length,
    });
    if (found === true) return true;
    isOpen ||= found === undefined;
  }
  // No limit refuses the first request of all.
  return isOpen && start?.most === 0;
}

/** Rules with a smaller limit that admit as many before their first refusal. */
function smallerThan(rules: readonly RuleDefinition[], start: Start): NearRules[] {
  return withCountsBy(0, rules).flatMap(({ place, value }) => {
    const by = (less: number) => withCountsBy(-less, rules).find((near) => near.place === place);
    const first = firstIndex(Math.ceil(value), (less) => admittedFirst(by(less)?.rules[0], start) <= start.most);
    return Array.from({ length: MOST_TRIED }, (_, k) => by(first + k)).filter(
      (near): near is NearRules => near !== undefined && admittedFirst(near.rules[0], start) >= start.least,
    );
  });
}

/** How many of the requests the rule admits before it refuses one, if it counted none before. */
function admittedFirst(definition: RuleDefinition | undefined, { inOrder }: Start): number {
  if (definition === undefined) return 0;
  const rule = uncheckedRule(definition);
  const state = rule.fresh(0);
  const refused = [...inOrder]
    .sort((a, b) => a.sentMs - b.sentMs)
    .findIndex((one) => rule.decide(state, one.sentMs, 1, 0) === LIMITED);
  return refused < 0 ? inOrder.length : refused;
}

/** `new`: nothing was counted before the run. */
function decidedBy(
  start: Start,
  smaller: readonly NearRules[],
  announced: Announced | undefined,
): 'new' | 'used' | undefined {
  const { limit, remaining, answeredMs } = announced ?? {};
  if (limit !== undefined && smaller.some(({ value }) => value === limit)) return 'new';
  if (limit !== undefined && remaining !== undefined && answeredMs !== undefined) {
    const sent = start.inOrder.filter(({ sentMs }) => sentMs < answeredMs).length;
    if (limit - remaining > sent) return 'used';
    if (sent === 1) return 'new';
  }
  return decidedByWaits(start, smaller[0]!.rules.at(-1)!);
}

function decidedByWaits({ inOrder, refused }: Start, rule: RuleDefinition): 'new' | 'used' | undefined {
  const from = inOrder.indexOf(refused);
  const next = inOrder.findIndex(({ decision }, k) => k > from && decision === 'admitted');
  const refusals = inOrder.slice(from, next < 0 ? undefined : next);
  const ends = refusals.flatMap(({ answeredMs, announcedMs }) =>
    announcedMs === undefined ? [] : [answeredMs + announcedMs],
  );
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const overMs = refusals.at(-1)!.answeredMs - refused.answeredMs;
  if (ends.length < refusals.length || overMs < LEAST_MS || last - first > SECOND_MS) return undefined;
  const apartMs = (first + last) / 2 - freeAfter(inOrder.slice(0, from), refused, rule);
  if (Math.abs(apartMs) <= SECOND_MS) return 'new';
  return apartMs < 0 ? 'used' : undefined;
}

/** When the rule admits the refused request, if it counted nothing before the run. */
function freeAfter(admitted: readonly SeenRequest[], refused: SeenRequest, definition: RuleDefinition): number {
  const rule = uncheckedRule(definition);
  const state = rule.fresh(0);
  for (const one of admitted) rule.decide(state, one.sentMs, 1, 0);
  return rule.nextAdmission(state, refused.sentMs, 1);
}
