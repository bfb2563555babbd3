// Messages between the process that asks for a load and its generators, through Redis.
//
//   asker ─► a job for each worker, then a state: wait, go, stop     a key that expires unless refreshed
//   asker ◄─ messages: ready, rows, …, end                           a list, four times a second

import { pause, type WallClock } from '../../core/time/wall.js';
import type { Pause } from '../../harness/explain/seen-request.js';
import { type ClockOffset, quickestReading, TOLERATED_MOVE } from '../../harness/live/connection.js';
import type { LoadTask, Merged } from '../../harness/live/elsewhere.js';
import { Latency } from '../../harness/live/latency.js';
import { crowdedWords, isCrowded, isLate, isSentLate, LATE_MS, RequestLog } from '../../harness/live/request-log.js';
import {
  LoggedRequests,
  type LoggedRequestsOptions,
  type Row,
  replayRows,
} from '../../harness/live/request-observer.js';
import { isSaturated, type Lag } from '../../harness/live/run-clock.js';
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

type Whole = Omit<LoggedRequestsOptions, 'requestLog' | 'latency'>;

/** @param whole `slackMs` excludes the uncertainty of the generators' clocks */
export function merged(shares: readonly GeneratorShare[], whole: Whole): Merged {
  const { slackMs } = whole;
  const own = { ...whole, requestLog: new RequestLog(), latency: new Latency() };
  const rows = shares.flatMap(({ rows: given, end }) => {
    const into = new LoggedRequests({ ...own, apartMs: end?.apartMs });
    return given.map((row) => ({ row, into, atMs: row.length === 2 ? 0 : row[3] }));
  });
  for (const { row, into } of rows.sort((a, b) => a.atMs - b.atMs)) replayRows([row], into);
  const firstOf = (problemOf: typeof unsound) => {
    const share = shares.find((one) => problemOf(one, whole) !== undefined);
    return share && `Generator ${share.name} ${problemOf(share, whole)}`;
  };
  const ends = shares.flatMap(({ end }) => end ?? []);
  const mostOf = (value: (end: ShareEnd) => number) => ends.reduce((most, end) => Math.max(most, value(end)), 0);
  return {
    requestLog: own.requestLog,
    latency: own.latency,
    slackMs,
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

function unsound({ rows, end }: GeneratorShare, { cycleMs }: Whole): string | undefined {
  if (end === undefined) return 'was lost, and what it sent last is not known.';
  if (end.rows !== rows.length) return `gave ${end.rows} entries, of which ${rows.length} arrived.`;
  if (end.movedMs <= TOLERATED_MOVE * cycleMs) return undefined;
  return `had a clock that moved against that of Redis by ${end.movedMs.toFixed(1)} ms during the run.`;
}

function behind({ rows, end }: GeneratorShare, whole: Whole): string | undefined {
  if (end !== undefined && isSaturated(end.lagMs, whole.cycleMs))
    return `fell behind: one task in ten began ${end.lagMs.p90.toFixed(0)} ms late or more.`;
  const sent = rows.filter((row): row is Exclude<Row, readonly [number, number]> => row.length > 2);
  const late = sent.filter(([, intendedMs, sentMs]) => isSentLate(intendedMs, sentMs, whole)).length;
  if (!isLate(late, sent.length)) return undefined;
  const all = `fell behind: it sent ${late} of ${sent.length} requests`;
  return end !== undefined && isCrowded(end, late)
    ? `${all} late: ${crowdedWords(end)}`
    : `${all} ${whole.plansByCycle ? 'in a later cycle than planned' : `more than ${LATE_MS} ms late`}.`;
}
