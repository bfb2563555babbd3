// What the answers of a target show, held against a rule that decides by the ms: a difference, or how sure it is that there is none.
import type { RuleDefinition } from '../limiter/rule/rule-definition.js';
import type { Difference } from '../outcome/outcome-schema.js';
import { cycleOf } from '../time/cycle.js';
import type { Contradiction } from './counting-search.js';
import type { Findings } from './differences.js';
import type { LiveSeen } from './live-run.js';
import { byContract, type SeenRequest } from './placed-requests.js';
import { explainRule, type RuleExplanation } from './rule-explanation.js';
import { ForeignTarget } from './target.js';
import { waitsInWords } from './told-waits.js';

const TOLERANCE =
  'Every instant between sending and answer at which a request can have been counted, every order of them, and every phase of the clock ' +
  'of the limiter were taken into account. The keys were taken to be unused for long before the run.';

/** From this share of the requests that were looked at on, the answers say too little. */
const TOO_UNCERTAIN = 0.5;

/**
 * A pause of this machine from which on no limiter is accused: one that runs here may have stood still, and its clock with it. HAProxy
 * takes a jump of more than 100 ms past its next timer for a change of the time of day, and ignores it (src/clock.c, 2.6).
 */
const PAUSE_MS = 100;

/** Each contract has a state of its own, and is explained by itself. */
export function findingsOfRule(
  { requestLog, time, slackMs, target, lagMs: { most: lagMs }, apartMs }: LiveSeen,
  { names }: { readonly names: readonly string[] },
  definition: RuleDefinition,
): Findings {
  const promisedMs = target instanceof ForeignTarget ? target.transportMs : undefined;
  const longestMs = longestLimitedMs(requestLog.seen);
  const transportMs = promisedMs === undefined ? undefined : Math.max(promisedMs, longestMs) + lagMs + 2 * apartMs;
  const pauseMs = promisedMs === undefined ? lagMs : Math.max(lagMs, longestMs - promisedMs);
  const differences: Difference[] = [];
  let tooUncertain: string | undefined;
  let remark: string | undefined;
  byContract(requestLog.seen, names.length).forEach((requests, index) => {
    if (requests.length === 0) return;
    remark ??= waitsInWords(requests);
    const found = explainRule(requests, definition, { slackMs, transportMs });
    if (found.type !== 'refuted') tooUncertain ??= uncertaintyOf(found, requests);
    else if (pauseMs < PAUSE_MS) differences.push(differenceOf(found.by, names[index]!, time.cycleMs));
    else tooUncertain ??= pausedWords(pauseMs);
  });
  return { differences, coversUnknown: true, tolerance: TOLERANCE, tooUncertain, remark };
}

/**
 * What is limited is not held: an answer that took longer than the transport was said to take shows that it takes longer. Nor can the
 * generator see an answer while it is held up itself.
 */
function longestLimitedMs(requests: readonly SeenRequest[]): number {
  return requests.reduce(
    (most, { decision, sentMs, answeredMs }) => (decision === 'limited' ? Math.max(most, answeredMs - sentMs) : most),
    0,
  );
}

function differenceOf(
  { sentMs, answeredMs, decision, isHeld }: Contradiction,
  contract: string,
  cycleMs: number,
): Difference {
  const common = { cycle: cycleOf(sentMs, cycleMs), contract };
  const tookMs = Math.round(answeredMs - sentMs);
  if (isHeld) {
    return {
      ...common,
      figure: 'answer time',
      predicted: 'another delay',
      observed: `${tookMs} ms`,
      note: 'no order of counting explains when the answers came up to here',
    };
  }
  return {
    ...common,
    figure: 'decision',
    predicted: decision === 'admitted' ? 'limited' : 'admitted',
    observed: decision,
    note: 'no order of counting explains the answers up to here',
  };
}

function pausedWords(pauseMs: number): string {
  return (
    `No order of counting explains the answers, but this machine stood still for up to ${pauseMs.toFixed(0)} ms, ` +
    'and a limiter whose clock stands still with it would answer so.'
  );
}

/** Why the answers say too little; undefined where they say enough. */
function uncertaintyOf(found: RuleExplanation, requests: readonly SeenRequest[]): string | undefined {
  const longestMs = requests
    .filter(({ decision }) => decision !== 'unknown')
    .reduce((most, { sentMs, answeredMs }) => Math.max(most, answeredMs - sentMs), 0);
  const took = `answers took up to ${longestMs.toFixed(0)} ms`;
  if (found.type === 'unknown') {
    return found.isSeen
      ? `The requests could have been counted in too many orders to look at all of them: ${took}, and at most ${mostAtOnce(requests)} were under way at once.`
      : 'What the rule decides follows from how long each request is in flight at the target, which is not seen from outside.';
  }
  if (found.type !== 'explained' || found.looked === 0 || found.undecided < TOO_UNCERTAIN * found.looked)
    return undefined;
  return (
    `The answers would fit too many limiters: of ${found.looked} requests that were looked at ${found.undecided} could have been ` +
    `admitted or limited alike, since ${took}.`
  );
}

function mostAtOnce(requests: readonly SeenRequest[]): number {
  const ends = requests.flatMap(({ sentMs, answeredMs }) => [
    { atMs: sentMs, by: 1 },
    { atMs: answeredMs, by: -1 },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of ends.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
