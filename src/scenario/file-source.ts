// What a scenario reads from the disk: its own text from a file or a pipe, and the files that it names, from its folder.
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { readLog } from '../traffic/log/read.js';
import { CycleTally } from '../traffic/tally.js';
import type { LogSpec, RecordedLog, ScenarioSource } from './loaded-scenario.js';

/** A scenario of a file, which need not exist: the files that it names lie beside it. */
export class FileSource implements ScenarioSource {
  constructor(readonly path: string) {}

  get name(): string {
    return basename(this.path, extname(this.path)).toLowerCase();
  }

  definition(file: string): string {
    return readFileSync(resolve(dirname(this.path), file), 'utf8');
  }

  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog> {
    return readRecording(spec, dirname(this.path), cycleMs);
  }
}

async function readRecording(spec: LogSpec, folder: string, cycleMs: number): Promise<RecordedLog> {
  const tally = new CycleTally(cycleMs);
  const { skippedLines } = await readLog(
    resolve(folder, spec.file),
    {
      format: spec.format,
      timeColumn: spec.time_column,
      countColumn: spec.count_column,
      keyColumn: spec.key_column,
      spreadMs: spec.spread === undefined ? undefined : parseTimeMs(spec.spread, cycleMs),
    },
    tally,
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
  };
}

/** The longest scenario that is read, in bytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/** @throws Failure `unreadable_file` */
export async function readSource(path: string): Promise<string> {
  try {
    return textOf(await bytesOf(path));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Failure('unreadable_file', {
      what: `The scenario ${path} cannot be read.`,
      why: reasons[code] ?? `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      fix: 'Give the path of a YAML or JSON file, for example scenarios/burst.yaml.',
      cause: error,
    });
  }
}

/** Counts the bytes read instead of asking the file system: a pipe has no size, and a device no end. */
async function bytesOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    }
    return Buffer.concat(chunks, length);
  } finally {
    await file.close();
  }
}

function textOf(bytes: Buffer): string {
  if (bytes.includes(0)) throw new Error('it is no text: there are zero bytes in it');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('it is no text in UTF-8');
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  ENOTDIR: 'A part of its path is a file, not a folder.',
  EISDIR: 'It is a folder.',
  EACCES: 'Permission is denied.',
  EPERM: 'Permission is denied.',
};
