// The history of each request of a run, for pictures of single requests.
//
//   sent ──► decided ── admitted ──► (held) ──► started ──► ended            served, failed
//               └─────── limited ──► ended                                   the client may send it again: the next attempt of its job
//
// With clients all of it is recorded. Otherwise a rule decides requests one by one; those of a window are spread evenly over their cycle.
import type { Clock } from '../../core/time/clock.js';
import { startOf } from '../../core/time/cycle.js';
import type { SentAttempt } from '../clients/client.js';
import type { CycleRow } from '../outcome/cycle-row.js';

export const fates = ['open', 'served', 'limited', 'failed', 'lost', 'abandoned'] as const;
export type Fate = (typeof fates)[number];

/** One entry per request, in order of decision; times in unix ms, NaN for what did not happen. */
const noJourneys = () => ({
  decidedMs: [] as number[],
  admittedMs: [] as number[],
  startedMs: [] as number[],
  /** When the client gave up; the service may work on until `endedMs`. */
  abandonedMs: [] as number[],
  endedMs: [] as number[],
  fates: [] as number[],
  attempts: [] as number[],
  jobs: [] as number[],
});

export interface Journeys extends Readonly<ReturnType<typeof noJourneys>> {
  /** Requests that were not kept, because there are too many. */
  readonly left: number;
}

export type JourneyRecorder = ReturnType<typeof journeyRecorder>;

export function journeyRecorder(most = 200_000) {
  const columns = noJourneys();
  let left = 0;
  const open = new Map<SentAttempt, number>();
  /** @param heldMs NaN: limited */
  const pass = (atMs: number, heldMs: number): void => {
    const index = add(atMs, atMs + heldMs, 1, columns.jobs.length);
    if (index === undefined) return;
    if (Number.isNaN(heldMs)) end(index, atMs, 'limited');
    else end(index, atMs + heldMs, 'served');
  };
  const add = (decidedMs: number, admittedMs: number, attempts: number, jobs: number): number | undefined => {
    const index = columns.jobs.length;
    if (index === most) {
      left += 1;
      return undefined;
    }
    const nothing = { startedMs: Number.NaN, abandonedMs: Number.NaN, endedMs: Number.NaN };
    const entry = { decidedMs, admittedMs, ...nothing, fates: fates.indexOf('open'), attempts, jobs };
    for (const [name, value] of Object.entries(entry)) columns[name as keyof typeof columns].push(value);
    return index;
  };
  const end = (index: number, ms: number, fate: Fate): void => {
    columns.endedMs[index] = ms;
    if (Number.isNaN(columns.abandonedMs[index]!)) columns.fates[index] = fates.indexOf(fate);
  };
  return {
    get journeys(): Journeys {
      return { ...columns, left };
    },
    /** @param heldMs how long the limiter holds it; undefined: limited */
    decided(attempt: SentAttempt, clock: Clock, heldMs: number | undefined): void {
      const nowMs = clock.now();
      const index = add(nowMs, heldMs === undefined ? Number.NaN : nowMs + heldMs, attempt.number, attempt.job.number);
      if (index !== undefined) open.set(attempt, index);
    },
    started(attempt: SentAttempt, clock: Clock): void {
      const index = open.get(attempt);
      if (index !== undefined) columns.startedMs[index] = clock.now();
    },
    abandoned(attempt: SentAttempt, clock: Clock): void {
      const index = open.get(attempt);
      if (index === undefined) return;
      columns.abandonedMs[index] = clock.now();
      columns.fates[index] = fates.indexOf('abandoned');
    },
    ended(attempt: SentAttempt, clock: Clock, fate: Fate): void {
      const index = open.get(attempt);
      if (index === undefined) return;
      open.delete(attempt);
      end(index, clock.now(), fate);
    },
    row({ cycle, totals, decisions }: CycleRow, cycleMs: number): void {
      const { requests, limited } = totals;
      if (decisions !== undefined) {
        for (const [index, atMs] of decisions.atMs.entries()) pass(atMs, decisions.delaysMs[index]!);
        return;
      }
      const fromMs = startOf(cycle, cycleMs);
      for (let k = 0; k < requests; k += 1) {
        pass(fromMs + ((k + 0.5) / requests) * cycleMs, k < requests - limited ? 0 : Number.NaN);
      }
    },
  };
}
