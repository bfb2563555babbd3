// Refusals of generated logs, of a limit and of a service behind it, both known: none is assigned wrong, however coarse the times are.
import { describe, expect, it } from 'vitest';
import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, uncheckedRule } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { meantRules } from '../../../src/harness/explain/meant-rules.js';
import type { LoggedAnswer } from '../../../src/harness/explain/stretch-search.js';
import { judgeKey, phasesThatExplain } from '../../../src/harness/explain/whose-refusals.js';
import { memoryMs } from '../../../src/harness/live/near-rules.js';
import { isAll } from '../../draws.js';

const window = { limit: 8, window_ms: 1_000 };

const rules: Readonly<Record<string, RuleDefinition>> = {
  nginx: { primitive: 'nginx_limit_req', params: { rate_1000: 10_000, burst: 5, nodelay: true } },
  'nginx, held': { primitive: 'nginx_limit_req', params: { rate_1000: 7_300, burst: 8 } },
  'token bucket': { primitive: 'token_bucket', params: { rate: 10, per_ms: 1_000, capacity: 8 } },
  'fixed window': { primitive: 'fixed_window', params: window },
  'fixed window, all count': { primitive: 'fixed_window', params: { ...window, count_refused: true } },
  'fixed window of the epoch': { primitive: 'fixed_window', params: { ...window, align: 'epoch' } },
  'sliding log': { primitive: 'sliding_log', params: window },
  'sliding counter': { primitive: 'sliding_counter', params: { ...window, count_refused: true, even_ms: true } },
};
const minute = { limit: 8, window_ms: 60_000 };
const ofMinutes: Readonly<Record<string, RuleDefinition>> = {
  'fixed window of a minute': { primitive: 'fixed_window', params: { ...minute, align: 'epoch' } },
  'sliding log of a minute': { primitive: 'sliding_log', params: minute },
  'nginx by the minute': { primitive: 'nginx_limit_req', params: { rate_1000: 133, burst: 5, nodelay: true } },
};

const START_MS = 1_700_000_000_000;
const BEHIND = 0.1;

interface Traffic {
  readonly grainMs: number;
  /** How much slower than for limits of a second. */
  readonly slow?: number;
  /** How far the clock of the limit is off. */
  readonly offMs?: number;
}

/** A log, and who refused. */
function traffic(rule: RuleDefinition, seed: number, { grainMs, slow = 1, offMs = 0 }: Traffic) {
  const stream = new RandomStream(seed, 'log');
  const limiter = uncheckedRule(rule);
  const state = limiter.fresh(START_MS);
  let ms = START_MS + 5_000 * slow * stream.uniform();
  const log = Array.from({ length: 200 }, (_, n): { readonly answer: LoggedAnswer; readonly isOurs: boolean } => {
    const isBusy = Math.floor(n / 40) % 2 === 0;
    ms += slow * (stream.uniform() * (isBusy ? 120 : 500) + (n % 97 === 0 ? 3_000 : 0));
    const isOurs = limiter.admit(state, Math.floor(ms) - offMs, 1, 0) === LIMITED;
    const isBehind = !isOurs && stream.uniform() < BEHIND;
    const fromMs = Math.floor((ms - 3 * stream.uniform()) / grainMs) * grainMs - 1;
    const endMs = isOurs ? ms : ms + 60 * stream.uniform();
    const toMs = (Math.floor(endMs / grainMs) + 1) * grainMs + 1;
    return { answer: { fromMs, toMs, kind: isOurs || isBehind ? 'refused' : 'passed', rule: 0 }, isOurs };
  });
  return log.sort((a, b) => a.answer.fromMs - b.answer.fromMs);
}

/** Judged by rules that may be meant, over seeds, against who refused. */
function judged(rule: RuleDefinition, given: Traffic, meant: readonly RuleDefinition[] = [rule]) {
  const all = { ours: 0, behind: 0, judged: 0, wrong: 0, outside: 0, letThrough: 0 };
  for (let seed = 1; seed <= (isAll ? 25 : 3); seed += 1) {
    const log = traffic(rule, seed, given);
    const answers = log.map(({ answer }) => answer);
    const options = { startMs: START_MS, memoryMs: Math.max(...meant.map(memoryMs)), nodes: { left: 400_000 } };
    const phases = phasesThatExplain(
      [answers],
      meant.map((one) => [one]),
      options,
      meant.length > 1,
    );
    const found = phases.map((phase) => judgeKey(answers, phase, options));
    const ours = log.filter(({ isOurs }) => isOurs).length;
    if (!found.some(({ least, most }) => least <= ours && ours <= most)) all.outside += 1;
    all.letThrough += Math.min(...found.map(({ letThrough }) => letThrough.size));
    log.forEach(({ answer, isOurs }, k) => {
      if (answer.kind !== 'refused') return;
      const admitted = found.some(({ possible }) => possible[k]!.admitted);
      const refused = found.some(({ possible }) => possible[k]!.refused);
      all[isOurs ? 'ours' : 'behind'] += 1;
      if (admitted !== refused) all.judged += 1;
      if (isOurs ? !refused : !admitted) all.wrong += 1;
    });
  }
  return { ...all, share: all.judged / (all.ours + all.behind) };
}

const right = { wrong: 0, outside: 0, letThrough: 0 };

describe.each(Object.entries(rules))('%s', (_, rule) => {
  it('most refusals are assigned, and none wrong, with times known to 1 ms', () => {
    const found = judged(rule, { grainMs: 1 });
    expect(found).toMatchObject(right);
    expect(found.share).toBeGreaterThan(0.7);
  });

  it.each([100, 1_000])('no refusal is assigned wrong with times known to %s ms', (grainMs) => {
    expect(judged(rule, { grainMs })).toMatchObject(right);
  });
});

describe.each(Object.entries(ofMinutes))('%s', (_, rule) => {
  it('more than half of the refusals are assigned, and none wrong, with times known to 1 s', () => {
    const found = judged(rule, { grainMs: 1_000, slow: 60 });
    expect(found).toMatchObject(right);
    expect(found.share).toBeGreaterThan(0.5);
  });
});

const meant = meantRules({ threshold: 8, within: '60s' });

it.each(Object.entries(ofMinutes).slice(0, 2))(
  'a %s is found at any phase, and no refusal assigned wrong',
  (__, rule) => {
    expect(judged(rule, { grainMs: 1_000, slow: 60, offMs: 17_300 }, meant)).toMatchObject(right);
  },
);

it('a judgement names what was let through, and judges nothing near it', () => {
  const rule: RuleDefinition = { primitive: 'sliding_log', params: { limit: 3, window_ms: 1_000 } };
  const at = (ms: number, kind: LoggedAnswer['kind'] = 'passed') => ({ fromMs: ms, toMs: ms + 1, kind, rule: 0 });
  const answers = [at(0), at(10), at(20), at(30), at(40, 'refused'), at(5_000, 'refused')];
  const phase = { rules: [rule], phaseMs: 0, widthMs: 0, periods: [] };
  const { letThrough, possible } = judgeKey(answers, phase, {
    startMs: -5_000,
    memoryMs: 1_000,
    nodes: { left: 1_000 },
  });
  expect([...letThrough]).toEqual([3]);
  expect(possible.slice(4)).toEqual([
    { admitted: true, refused: true },
    { admitted: true, refused: false },
  ]);
});

it('it is known what a counter that was in use when the log begins cannot have refused', () => {
  const rule = rules['sliding counter']!;
  const log = Array.from({ length: 30 }, (_, n): LoggedAnswer => {
    return { fromMs: 400 * n, toMs: 400 * n + 5, kind: n === 2 || n === 20 ? 'refused' : 'passed', rule: 0 };
  });
  const phase = { rules: [rule], phaseMs: 0, widthMs: 0, periods: [] };
  const { possible } = judgeKey(log, phase, { startMs: 0, memoryMs: memoryMs(rule), nodes: { left: 10_000 } });
  expect([possible[2], possible[20]]).toEqual([
    { admitted: true, refused: true },
    { admitted: true, refused: false },
  ]);
});
