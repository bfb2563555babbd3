// Files dropped on the page: a log becomes the arrivals of a scenario, a gateway file its limiter. No data leaves the page.
import type { ReadableStream, ReadableWritablePair } from 'node:stream/web';
import { parseDocument } from 'yaml';
import { limitFiles } from '../../core/limiter/products/limit-files.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { Failure } from '../../core/schema/failure.js';
import type { RecordedLog } from '../../harness/scenario/loaded-scenario.js';
import { recordingOf } from '../../harness/scenario/recording.js';
import type { LogSpec } from '../../harness/traffic/arrival/make.js';
import { readBytes } from '../../harness/traffic/log/read-bytes.js';

export type Taken =
  | { readonly kind: 'log'; readonly name: string; readonly requests: number; readonly format: string }
  | {
      readonly kind: 'limits';
      readonly name: string;
      readonly limits: readonly TakenLimit[];
      readonly notes: readonly string[];
    };

export interface TakenLimit {
  readonly words: string;
  readonly limit: Readonly<Record<string, unknown>>;
}

/** Larger files are not read as configuration. */
const MOST_CONFIGURATION = 1_000_000;

export class OwnLog {
  readonly #read = new Map<string, Promise<RecordedLog>>();

  constructor(
    readonly file: Blob,
    readonly name: string,
  ) {}

  /** Cached by way of reading: moving a slider reads nothing again. */
  recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog> {
    const way = JSON.stringify([spec, cycleMs]);
    return getOrInsert(this.#read, way, () =>
      recordingOf(spec, cycleMs, (options, sink) => readBytes(this.#chunks(), this.name, options, sink)),
    );
  }

  /** @throws Failure `unknown_format`, `invalid_input` */
  reading() {
    return readBytes(this.#chunks(), this.name, {}, { request: () => undefined });
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const isPacked = /\.gz$/i.test(this.name);
    const bytes = this.file.stream() as unknown as ReadableStream<Uint8Array>;
    const unpack = () => new DecompressionStream('gzip') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
    const reader = (isPacked ? bytes.pipeThrough(unpack()) : bytes).getReader();
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read())
      yield Buffer.from(value as Uint8Array);
  }
}

/** A gateway file if it contains limits, else a log. @throws Failure if it is neither */
export async function taken(file: File): Promise<{ readonly taken: Taken; readonly log: OwnLog | undefined }> {
  const { name } = file;
  let refusal: Failure | undefined;
  if (file.size <= MOST_CONFIGURATION) {
    const { limits, notes, refusal: unread } = await limitFiles().limitsIn(await file.text(), name);
    if (limits.length > 0) return { taken: { kind: 'limits', name, limits, notes }, log: undefined };
    refusal = unread;
  }
  const log = new OwnLog(file, name);
  const { requests, format } = await log.reading().catch((error: unknown) => {
    throw refusal ?? error;
  });
  return { taken: { kind: 'log', name, requests, format }, log };
}

export function withLog(text: string, file: string): string {
  const { limiter } = (parseDocument(text, { logLevel: 'error' }).toJS() ?? {}) as { readonly limiter?: unknown };
  const document = parseDocument(`question: What does this limiter do with the requests of ${file}?\n`);
  if (limiter !== undefined) document.set('limiter', document.createNode(limiter));
  document.set('arrivals', document.createNode([{ model: 'log', file }]));
  return document.toString({ lineWidth: 0 });
}

export function withLimit(text: string, limit: Readonly<Record<string, unknown>>): string {
  const document = parseDocument(text, { logLevel: 'error' });
  const node = document.createNode(limit);
  Object.assign(node, { flow: true });
  document.set('limiter', node);
  for (const field of ['compare', 'expect']) document.delete(field);
  return document.toString({ lineWidth: 0 });
}
