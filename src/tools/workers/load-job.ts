// Messages between the process that asks for a load and its generators, through Redis.
//
//   asker ─► a job for each worker, then a state: wait, go, stop     a key that expires unless refreshed
//   asker ◄─ messages: ready, rows, …, end                           a list, four times a second

import { pause, type WallClock } from '../../core/time/wall.js';
import type { Pause } from '../../harness/explain/seen-request.js';
import { type ClockOffset, quickestReading, TOLERATED_MOVE } from '../../harness/live/connection.js';
import type { LoadTask, Merged } from '../../harness/live/elsewhere.js';
import {
  crowdedWords,
  isCrowded,
  isLate,
  isSentLate,
  LATE_MS,
  RequestLog,
  type RequestLogOptions,
  type RequestObserver,
  type SentRequest,
} from '../../harness/live/request-log.js';
import { isSaturated, type Lag } from '../../harness/live/run-clock.js';
import type { RequestEnd } from '../../harness/live/target.js';
import type { MadeOnNode } from '../../harness/live/weir-target.js';

export interface LoadJob extends LoadTask {
  readonly weir: string;
  readonly run: string;
  readonly made: MadeOnNode | undefined;
  readonly index: number;
  readonly of: number;
}

/** A generator ends when none of these is left. */
export type RunState =
  | { readonly state: 'wait' | 'stop' }
  | {
      readonly state: 'go';
      readonly firstCycle: number;
      /** Unix ms of the run minus that of Redis. */
      readonly shiftMs: number;
      /** Largest error of any generator's clock relative to that of the target. */
      readonly uncertaintyMs: number;
    };

/** A plan, or a request that has ended. That it was sent needs no row. */
export type Row =
  | { readonly cycle: number; readonly n: number }
  | (SentRequest & { readonly endedMs: number; readonly end: RequestEnd });

/** Keeps rows until taken. */
export class PackedRequests implements RequestObserver {
  #rows: Row[] = [];

  plan(cycle: number, n: number): void {
    if (n > 0) this.#rows.push({ cycle, n });
  }

  send(): void {}

  end({ contract, cost, intendedMs, sentMs }: SentRequest, endedMs: number, end: RequestEnd): void {
    this.#rows.push({ contract, cost, intendedMs, sentMs, endedMs, end });
  }

  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

export function replayRow(row: Row, into: RequestObserver, apartMs?: number): void {
  if ('n' in row) {
    into.plan(row.cycle, row.n);
    return;
  }
  into.send(row);
  into.end(row, row.endedMs, row.end, apartMs);
}

export type ReceivedMessage = { readonly from: number; readonly name: string } & Message;
export type Message =
  | { readonly type: 'ready'; readonly uncertaintyMs: number }
  | { readonly type: 'rows'; readonly rows: readonly Row[] }
  | { readonly type: 'gone'; readonly words: string }
  | { readonly type: 'failed'; readonly words: string; readonly fix?: string | undefined }
  | { readonly type: 'end'; readonly end: ShareEnd };

export interface ShareEnd {
  readonly rows: number;
  readonly lagMs: Lag;
  readonly pauses: readonly Pause[];
  readonly connections: number;
  /** Requests that waited while as many connections as allowed were in use. */
  readonly waited: number;
  /** Largest error of its clock relative to Redis's, and movement beyond the uncertainty. */
  readonly apartMs: number;
  readonly movedMs: number;
}

export const keysOf = (run: string) => ({ state: `weir:load:${run}:said`, messages: `weir:load:${run}:heard` });

export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

export const MOST_SILENT_MS = 3_000;

/** @throws Error if there is no answer in time */
export async function inTime<T>(answer: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = pause(MOST_SILENT_MS, over.signal).then(() => Promise.reject(new Error('Redis is silent.')));
  try {
    return await Promise.race([answer, late]);
  } finally {
    late.catch(() => {});
    over.abort();
  }
}

const READINGS = 16;

export function readRedisTime(
  client: { sendCommand(words: string[]): Promise<unknown> },
  clock: Pick<WallClock, 'monotonicMs'>,
): Promise<ClockOffset> {
  return quickestReading(clock, READINGS, async () => {
    const [s, us] = (await client.sendCommand(['TIME'])) as [string, string];
    return Number(s) * 1000 + Number(us) / 1000;
  });
}

/** Largest error of a clock that continues from the first reading, up to the second, if it drifts in one direction; in ms. */
export function apartMs(before: ClockOffset, after: ClockOffset): number {
  return Math.max(before.uncertaintyMs, Math.abs(after.offsetMs - before.offsetMs) + after.uncertaintyMs);
}

// Merges the rows of several generators into one log, in order of answers. Each instant is an interval of the error of its generator's
// clock. Pure.

export interface GeneratorShare {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly end?: ShareEnd | undefined;
}

/** @param options `slackMs` excludes the uncertainty of the generators' clocks */
export function merged(shares: readonly GeneratorShare[], options: RequestLogOptions): Merged {
  const requestLog = new RequestLog(options);
  const rows = shares.flatMap(({ rows: given, end }) => given.map((row) => ({ row, apartMs: end?.apartMs })));
  const atOf = (row: Row) => ('n' in row ? 0 : row.endedMs);
  for (const { row, apartMs } of rows.sort((a, b) => atOf(a.row) - atOf(b.row))) replayRow(row, requestLog, apartMs);
  const firstOf = (problemOf: typeof unsound) => {
    const share = shares.find((one) => problemOf(one, options) !== undefined);
    return share && `Generator ${share.name} ${problemOf(share, options)}`;
  };
  const ends = shares.flatMap(({ end }) => end ?? []);
  const mostOf = (value: (end: ShareEnd) => number) => ends.reduce((most, end) => Math.max(most, value(end)), 0);
  return {
    requestLog,
    lagMs: { p90: mostOf(({ lagMs }) => lagMs.p90), most: mostOf(({ lagMs }) => lagMs.most) },
    pauses: ends.flatMap(({ pauses }) => pauses),
    connections: ends.reduce((sum, { connections }) => sum + connections, 0),
    waited: ends.reduce((sum, { waited }) => sum + waited, 0),
    apartMs: mostOf((end) => end.apartMs),
    sentBy: shares.map(({ name }) => name),
    unsound: firstOf(unsound),
    behind: firstOf(behind),
  };
}

function unsound({ rows, end }: GeneratorShare, { cycleMs }: RequestLogOptions): string | undefined {
  if (end === undefined) return 'was lost, and what it sent last is not known.';
  if (end.rows !== rows.length) return `gave ${end.rows} entries, of which ${rows.length} arrived.`;
  if (end.movedMs <= TOLERATED_MOVE * cycleMs) return undefined;
  return `had a clock that moved against that of Redis by ${end.movedMs.toFixed(1)} ms during the run.`;
}

function behind({ rows, end }: GeneratorShare, options: RequestLogOptions): string | undefined {
  if (end !== undefined && isSaturated(end.lagMs, options.cycleMs))
    return `fell behind: one task in ten began ${end.lagMs.p90.toFixed(0)} ms late or more.`;
  const sent = rows.filter((row) => 'sentMs' in row);
  const late = sent.filter((row) => isSentLate(row, options)).length;
  if (!isLate(late, sent.length)) return undefined;
  const all = `fell behind: it sent ${late} of ${sent.length} requests`;
  return end !== undefined && isCrowded(end, late)
    ? `${all} late: ${crowdedWords(end)}`
    : `${all} ${options.plansByCycle ? 'in a later cycle than planned' : `more than ${LATE_MS} ms late`}.`;
}
