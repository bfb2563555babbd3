// Owns reading a text as a log in a test: what reached the sink, and what was said about it.
import { Intake } from '../../../../src/harness/traffic/log/intake.js';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { HEAD_BYTES, openLog } from '../../../../src/harness/traffic/log/open.js';
import { type LogReading, readBytes } from '../../../../src/harness/traffic/log/read-bytes.js';

/** One call of the sink: time, number, key. */
export type Heard = readonly [unixMs: number, n: number, key: string];

export interface TextReading {
  readonly heard: readonly Heard[];
  readonly reading: LogReading;
  /** Of every skipped line that is kept, its number and the reason. */
  readonly skipped: readonly string[];
}

/** Reads a text, or the chunks it is given in. */
export async function readText(text: string | readonly Buffer[], options: LogOptions = {}): Promise<TextReading> {
  const heard: Heard[] = [];
  const chunks = typeof text === 'string' ? [Buffer.from(text)] : text;
  const sink = { request: (unixMs: number, n: number, key: string) => heard.push([unixMs, n, key]) };
  const reading = await readBytes(chunks, 'log', options, sink);
  return { heard, reading, skipped: reading.skipped.map(({ line, reason }) => `${line}: ${reason}`) };
}

/** What a format's reader makes of a log whose bytes come cut after each of the lengths, the rest as one. */
export function readCut(bytes: Buffer, lengths: readonly number[], options: LogOptions): unknown {
  const heard: Heard[] = [];
  const intake = new Intake({ request: (unixMs, n, key) => heard.push([unixMs, n, key]) }, 0);
  const { reader } = openLog(bytes.subarray(0, HEAD_BYTES), 'log', options, intake);
  let at = 0;
  // As from a file: every piece stands in the same buffer, which the next one overwrites.
  const buffer = Buffer.alloc(bytes.length);
  for (const length of [...lengths, bytes.length]) {
    const size = bytes.copy(buffer, 0, at, Math.min(bytes.length, at + length));
    reader.push(buffer.subarray(0, size));
    buffer.fill(0x58, 0, size);
    at += size;
  }
  reader.end();
  return { heard, lines: reader.lines, skippedLines: intake.skippedLines, skipped: intake.skipped };
}
