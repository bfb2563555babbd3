// A limiter as `weir limiter` shows it: its figures, and one burst through it.
import { LIMITED } from '../rule/rule.js';
import { type RuleDefinition, ruleOf } from '../rule/rule-definition.js';
import { type Profile, play } from './profile.js';

export function profileWords(definition: RuleDefinition, profile: Profile, refused: string) {
  const { firstBurst, atRate, atTwice, perSecond, announcedLate, trueWaitMs } = profile;
  const held = firstBurst.delayed === 0 ? '' : `, ${firstBurst.delayed} more after a delay`;
  const pass = firstBurst.atOnce === 1 ? 'passes' : 'pass';
  const rate = perSecond === undefined ? '10/s, 100 ms each' : `${shown(perSecond)}/s`;
  return [
    ['rule', `${definition.primitive} ${JSON.stringify(definition.params)}`],
    ['first burst', `of ${firstBurst.sent} at once, ${firstBurst.atOnce} ${pass} at once${held}`],
    ['most in a second', mostWords(profile)],
    [
      'at exactly the rate',
      `${atRate.admitted} of ${atRate.sent} pass at ${rate}; at twice that ${atTwice.admitted} of ${atTwice.sent}`,
    ],
    ['a refused request', refused],
    ['wait', waitWords(trueWaitMs, announcedLate)],
  ] as const;
}

function mostWords({ mostInASecond, mostIsExact }: Profile): string {
  if (mostInASecond === null) return 'no limit';
  const starts = `${mostInASecond} ${mostInASecond === 1 ? 'start' : 'starts'}`;
  return mostIsExact ? starts : `at least ${starts}: the best attack found`;
}

function waitWords(trueWaitMs: number | undefined, late: Profile['announcedLate']): string {
  if (trueWaitMs === undefined) return 'none is refused';
  const truth = Number.isFinite(trueWaitMs) ? `${shown(trueWaitMs)} ms in the median` : 'for ever';
  if (late === undefined) return `${truth}; the product announces none`;
  return `${truth}; the announced one differs by ${signed(late.median)} ms (${signed(late.least)} to ${signed(late.most)})`;
}

const LEVELS = ' ▁▂▃▄▅▆▇█';
const COLUMNS = 50;

/** Sent and started per 100 ms: a burst of two seconds' requests, then twice the rate for 4 s. Two steps are the rate. */
export function burstChart(definition: RuleDefinition, { perSecond = 10 }: Profile): string {
  const columnMs = perSecond >= 1 ? 100 : 100 / perSecond;
  const perColumn = (perSecond * columnMs) / 1000;
  const times = [
    ...Array.from({ length: Math.min(2000, Math.ceil(20 * perColumn)) }, () => 0),
    ...Array.from({ length: Math.min(4000, Math.ceil(80 * perColumn)) }, (_, i) => (i * columnMs) / (2 * perColumn)),
  ];
  const sent = new Array<number>(COLUMNS).fill(0);
  const starts = new Array<number>(COLUMNS).fill(0);
  play(ruleOf(definition), times).forEach((delay, i) => {
    count(sent, times[i]! / columnMs);
    if (delay !== LIMITED) count(starts, (times[i]! + delay) / columnMs);
  });
  const drawn = (counts: readonly number[]) =>
    counts.map((one) => LEVELS[one === 0 ? 0 : Math.min(8, Math.max(1, Math.round((2 * one) / perColumn)))]).join('');
  const seconds = shown((COLUMNS * columnMs) / 1000);
  return [
    `  sent    |${drawn(sent)}|`,
    `  starts  |${drawn(starts)}|`,
    `           0 s${`${seconds} s`.padStart(COLUMNS - 3)}`,
  ].join('\n');
}

function count(counts: number[], column: number): void {
  const at = Math.floor(column);
  if (at < counts.length) counts[at]! += 1;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function signed(value: number): string {
  return value >= 0 ? `+${shown(value)}` : shown(value);
}
