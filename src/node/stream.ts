// Owns the readers of event streams: who hears what, and from where on. Leaves the messages to cloud-event.ts, durable rows to
// whoever hands them in, cutting a reader whose connection stands still to the idle timeout of the server.
//
//   Last-Event-ID: 7 ─► behind: rows 8 … head from the store, page by page, as fast as the reader takes them
//                         │ ▲
//             caught up   ▼ │   more waits for it than it may
//                        live: every row as it becomes durable, every cycle as it begins
//
// So what waits for a reader is bounded however slow it is, and it misses nothing but cycles. Those who are behind take turns, a page
// each: see turns.ts.
import type { ServerResponse } from 'node:http';
import type { Machine } from '../host/machine.js';
import type { AuditRow } from '../record/row.js';
import { Failure } from '../schema/failure.js';
import type { Store } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import type { CycleTick } from '../time/cycles.js';
import type { Caller } from './access.js';
import { cycleMessage, messagesOf } from './cloud-event.js';
import type { Counts } from './counts.js';
import type { Turns } from './fair-queue.js';
import type { Limits } from './limits.js';

interface Reader {
  readonly response: ServerResponse;
  readonly machine: Machine;
  /** Undefined for anyone, on a public machine. */
  readonly caller: Caller | undefined;
  /** The last row that was written to it. */
  seq: number;
  /** Whether it has caught up. */
  isLive: boolean;
  /** Whether something was written since the last heartbeat. */
  isFresh: boolean;
}

export interface StreamsSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly counts: Counts;
  readonly limits: Pick<Limits, 'readers' | 'readerBytes'>;
  /** Whether a caller may still listen. */
  readonly holds: (caller: Caller) => boolean;
}

/** Rows that are told again at a time. */
const PAGE = 100;

/** How long a browser waits before it comes back, in ms. */
const RETRY_MS = 2_000;

export class Streams {
  readonly #sources: StreamsSources;
  readonly #byMachine = new Map<string, Set<Reader>>();
  #size = 0;

  constructor(sources: StreamsSources) {
    this.#sources = sources;
  }

  /** How many read. */
  get size(): number {
    return this.#size;
  }

  /**
   * Turns a response into a stream.
   * @param afterSeq the last row that the reader has seen; undefined to begin with what happens from now on
   * @throws Failure `node_overloaded`
   */
  open(response: ServerResponse, machine: Machine, caller: Caller | undefined, afterSeq: number | undefined): void {
    if (this.#size >= this.#sources.limits.readers) throw tooManyReaders();
    const seq = Math.min(afterSeq ?? machine.durableSeq, machine.durableSeq);
    const reader: Reader = { response, machine, caller, seq, isLive: false, isFresh: true };
    const readers = this.#byMachine.get(machine.slug) ?? new Set();
    this.#byMachine.set(machine.slug, readers.add(reader));
    this.#size += 1;
    response.on('close', () => this.#forget(reader));
    response.on('error', () => response.destroy());
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#goOn(reader);
  }

  /** A row has become durable. */
  take(row: AuditRow): void {
    const readers = this.#byMachine.get(row.machine);
    if (readers === undefined) return;
    const messages = Buffer.from(messagesOf(row));
    for (const reader of readers) if (reader.isLive && row.seq > reader.seq) this.#tell(reader, row.seq, messages);
  }

  /** A cycle has begun. */
  tick({ cycle, missed }: CycleTick): void {
    for (const [slug, readers] of this.#byMachine) {
      const { durableSeq } = [...readers][0]!.machine;
      const message = Buffer.from(cycleMessage(slug, durableSeq, cycle, missed, this.#sources.clock.cycleMs));
      for (const reader of readers) if (reader.isLive) this.#tell(reader, reader.seq, message);
    }
  }

  /** Shows every quiet reader that the stream lives, and sends away who may not listen any more. */
  beat(): void {
    for (const reader of this.#all()) {
      if (reader.caller !== undefined && !this.#sources.holds(reader.caller)) reader.response.end();
      else if (!reader.isFresh && reader.isLive) this.#write(reader, ':\n\n');
      reader.isFresh = false;
    }
  }

  /** Ends every stream; the readers will come back to whoever takes over. */
  close(): void {
    for (const { response } of this.#all()) response.end();
  }

  /** Lets a reader be told what it has not seen when its turn comes; live where there is nothing. */
  #goOn(reader: Reader): void {
    reader.isLive = reader.seq === reader.machine.durableSeq;
    if (!reader.isLive) this.#sources.turns.take(() => this.#tellPage(reader));
  }

  /** Tells a page of what the reader has not seen, and lets it wait for the next once it has taken that. */
  #tellPage(reader: Reader): void {
    const { response, machine } = reader;
    if (response.destroyed) return;
    const limit = Math.min(PAGE, machine.durableSeq - reader.seq);
    const rows = this.#sources.store.rows(machine.slug, { afterSeq: reader.seq, limit });
    for (const row of rows) this.#tell(reader, row.seq, messagesOf(row));
    if (response.writableNeedDrain) response.once('drain', () => this.#goOn(reader));
    else this.#goOn(reader);
  }

  #tell(reader: Reader, seq: number, messages: Buffer | string): void {
    reader.seq = seq;
    if (messages.length > 0) this.#write(reader, messages);
  }

  #write(reader: Reader, text: Buffer | string): void {
    const { response } = reader;
    if (response.destroyed || response.writableEnded) return;
    response.write(text);
    reader.isFresh = true;
    if (!reader.isLive || response.writableLength <= this.#sources.limits.readerBytes) return;
    this.#sources.counts.laggingReaders += 1;
    reader.isLive = false;
    response.once('drain', () => this.#goOn(reader));
  }

  #forget(reader: Reader): void {
    const { slug } = reader.machine;
    const readers = this.#byMachine.get(slug);
    if (readers === undefined || !readers.delete(reader)) return;
    this.#size -= 1;
    if (readers.size === 0) this.#byMachine.delete(slug);
  }

  *#all(): Generator<Reader> {
    for (const readers of [...this.#byMachine.values()]) yield* [...readers];
  }
}

function tooManyReaders(): Failure {
  return new Failure('node_overloaded', {
    what: 'The stream was not opened.',
    why: 'As many readers as this node takes are listening already.',
    fix: 'Try again later, or ask another node.',
  });
}
