// The requests of a log for replay: counts by cycle, in total and by client.
import { parseTimeMs } from '../../core/schema/quantity.js';
import type { LogSpec } from '../traffic/arrival/make.js';
import type { RequestSink } from '../traffic/log/intake.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { WholeSeconds } from '../traffic/log/whole-seconds.js';
import { CycleTally } from '../traffic/tally.js';
import type { RecordedLog } from './loaded-scenario.js';

export async function recordingOf(
  spec: LogSpec,
  cycleMs: number,
  read: (options: LogOptions, sink: RequestSink) => Promise<LogReading>,
): Promise<RecordedLog> {
  const tally = new CycleTally(cycleMs);
  const seconds = new WholeSeconds();
  const { skippedLines } = await read(
    {
      format: spec.format,
      timeColumn: spec.time_column,
      countColumn: spec.count_column,
      keyColumn: spec.key_column,
      spreadMs: spec.spread === undefined ? undefined : parseTimeMs(spec.spread, cycleMs),
    },
    {
      opened: (unit) => seconds.opened(unit),
      request(unixMs, n, key, spreadMs) {
        seconds.see(unixMs, n);
        tally.request(unixMs, n, key, spreadMs);
      },
    },
  );
  const keys = [...tally.keys()];
  const origin = Math.min(...keys.map((key) => tally.inOrder(key).cycles[0] ?? Number.POSITIVE_INFINITY));
  const recordings = keys.map((key) => {
    const { cycles, counts } = tally.inOrder(key);
    return { key, recording: { cycles: cycles.slice(), counts: counts.slice(), origin } };
  });
  return {
    whole: recordings[0]!.recording,
    byKey: spec.key_column === undefined ? undefined : recordings,
    skippedLines,
    isWholeSeconds: seconds.holds,
  };
}
