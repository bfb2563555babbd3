// What a rule lets through, in some figures, measured on the rule itself.
//
//   first burst      |||||            how many of a burst pass at once, and how many after a delay
//   most in a second   ||||:||||      the most starts that a client can get in any second: see rule/most-starts.ts
//   at its rate      | | | | | |      forty evenly spaced requests at exactly the rate; sixty at twice the rate
//   waits            the wait announced to a refused request, the true one, and whether requests within it make it longer
import { exact, flag, real, whole } from '../../schema/fields.js';
import { type Shaped, Type } from '../../schema/json-schema.js';
import { announcedWait } from '../rule/announced.js';
import { HOLD_MS, mostStarts } from '../rule/most-starts.js';
import { delaysOf, LIMITED, type Rule } from '../rule/rule.js';
import { type RuleDefinition, ratePerMs, ruleOf } from '../rule/rule-definition.js';

const many = (description: string) => whole(0, Number.MAX_SAFE_INTEGER, description);
const ms = (description: string) => real(-1e15, 1e15, description);

const Share = exact({ sent: many('Requests sent.'), admitted: many('Of them, those admitted.') });

export const Profile = exact({
  'perSecond?': real(0, 1e15, 'In the long run; absent for limits on concurrency.'),
  firstBurst: exact({
    sent: many('Requests sent at once.'),
    atOnce: many('Admitted at once.'),
    delayed: many('Admitted later.'),
  }),
  mostInASecond: Type.Union([many('What one client gets through in any second.'), Type.Null()]),
  mostIsExact: flag('False: it is at least this many.'),
  atRate: Share,
  atTwice: Share,
  'announcedLate?': exact('Announced minus true wait, over the refused requests of a burst and its tail.', {
    median: ms('ms'),
    least: ms('ms'),
    most: ms('ms'),
  }),
  'trueWaitMs?': ms('The true wait after the burst, in ms.'),
  'refusedDelays?': flag(
    'Whether refused requests keep their client out for longer; absent if a burst meets no refusal.',
  ),
});
export type Profile = Shaped<typeof Profile>;
type Share = Shaped<typeof Share>;

/** Of instants of these days, in ms since 1970. */
const ROUNDING_MS = 0.01;

/** A whole epoch second, as in the test vectors: rules aligned to the clock begin a window there. */
const START_MS = 1_699_999_200_000;

export function profileOf(definition: RuleDefinition): Profile {
  const rule = ruleOf(definition);
  const rate = ratePerMs(definition);
  const sent = 2 * burstOf(rule) + 5;
  const first = play(
    rule,
    Array.from({ length: sent }, () => 0),
  );
  const perMs = rate ?? 0.01;
  const most = mostStarts(definition, 1000);
  return {
    perSecond: rate === undefined ? undefined : rate * 1000,
    firstBurst: {
      sent,
      atOnce: first.filter((delay) => delay === 0).length,
      delayed: first.filter((delay) => delay > 0).length,
    },
    mostInASecond: Number.isFinite(most.starts) ? most.starts : null,
    mostIsExact: most.exact,
    atRate: evenly(rule, 1 / perMs, 40),
    atTwice: evenly(rule, 0.5 / perMs, 60),
    ...waits(rule, definition, perMs),
    refusedDelays: refusedDelays(rule),
  };
}

/** Whether who goes on through a wait is still refused when it would have been over. */
function refusedDelays(rule: Rule): boolean | undefined {
  const state = rule.fresh(START_MS);
  const burst = burstOf(rule);
  for (let sent = 0; sent < 2 * burst; sent += 1) {
    const overMs = rule.nextAdmission(state, START_MS, 1) - START_MS;
    if (rule.admit(state, START_MS, 1, HOLD_MS) !== LIMITED) continue;
    if (!Number.isFinite(overMs)) return false;
    // Several bursts, so that what counts them is full when the wait is over, wherever its window begins.
    const attempts = 4 * burst + 5;
    for (let i = 1; i <= attempts; i += 1) rule.admit(state, START_MS + (i * overMs) / (attempts + 1), 1, HOLD_MS);
    return rule.admit(state, START_MS + overMs + ROUNDING_MS, 1, HOLD_MS) === LIMITED;
  }
  return undefined;
}

export function play(rule: Rule, times: readonly number[]): number[] {
  return delaysOf(
    rule,
    START_MS,
    times.map((at) => START_MS + at),
    HOLD_MS,
  );
}

function burstOf(rule: Rule): number {
  return Math.min(1000, Math.max(10, rule.remaining(rule.fresh(START_MS), START_MS)));
}

function evenly(rule: Rule, gapMs: number, sent: number): Share {
  const delays = play(
    rule,
    Array.from({ length: sent }, (_, i) => i * gapMs),
  );
  return { sent, admitted: delays.filter((delay) => delay !== LIMITED).length };
}

function waits(rule: Rule, definition: RuleDefinition, perMs: number): Pick<Profile, 'announcedLate' | 'trueWaitMs'> {
  const state = rule.fresh(START_MS);
  const late: number[] = [];
  const trueWaits: number[] = [];
  const times = [
    ...Array.from({ length: 2 * burstOf(rule) }, () => 0),
    ...Array.from({ length: 40 }, (_, i) => (i * 0.37) / perMs),
  ];
  for (const at of times) {
    const t = START_MS + at;
    if (rule.admit(state, t, 1, HOLD_MS) !== LIMITED) continue;
    const wait = rule.nextAdmission(state, t, 1) - t;
    trueWaits.push(wait);
    const announced = announcedWait(rule, definition.announces, state, t, 1);
    if (announced !== undefined && Number.isFinite(announced) && Number.isFinite(wait)) late.push(announced - wait);
  }
  return {
    announcedLate:
      late.length === 0 ? undefined : { median: middle(late), least: Math.min(...late), most: Math.max(...late) },
    trueWaitMs: trueWaits.length === 0 ? undefined : middle(trueWaits),
  };
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
