// Decisions of real limiters as golden/decisions.json holds them: facts (when, how much, admitted or not), in a form of our own.
//
//   schedule   "0 12x100 0*3@b+250"      ms since the request before; 12x: twelve times; *cost @key +ms in flight
//   decisions  "1101"                    one a request
//   delays     "0 3x100 -"               ms, of the admitted;  waits  the same, of the refused;  - where there is none
import { readFileSync } from 'node:fs';
import { announcedWait } from '../../../../src/core/limiter/rule/announced.js';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';

interface Scheduled {
  readonly tMs: number;
  readonly n: number;
  readonly key: string;
  readonly holdMs: number;
}

type Figures = readonly (number | null | undefined)[];

interface Run {
  /** When the limiter was made, in ms after `START_MS`. */
  readonly phase: number;
  readonly requests: readonly Scheduled[];
  readonly decisions: string;
  readonly delays: Figures;
  readonly waits: Figures;
}

export interface Limiter {
  readonly name: string;
  /** Of delays. */
  readonly toleranceMs: number;
  readonly rule: RuleDefinition;
  readonly runs: readonly Run[];
}

const START_MS = 1_699_999_200_000;

const text = readFileSync(new URL('./golden/decisions.json', import.meta.url), 'utf8');
const golden = JSON.parse(text);
const schedules: readonly Scheduled[][] = golden.schedules.map(scheduleOf);

export const limiters: readonly Limiter[] = golden.limiters.map((limiter: any) => ({
  ...limiter,
  runs: limiter.runs.map((run: any) => ({
    ...run,
    requests: schedules[run.schedule],
    delays: figures(run.delays),
    waits: figures(run.waits),
  })),
}));

function repeated<T>(words: string, read: (word: string) => T): T[] {
  return words.split(' ').flatMap((word) => {
    const [, times = '1', rest = ''] = /^(?:(\d+)x)?(.+)$/.exec(word)!;
    return Array.from({ length: Number(times) }, () => read(rest));
  });
}

function scheduleOf(words: string): Scheduled[] {
  let tMs = 0;
  return repeated(words, (word) => {
    const [, gap, n = '1', key = '', hold = '0'] = /^([\d.]+)(?:\*(\d+))?(?:@(\w+))?(?:\+([\d.]+))?$/.exec(word)!;
    tMs = Number((tMs + Number(gap)).toFixed(6));
    return { tMs, n: Number(n), key, holdMs: Number(hold) };
  });
}

function figures(words: string | undefined): Figures {
  return words === undefined ? [] : repeated(words, (word) => (word === '-' ? undefined : Number(word)));
}

/** What a rule says, and how often that is not what the product said. */
interface Compared {
  readonly requests: number;
  readonly wrong: number;
  readonly wrongDelays: number;
  readonly wrongWaits: number;
}

/** Of all runs. */
export function compare(limiter: Limiter): Compared {
  const seen = limiter.runs.map((run) => compareRun(limiter, run));
  const sum = (of: keyof Compared) => seen.reduce((total, one) => total + one[of], 0);
  const [requests, wrong] = [sum('requests'), sum('wrong')];
  return { requests, wrong, wrongDelays: sum('wrongDelays'), wrongWaits: sum('wrongWaits') };
}

/** HAProxy's windows begin at even ms of a clock of its own: one of the two parities explains a whole schedule. */
function compareRun(limiter: Limiter, run: Run): Compared {
  const even = compareShifted(limiter, run, 0);
  if (even.wrong === 0 || !JSON.stringify(limiter.rule).includes('even_ms')) return even;
  return compareShifted(limiter, run, 1);
}

function compareShifted(limiter: Limiter, run: Run, shiftMs: number): Compared {
  const rule = ruleOf(limiter.rule);
  const madeMs = START_MS + run.phase + shiftMs;
  const states = new Map<string, unknown>();
  let [wrong, wrongDelays, wrongWaits] = [0, 0, 0];
  run.requests.forEach(({ tMs, n, key, holdMs }, i) => {
    const owner = rule.shared ? '' : key;
    if (!states.has(owner)) states.set(owner, rule.fresh(madeMs));
    const state = states.get(owner);
    const at = madeMs + tMs;
    const delay = rule.admit(state, at, n, holdMs);
    const [wanted, wait] = [run.delays[i] ?? undefined, run.waits[i] ?? undefined];
    if ((delay === LIMITED ? '0' : '1') !== run.decisions[i]) wrong += 1;
    else if (delay !== LIMITED && wanted !== undefined) {
      if (Math.abs(delay - wanted) > limiter.toleranceMs + 0.001) wrongDelays += 1;
    } else if (delay === LIMITED && wait !== undefined) {
      const announced = announcedWait(rule, limiter.rule.announces, state, at, n) ?? Number.NaN;
      // The figures are rounded to 0.001 ms, and times are doubles near 2^41.
      if (!(Math.abs(announced - wait) <= 0.002)) wrongWaits += 1;
    }
  });
  return { requests: run.requests.length, wrong, wrongDelays, wrongWaits };
}
