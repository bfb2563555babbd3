// Merges the rows of several generators into one log, in order of answers. Each instant is an interval of the error of its generator's
// clock. Pure.

import type { Pause } from '../explain/seen-request.js';
import { cycleOf } from '../time/cycle.js';
import { isLate, isSaturated, TOLERATED_MOVE } from './comparison-verdict.js';
import { Latency } from './latency.js';
import type { ShareEnd } from './load-job.js';
import { RequestLog } from './request-log.js';
import { LoggedRequests, type LoggedRequestsOptions, type Row, replayRows } from './request-observer.js';

export interface GeneratorShare {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly end: ShareEnd | undefined;
}

export interface Merged {
  readonly requestLog: RequestLog;
  readonly latency: Latency;
  readonly slackMs: number;
  readonly lagMs: { readonly p90: number; readonly most: number };
  readonly pauses: readonly Pause[];
  /** Largest error of the generators' clocks; instants of requests are intervals of this. */
  readonly apartMs: number;
  readonly sentBy: readonly string[];
  readonly unsound: string | undefined;
  readonly behind: string | undefined;
  readonly connections: number;
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
  const ends = shares.flatMap(({ end }) => end ?? []);
  const mostOf = (value: (end: ShareEnd) => number) => ends.reduce((most, end) => Math.max(most, value(end)), 0);
  return {
    requestLog: own.requestLog,
    latency: own.latency,
    slackMs,
    lagMs: { p90: mostOf(({ lagMs }) => lagMs.p90), most: mostOf(({ lagMs }) => lagMs.most) },
    pauses: ends.flatMap(({ pauses }) => pauses),
    connections: ends.reduce((sum, { connections }) => sum + connections, 0),
    apartMs: mostOf((end) => end.apartMs),
    sentBy: shares.map(({ name }) => name),
    unsound: firstOf(shares, (share) => unsound(share, whole)),
    behind: firstOf(shares, (share) => behind(share, whole)),
  };
}

function firstOf(
  shares: readonly GeneratorShare[],
  words: (share: GeneratorShare) => string | undefined,
): string | undefined {
  for (const share of shares) {
    const problem = words(share);
    if (problem !== undefined) return `Generator ${share.name} ${problem}`;
  }
  return undefined;
}

function unsound({ rows, end }: GeneratorShare, { cycleMs }: Whole): string | undefined {
  if (end === undefined) return 'was lost, and what it sent last is not known.';
  if (end.rows !== rows.length) return `gave ${end.rows} entries, of which ${rows.length} arrived.`;
  if (end.movedMs <= TOLERATED_MOVE * cycleMs) return undefined;
  return `had a clock that moved against that of Redis by ${end.movedMs.toFixed(1)} ms during the run.`;
}

function behind({ rows, end }: GeneratorShare, { cycleMs, decidesByMs }: Whole): string | undefined {
  const lagMs = end?.lagMs.p90 ?? 0;
  if (isSaturated(lagMs, cycleMs)) return `fell behind: one task in ten began ${lagMs.toFixed(0)} ms late or more.`;
  const sent = rows.filter((row): row is Exclude<Row, readonly [number, number]> => row.length > 2);
  const late = sent.filter(([, intendedMs, sentMs]) => cycleOf(sentMs, cycleMs) > cycleOf(intendedMs, cycleMs)).length;
  if (decidesByMs || !isLate(late, sent.length)) return undefined;
  return `fell behind: it sent ${late} of ${sent.length} requests in a later cycle than planned.`;
}
