// The files of a trace: messages as NDJSON, the same for Stately's inspector, and a sequence diagram. With too many messages, the diagram
// shows only those that changed an actor's state.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import type { InspectionEvent } from 'xstate';
import { unwritableFailure } from '../core/schema/unwritable.js';
import type { Clock } from '../core/time/clock.js';
import { statelyTrace } from '../harness/simulate/stately-trace.js';
import { MOST_DRAWN, sequenceDiagram, type TracedMessage, traceInto } from '../harness/simulate/trace.js';

const CHUNK = 64 * 1024;

export class TraceFile {
  readonly files: readonly [trace: string, diagram: string, stately: string];
  readonly #path: string;
  readonly #trace = traceInto((message) => this.#take(message));
  readonly #stately = statelyTrace((line) => this.#statelyLines.add(line));
  readonly #lines: Lines;
  readonly #statelyLines: Lines;
  readonly #first: TracedMessage[] = [];
  readonly #changes: TracedMessage[] = [];
  #messages = 0;

  constructor(path: string) {
    this.#path = path;
    const stem = path.replace(/\.(ndjson|jsonl|json)$/, '');
    this.files = [path, `${stem}.mmd`, `${stem}.stately.ndjson`];
    this.#lines = this.#guarded(() => new Lines(path));
    this.#statelyLines = this.#guarded(() => new Lines(this.files[2]));
  }

  readonly inspect = (event: InspectionEvent, clock: Clock): void => {
    this.#guarded(() => {
      this.#trace.inspect(event, clock);
      this.#stately(event, clock);
    });
  };

  close(): void {
    this.#guarded(() => {
      this.#trace.end();
      this.#lines.close();
      this.#statelyLines.close();
      const drawn = this.#messages <= MOST_DRAWN ? this.#first : this.#changes;
      writeFileSync(this.files[1], sequenceDiagram(drawn, this.#messages));
    });
  }

  #take(message: TracedMessage): void {
    this.#messages += 1;
    if (this.#messages <= MOST_DRAWN) this.#first.push(message);
    if (message.before !== message.after && this.#changes.length < MOST_DRAWN) this.#changes.push(message);
    this.#lines.add(JSON.stringify(message));
  }

  #guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw unwritableFailure(`The trace ${this.#path}`, error, 'Give the path of a file in a folder that exists.');
    }
  }
}

/** Writes synchronously: a run in virtual time does not wait for streams, so their buffers would fill the memory. */
class Lines {
  readonly #file: number;
  #chunk = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  add(line: string): void {
    this.#chunk += `${line}\n`;
    if (this.#chunk.length < CHUNK) return;
    writeSync(this.#file, this.#chunk);
    this.#chunk = '';
  }

  close(): void {
    writeSync(this.#file, this.#chunk);
    closeSync(this.#file);
  }
}
