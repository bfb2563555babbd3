// What a scenario reads from the disk: its own text from a file or a pipe, and the files that it names, from its folder.
import { statSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { readText, refuseKind } from '../schema/text-file.js';
import { readLog } from '../traffic/log/read.js';
import { CycleTally } from '../traffic/tally.js';
import type { LogSpec, RecordedLog, ScenarioSource } from './loaded-scenario.js';

/** A scenario of a file, which need not exist: the files that it names lie beside it. */
export class FileSource implements ScenarioSource {
  constructor(readonly path: string) {}

  get name(): string {
    return nameOf(this.path);
  }

  definition(file: string): string {
    const fix = 'Name a file in YAML or JSON, beside the scenario.';
    return readText(resolve(dirname(this.path), file), { what: `The definition ${file}`, fix });
  }

  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog> {
    return readRecording(spec, dirname(this.path), cycleMs);
  }
}

function nameOf(path: string): string {
  return basename(path, extname(path)).toLowerCase();
}

async function readRecording(spec: LogSpec, folder: string, cycleMs: number): Promise<RecordedLog> {
  const tally = new CycleTally(cycleMs);
  const path = resolve(folder, spec.file);
  refuseEndless(path, spec.file);
  const { skippedLines } = await readLog(
    path,
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

/** @throws Failure `unreadable_file` for a device or a pipe: a scenario of somebody else may name it */
function refuseEndless(path: string, file: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  try {
    if (stat !== undefined && !stat.isDirectory()) refuseKind(stat, false);
  } catch (error) {
    throw new Failure('unreadable_file', {
      what: `The log ${file} was not read.`,
      why: `A scenario reads regular files, and ${(error as Error).message.replace(', and not a regular file', '')}.`,
      fix: 'Name a log file. `weir replay` reads pipes.',
    });
  }
}

/** The source of a scenario that came from elsewhere: it reads nothing, whatever the scenario names. */
export class NoFiles implements ScenarioSource {
  constructor(readonly path: string) {}

  get name(): string {
    return nameOf(this.path);
  }

  definition(file: string): string {
    throw notRead(file);
  }

  recording({ file }: LogSpec): Promise<RecordedLog> {
    return Promise.reject(notRead(file));
  }
}

function notRead(file: string): Failure {
  return new Failure('unreadable_file', {
    what: `The file ${file} was not read.`,
    why: 'The scenario names files, which a worker does not read.',
    fix: 'Write what it holds into the scenario.',
  });
}

/** @throws Failure `unreadable_file` */
export async function readSource(path: string): Promise<string> {
  const fix = 'Give the path of a YAML or JSON file, for example scenarios/burst.yaml.';
  return readText(path, { what: `The scenario ${path}`, fix, isGiven: true });
}
