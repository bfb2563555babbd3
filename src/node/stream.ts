// The readers of event streams. A message is a CloudEvents 1.0 envelope made from a row: live or repeated, it is the same under the same id.
//
//   Last-Event-ID: 7 ─► behind: rows 8 … head from the store, page by page, as fast as the reader takes them
//                         │ ▲
//             caught up   ▼ │   more bytes wait than the limit       rows that were removed: one message says so
//                        live: every row as it becomes durable, every cycle as it begins, with the counts of those before: contract-histories.ts
//
// The backlog of a slow reader is bounded, and it misses nothing but cycles. Readers behind take turns, one page each: see caller-queue.ts. The
// server's idle timeout cuts a reader that takes nothing.
import type { ServerResponse } from 'node:http';
import { getOrInsert } from '../core/math/get-or-insert.js';
import type { AuditRow } from '../core/record/row.js';
import { Failure } from '../core/schema/failure.js';
import type { Clock } from '../core/time/clock.js';
import type { CycleTick } from '../core/time/cycles.js';
import { type Asking, type Bounds, placeOfAsking } from './bounds.js';
import { type CallerQueue, NODE } from './caller-queue.js';
import type { ContractHistories, Watched } from './contract-histories.js';
import type { Contract } from './host/contract.js';
import type { Machine } from './host/machine.js';
import type { Limits } from './limits.js';
import type { Counts } from './metrics.js';
import type { Caller } from './permission.js';
import { draining } from './problem.js';
import { sourceOf } from './request-source.js';
import type { RecordReader } from './store/store.js';
import { countsMessage, cycleMessage, messagesOf, removedMessage } from './stream-messages.js';

interface Reader {
  readonly response: ServerResponse;
  readonly machine: Machine;
  readonly asking: Asking;
  readonly watched: Watched | undefined;
  seq: number;
  isLive: boolean;
  isFresh: boolean;
  /** While its counts are written. */
  isCounted: boolean;
}

interface Opening extends Asking {
  readonly contracts: readonly Contract[];
  readonly afterCycle: number | undefined;
}

interface StreamsSources {
  readonly record: RecordReader;
  readonly clock: Clock;
  readonly queue: CallerQueue;
  readonly counts: Counts;
  readonly bounds: Bounds;
  readonly limits: Pick<Limits, 'readerBytes'>;
  readonly histories: () => ContractHistories;
  readonly holds: (caller: Caller) => boolean;
  readonly onError: (error: unknown) => void;
}

const PAGE = 100;

const RETRY_MS = 2_000;

export class Streams {
  readonly #sources: StreamsSources;
  readonly #byMachine = new Map<string, Set<Reader>>();
  /** By machine: those that are being sent, in turns. */
  readonly #rows = new Map<string, { readonly seq: number; readonly messages: Buffer }[]>();
  #isClosed = false;

  constructor(sources: StreamsSources) {
    this.#sources = sources;
  }

  /** Without `afterSeq`, only new rows. @throws Failure `node_draining`, `node_overloaded`, `too_many_requests`, `invalid_input` */
  open(
    response: ServerResponse,
    machine: Machine,
    { caller, ip, contracts, afterCycle }: Opening,
    afterSeq: number | undefined,
  ): void {
    const { bounds, histories } = this.#sources;
    if (this.#isClosed) throw draining();
    const asking = { caller, ip };
    const place = placeOfAsking(asking);
    bounds.streams.refuse(place, 1);
    const watched = contracts.length === 0 ? undefined : histories().watch(contracts, afterCycle, place[1]);
    bounds.streams.add(place, 1);
    const seq = Math.min(afterSeq ?? machine.durableSeq, machine.durableSeq);
    const reader: Reader = { response, machine, asking, watched, seq, isLive: false, isFresh: true, isCounted: false };
    getOrInsert(this.#byMachine, machine.slug, () => new Set()).add(reader);
    response.on('close', () => this.#remove(reader));
    response.req.socket.once('end', () => response.destroy());
    response.on('error', () => response.destroy());
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
    // Its client may have ended its side before.
    if (response.req.socket.readableEnded) response.destroy();
    else this.#goOn(reader);
  }

  take(row: AuditRow): void {
    const { machine, seq } = row;
    if (!this.#byMachine.has(machine)) return;
    const written = { seq, messages: Buffer.from(messagesOf(row)) };
    const waiting = this.#rows.get(machine);
    if (waiting !== undefined) {
      waiting.push(written);
      return;
    }
    this.#rows.set(machine, [written]);
    this.#sources.queue.take(NODE, () => this.#sendRows(machine));
  }

  /** In the next turn, with all rows of a commit, and again for those that have come meanwhile. */
  #sendRows(machine: string): void {
    const rows = this.#rows.get(machine) ?? [];
    const { length } = rows;
    const over = () => {
      this.#rows.delete(machine);
      if (rows.length === length) return;
      this.#rows.set(machine, rows.slice(length));
      this.#sendRows(machine);
    };
    this.#forEach([...(this.#byMachine.get(machine) ?? [])], () => {}, over);
  }

  #catchUp(reader: Reader): void {
    const rows = this.#rows.get(reader.machine.slug) ?? [];
    for (const { seq, messages } of rows) if (reader.isLive && seq > reader.seq) this.#send(reader, seq, messages);
  }

  tick({ cycle, missed }: CycleTick): void {
    const { cycleMs } = this.#sources.clock;
    let last: { readonly slug: string; readonly seq: number; readonly message: Buffer } | undefined;
    this.#forEach(this.#all(), (reader) => {
      const { slug, durableSeq: seq } = reader.machine;
      if (!reader.isLive) return;
      if (last?.slug !== slug || last.seq !== seq)
        last = { slug, seq, message: Buffer.from(cycleMessage(slug, seq, cycle, missed, cycleMs)) };
      this.#send(reader, reader.seq, last.message);
    });
  }

  sendCounts(): void {
    this.#forEach(this.#all(), (reader) => this.#sendCounts(reader));
  }

  /** In turns: thousands of readers would keep others waiting. Rows that wait for a reader are sent first. */
  #forEach(readers: Iterable<Reader>, work: (reader: Reader) => void, over: () => void = () => {}): void {
    const { queue, onError } = this.#sources;
    const catchUp = (reader: Reader) => this.#catchUp(reader);
    const steps = function* () {
      for (const reader of readers) {
        // Sent by the end of the step, whose time counts: Node would send in the next tick what was written for all.
        const { socket } = reader.response;
        socket?.cork();
        catchUp(reader);
        work(reader);
        socket?.uncork();
        yield;
      }
      over();
    };
    const done = queue.steps(NODE, steps());
    if (done instanceof Promise) done.catch(onError);
  }

  /** Keeps quiet streams alive, and ends those whose credential is no longer valid. */
  beat(): void {
    this.#forEach(this.#all(), (reader) => {
      const { caller } = reader.asking;
      if (caller !== undefined && !this.#sources.holds(caller)) reader.response.end();
      else if (!reader.isFresh && reader.isLive) this.#write(reader, ':\n\n');
      reader.isFresh = false;
    });
  }

  end(isMeant: (one: Pick<Reader, 'machine' | 'asking'>) => boolean): void {
    for (const reader of this.#all()) if (isMeant(reader)) reader.response.end();
  }

  /** Readers connect again: here once the node is back, or to another. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#all()) {
      this.#catchUp(reader);
      reader.response.end(`: the node is shutting down\nretry: ${RETRY_MS}\n\n`);
    }
  }

  #goOn(reader: Reader): void {
    reader.isLive = reader.seq === reader.machine.durableSeq;
    const { queue } = this.#sources;
    if (!reader.isLive) queue.take(sourceOf(reader.asking), () => void this.#sendPage(reader));
    else if (reader.watched !== undefined) queue.take(sourceOf(reader.asking), () => this.#sendCounts(reader));
  }

  async #sendPage(reader: Reader): Promise<void> {
    const { response, machine } = reader;
    const { record, onError } = this.#sources;
    if (response.destroyed) return;
    // A reader whose rows cannot be read is disconnected, and reconnects.
    try {
      const cut = record.cut(machine.slug);
      if (cut !== undefined && reader.seq < cut.removed_to_seq)
        this.#send(reader, cut.removed_to_seq, removedMessage(cut));
      const limit = Math.min(PAGE, machine.durableSeq - reader.seq);
      const rows = await record.rows(machine.slug, { afterSeq: reader.seq, limit });
      for (const row of rows) this.#send(reader, row.seq, messagesOf(row));
    } catch (error) {
      response.destroy();
      if (!(error instanceof Failure)) onError(error);
    }
    if (response.destroyed) return;
    if (response.writableNeedDrain) response.once('drain', () => this.#goOn(reader));
    else this.#goOn(reader);
  }

  #sendCounts(reader: Reader): void {
    const { isLive, isCounted, machine, watched, asking } = reader;
    if (!isLive || isCounted || watched === undefined) return;
    const { histories, clock, queue, onError } = this.#sources;
    const write = (contracts: string | undefined) => {
      reader.isCounted = false;
      if (contracts !== undefined)
        this.#write(reader, countsMessage(machine.slug, reader.seq, watched.cycle, contracts, clock.cycleMs));
    };
    reader.isCounted = true;
    const contracts = queue.steps(sourceOf(asking), histories().news(watched));
    if (contracts instanceof Promise) contracts.then(write).catch(onError);
    else write(contracts);
  }

  #send(reader: Reader, seq: number, messages: Buffer | string): void {
    reader.seq = seq;
    if (messages.length > 0) this.#write(reader, messages);
  }

  #write(reader: Reader, text: Buffer | string): void {
    const { response } = reader;
    if (response.destroyed || response.writableEnded) return;
    // Below the buffer of a response, which is larger from Node 22 on, no drain follows.
    const isRoomLeft = response.write(text);
    reader.isFresh = true;
    if (!reader.isLive || isRoomLeft || response.writableLength <= this.#sources.limits.readerBytes) return;
    this.#sources.counts.laggingReaders += 1;
    reader.isLive = false;
    response.once('drain', () => this.#goOn(reader));
  }

  #remove(reader: Reader): void {
    const { machine, asking } = reader;
    const { slug } = machine;
    const readers = this.#byMachine.get(slug);
    if (readers === undefined || !readers.delete(reader)) return;
    if (reader.watched !== undefined) this.#sources.histories().leave(reader.watched);
    this.#sources.bounds.streams.give(asking);
    if (readers.size === 0) this.#byMachine.delete(slug);
  }

  *#all(): Generator<Reader> {
    for (const readers of [...this.#byMachine.values()]) yield* [...readers];
  }
}
