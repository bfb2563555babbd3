// The files of a trace: every message as a line of NDJSON, and a sequence diagram. If a run has too many messages for a diagram, the
// diagram shows only those that changed the state of an actor.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { Failure } from '../schema/failure.js';
import { MOST_DRAWN, sequenceDiagram } from '../simulate/sequence-diagram.js';
import { Trace, type TracedMessage } from '../simulate/trace.js';

/** Number of characters written at once. */
const CHUNK = 64 * 1024;

/** Writes synchronously: a run in virtual time does not wait for streams, so their buffers would fill the memory. */
export class TraceFile {
  readonly trace: Trace;
  /** The trace and its diagram. */
  readonly files: readonly string[];
  readonly #path: string;
  readonly #file: number;
  /** The first messages, and the first messages that changed a state, at most as many as a diagram can show. */
  readonly #first: TracedMessage[] = [];
  readonly #changes: TracedMessage[] = [];
  #chunk = '';
  #messages = 0;

  /** @throws Failure `unwritable_folder` */
  constructor(path: string) {
    this.#path = path;
    this.files = [path, `${path.replace(/\.(ndjson|jsonl|json)$/, '')}.mmd`];
    this.#file = this.#guarded(() => openSync(path, 'w'));
    this.trace = new Trace((message) => this.#take(message));
  }

  close(): void {
    this.trace.end();
    const drawn = this.#messages <= MOST_DRAWN ? this.#first : this.#changes;
    this.#guarded(() => {
      writeSync(this.#file, this.#chunk);
      closeSync(this.#file);
      writeFileSync(this.files[1]!, sequenceDiagram(drawn, this.#messages));
    });
  }

  #take(message: TracedMessage): void {
    this.#messages += 1;
    if (this.#messages <= MOST_DRAWN) this.#first.push(message);
    if (message.before !== message.after && this.#changes.length < MOST_DRAWN) this.#changes.push(message);
    this.#chunk += `${JSON.stringify(message)}\n`;
    if (this.#chunk.length < CHUNK) return;
    this.#guarded(() => writeSync(this.#file, this.#chunk));
    this.#chunk = '';
  }

  #guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw new Failure('unwritable_folder', {
        what: `The trace ${this.#path} cannot be written.`,
        why: `${(error as Error).message}.`,
        fix: 'Give the path of a file in a folder that exists.',
        cause: error,
      });
    }
  }
}
