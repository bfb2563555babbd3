// Owns the file of a trace: every message a line of NDJSON, and of a short run a diagram beside it. Leaves the messages to simulate/trace.ts.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { Failure } from '../schema/failure.js';
import { MOST_DRAWN, sequenceDiagram } from '../simulate/sequence-diagram.js';
import { Trace, type TracedMessage } from '../simulate/trace.js';

/** Characters that are gathered before they are written. */
const CHUNK = 64 * 1024;

/** Written as it comes, in this thread: a run in virtual time does not wait for streams, and would fill the memory. */
export class TraceFile {
  readonly trace: Trace;
  private readonly file: number;
  private readonly first: TracedMessage[] = [];
  private chunk = '';
  private messages = 0;

  /** @throws Failure `unwritable_folder`, before anything has run */
  constructor(private readonly path: string) {
    this.file = this.written(() => openSync(path, 'w'));
    this.trace = new Trace((message) => this.take(message));
  }

  close(): void {
    this.trace.end();
    this.written(() => {
      writeSync(this.file, this.chunk);
      closeSync(this.file);
      if (this.messages <= MOST_DRAWN) writeFileSync(diagramPath(this.path), sequenceDiagram(this.first));
    });
  }

  private take(message: TracedMessage): void {
    this.messages += 1;
    if (this.messages <= MOST_DRAWN) this.first.push(message);
    this.chunk += `${JSON.stringify(message)}\n`;
    if (this.chunk.length < CHUNK) return;
    this.written(() => writeSync(this.file, this.chunk));
    this.chunk = '';
  }

  private written<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw new Failure('unwritable_folder', {
        what: `The trace ${this.path} cannot be written.`,
        why: `${(error as Error).message}.`,
        fix: 'Give the path of a file in a folder that exists.',
        cause: error,
      });
    }
  }
}

function diagramPath(path: string): string {
  return `${path.replace(/\.(ndjson|jsonl|json)$/, '')}.mmd`;
}
