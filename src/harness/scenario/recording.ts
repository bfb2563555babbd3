// The requests of a log for replay: counts by cycle, of the log as one or of each client.
import { parseTimeMs } from '../../core/schema/quantity.js';
import type { LogSpec } from '../traffic/arrival/make.js';
import type { RequestSink } from '../traffic/log/intake.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { LogOrder } from '../traffic/log-order.js';
import type { RecordedLog } from './loaded-scenario.js';

export async function recordingOf(
  spec: LogSpec,
  cycleMs: number,
  read: (options: LogOptions, sink: RequestSink) => Promise<LogReading>,
): Promise<RecordedLog> {
  const order = new LogOrder({ cycleMs, isOne: spec.key_column === undefined });
  const { skippedLines } = await read(
    {
      format: spec.format,
      timeColumn: spec.time_column,
      countColumn: spec.count_column,
      keyColumn: spec.key_column,
      spreadMs: spec.spread === undefined ? undefined : parseTimeMs(spec.spread, cycleMs),
    },
    order,
  );
  const { names, firstCycle, lastCycle, isWholeSeconds } = order;
  return { names, firstCycle, lastCycle, requests: () => order.end(), skippedLines, isWholeSeconds };
}
