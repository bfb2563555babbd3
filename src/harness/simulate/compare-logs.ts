// Replays logs through several rules at once: in one pass, each rule decides every request separately.
//
//   requests   |||  | ||||   |
//   rule a     ||.  | |||.   |
//   rule b     |||  | ||..   |       newly refused 1, newly admitted 1
import { LIMITED, type Rule } from '../../core/limiter/rule/rule.js';
import { ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { ChangedKey, ComparedRules } from '../outcome/compared-rules.js';
import type { SourceHooks } from '../traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readInOrder, readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { LogOrder } from '../traffic/log-order.js';
import type { CycleCounts } from '../traffic/requests.js';
import { BunchedCount, SECOND_MS } from '../traffic/spread.js';
import { type Candidate, comparedRule, KeyEffects, RefusalTimeline } from './key-effects.js';

export interface LogComparison extends ComparedRules {
  readonly changed: readonly ChangedKey[];
  readonly readings: readonly LogReading[];
  readonly warnings: readonly Warning[];
}

/** @throws Failure `invalid_definition`, `no_requests`, those of the log readers */
export function compareLogs(
  paths: readonly string[],
  candidates: readonly Candidate[],
  log: LogOptions,
  hooks: SourceHooks,
): Promise<LogComparison> {
  return readInOrder(paths, async (mostRows) => {
    const run = sideBySide(candidates);
    const take = (batches: Iterable<CycleCounts>) => {
      for (const { contracts, requests, instants } of batches)
        for (const [k, ms] of instants!.entries()) run.add(contracts[k]!, requests[k]!, ms, order.readMs(ms));
    };
    // A rule that counts by cycles decides by the log's own times anyway.
    const bunched = candidates.map(({ definition }) =>
      definition.primitive === 'rolling_count' ? undefined : new BunchedCount({ rule: ruleOf(definition), holdMs: 0 }),
    );
    const order = new LogOrder({
      cycleMs: SECOND_MS,
      isTimed: true,
      mostRows,
      isOne: log.keyColumn === undefined,
      decidesByMs: bunched.some((one) => one !== undefined),
      asRead: (key, n, ms) => bunched.forEach((one) => void one?.add(key, n, ms)),
      run: take,
    });
    const readings = await readLogs(paths, log, order, hooks);
    take(order.end());
    const compared = run.compared();
    const figures = compared.rules.flatMap(({ name, limited }, index) => {
      const harshest = bunched[index]?.limited;
      return harshest === undefined ? [] : [`${name} limits ${limited} so, and ${harshest}`];
    });
    const warnings = order.warnings(`${figures.join('; ')} if all of a second came at its beginning.`);
    return { ...compared, changed: run.changed(order.names), readings, warnings };
  });
}

/** What a rule has counted for a key, and done to it. */
interface Subject {
  readonly state: unknown;
  readonly effects: KeyEffects;
}

function decide(rule: Rule, { state, effects }: Subject, ms: number, n: number): number {
  let admitted = 0;
  for (let k = 0; k < n; k += 1) {
    const delay = rule.admit(state, ms, 1, 0);
    if (delay === LIMITED) continue;
    admitted += 1;
    effects.started(ms + delay);
  }
  effects.decided(ms, n, admitted, () => rule.nextAdmission(state, ms, 1));
  return admitted;
}

export function sideBySide(candidates: readonly Candidate[]) {
  const subjects: Subject[][] = [];
  /** By key: requests that only the second candidate refuses, or only it admits. */
  const changes = new Map<number, { refused: number; admitted: number }>();
  const rules = candidates.map(({ definition }) => ruleOf(definition));
  const countsCycles = candidates.map(({ definition }) => definition.primitive === 'rolling_count');
  const timelines = candidates.map(() => new RefusalTimeline());
  return {
    /** Times ascend. @param readMs the time in the log, for rules that count by cycles. Default: `ms` */
    add(key: number, n: number, ms: number, readMs = ms): void {
      subjects[key] ??= rules.map((rule) => ({ state: rule.fresh(readMs), effects: new KeyEffects() }));
      const admitted = subjects[key].map((subject, index) =>
        decide(rules[index]!, subject, countsCycles[index]! ? readMs : ms, n),
      );
      admitted.forEach((ofRule, index) => void timelines[index]!.add(ms, n, ofRule));
      const [before = 0, after = before] = admitted;
      if (before === after) return;
      const change = getOrInsert(changes, key, () => ({ refused: 0, admitted: 0 }));
      change.refused += Math.max(0, before - after);
      change.admitted += Math.max(0, after - before);
    },
    compared(): ComparedRules {
      return {
        keys: subjects.length,
        rules: candidates.map((candidate, index) =>
          comparedRule(
            candidate,
            subjects.map((each) => each[index]!.effects),
          ),
        ),
        timeline: RefusalTimeline.together(timelines),
      };
    },
    changed(names: readonly string[]): ChangedKey[] {
      return [...changes]
        .sort(([a, x], [b, y]) => y.refused - x.refused || y.admitted - x.admitted || a - b)
        .map(([key, { refused, admitted }]) => ({
          key: names[key]!,
          requests: subjects[key]![0]!.effects.requests,
          newly_refused: refused,
          newly_admitted: admitted,
        }));
    },
  };
}
