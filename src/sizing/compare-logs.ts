// Replays logs through several rules at once.
import { ruleOf } from '../limiter/rule/rule-definition.js';
import type { ComparedRules } from '../outcome/compared-rules.js';
import type { Feed } from '../simulate/feed.js';
import { LogOrder, readInOrder } from '../simulate/log-order.js';
import { BunchedCount } from '../simulate/spread-seconds.js';
import type { SourceHooks } from '../traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { readLogs } from '../traffic/log/read.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import type { Candidate } from './key-effects.js';
import { type ChangedKey, SideBySide } from './side-by-side.js';

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
    const run = new SideBySide(candidates);
    const take = (buffer: Feed) => {
      for (let ms = buffer.next(); ms !== undefined; ms = buffer.next())
        buffer.arrive(ms, (key, n, at) => run.add(key, n, at, order.readMs(at)));
    };
    // A rule that counts by cycles decides by the log's own times anyway.
    const bunched = candidates.map(({ definition }) =>
      definition.primitive === 'rolling_count' ? undefined : new BunchedCount({ rule: ruleOf(definition), holdMs: 0 }),
    );
    const order = new LogOrder({
      cycleMs: 1,
      mostRows,
      isOne: log.keyColumn === undefined,
      decidesByMs: true,
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
