// Reads the file of a scenario, and the files that it names.
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { packageFile } from '../../core/files/package-file.js';
import { readDocument } from '../../core/schema/document.js';
import { Failure } from '../../core/schema/failure.js';
import { readText, refuseKind } from '../../core/schema/text-file.js';
import type { LogSpec } from '../traffic/arrival/make.js';
import { readLog } from '../traffic/log/read.js';
import { limiterIn } from './limit-file.js';
import type { RecordedLog, ScenarioSource } from './loaded-scenario.js';
import { recordingOf } from './recording.js';
import type { Scenario } from './scenario-schema.js';

export class FileSource implements ScenarioSource {
  /** @param readsFiles false for a scenario that was sent: it may name no file */
  constructor(
    readonly path: string,
    readonly readsFiles = true,
  ) {}

  get name(): string {
    return nameOf(this.path);
  }

  definition(file: string): string {
    this.#refuse(file);
    const fix = 'Name a file in YAML or JSON, beside the scenario.';
    return readText(resolve(dirname(this.path), file), { what: `The definition ${file}`, fix });
  }

  async recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog> {
    this.#refuse(spec.file);
    const path = resolve(dirname(this.path), spec.file);
    refuseEndless(path, spec.file);
    return recordingOf(spec, cycleMs, (options, sink) => readLog(path, options, sink));
  }

  #refuse(file: string): void {
    if (this.readsFiles) return;
    throw new Failure('unreadable_file', {
      what: `The file ${file} was not read.`,
      why: 'The scenario names files, which a worker does not read.',
      fix: 'Write what it holds into the scenario.',
    });
  }
}

function nameOf(path: string): string {
  return basename(path, extname(path)).toLowerCase();
}

/** @throws Failure `unreadable_file` for a device or pipe, which an untrusted scenario may name */
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

/** @throws Failure `unreadable_file` */
export async function readSource(path: string): Promise<string> {
  const name = nameOf(path);
  const isShipped = existsSync(join(dirname(packageFile('scenarios/README.md')), `${name}.yaml`));
  const fix = isShipped
    ? `\`weir init ${name}.yaml --from ${name}\` copies the shipped one.`
    : path === '-'
      ? 'Standard input is read as /dev/stdin.'
      : 'Give the path of a YAML or JSON file. `weir init` writes a first one.';
  return readText(path, { what: `The scenario ${path}`, fix, isGiven: true });
}

/** Inlines the definition file. @throws Failure `wrong_usage` for a scenario with a log */
export function withoutFiles({ path, scenario }: { readonly path: string; readonly scenario: unknown }): unknown {
  const { limiter } = scenario as Scenario;
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  const source = new FileSource(path);
  const read = (name: string) => readDocument(source.definition(name), name).value;
  const whole =
    typeof limiter === 'string'
      ? limiterIn(limiter, (file) => source.definition(file))
      : typeof definition === 'string'
        ? { ...limiter, definition: read(definition) }
        : limiter;
  const value = whole === limiter ? scenario : { ...(scenario as object), limiter: whole };
  if (namesFiles(value))
    throw new Failure('wrong_usage', {
      what: 'The scenario cannot be sent to workers.',
      why: `${path} reads a log, which workers do not have.`,
      fix: 'Leave --workers out.',
    });
  return value;
}

export function namesFiles(scenario: unknown): boolean {
  const { arrivals, limiter } = (scenario ?? {}) as { readonly arrivals?: unknown; readonly limiter?: unknown };
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  return typeof definition === 'string' || (Array.isArray(arrivals) && arrivals.some((one) => one?.model === 'log'));
}
