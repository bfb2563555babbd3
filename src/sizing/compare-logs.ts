// Logs through several rules at once.
import type { ComparedRules } from '../outcome/compared-rules.js';
import type { Feed } from '../simulate/feed.js';
import { LogOrder, readInOrder } from '../simulate/log-order.js';
import type { SourceHooks } from '../traffic/log/log-bytes.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import { type LogReading, readLogs } from '../traffic/log/read.js';
import type { Candidate } from './key-effects.js';
import { type ChangedKey, SideBySide } from './side-by-side.js';

export interface LogComparison extends ComparedRules {
  /** What the second rule decides otherwise than the first, by key. */
  readonly changed: readonly ChangedKey[];
  readonly readings: readonly LogReading[];
  /** What was assumed beside how the files were read. */
  readonly warnings: readonly Warning[];
}

/**
 * Decides every request at its ms; those of one ms key by key.
 * @throws Failure `invalid_definition`, `no_requests`, those of the log readers
 */
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
    const order = new LogOrder({
      cycleMs: 1,
      mostRows,
      isOne: log.keyColumn === undefined,
      decidesByMs: true,
      run: take,
    });
    const readings = await readLogs(paths, log, order, hooks);
    take(order.end());
    return { ...run.compared(), changed: run.changed(order.names), readings, warnings: order.warnings() };
  });
}
