// Sends the probes of an investigation to a live target.
//
//   plan      first request of a probe |  volley |      volley |         each at its instant, whatever happens to the others
//   ends      when all are answered; the answer that the probe waits for cancels its further volleys
//   stops     on a status that is no decision, an unanswered request, or slow answers
import { remainingIn } from '../client/limit-fields.js';
import { connectTo } from '../live/connection.js';
import type { PoolAnswer } from '../live/http-pool.js';
import { ForeignTarget } from '../live/target.js';
import { Failure } from '../schema/failure.js';
import { Rank } from '../time/rank.js';
import type { Seen } from './evidence.js';
import type { Investigated } from './explanations.js';
import type { Answered, Ask } from './investigation.js';

export interface AskingOptions {
  readonly allowRemote?: boolean | undefined;
  readonly insecure?: boolean | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly keyHeader?: string | undefined;
  /** Default: 429. */
  readonly limitedStatus?: readonly number[] | undefined;
  /** Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called when the target is accepted, before the first request. */
  readonly onAccepted?: (() => void) | undefined;
  readonly onAsk?: ((ask: Ask, sent: number) => void) | undefined;
}

export interface Asked {
  readonly harm: string | undefined;
}

const TIMEOUT_MS = 10_000;
const RUN_UP_MS = 25;
/** Refusals are fast: if one takes this long, the target is in trouble. */
const SLOW_MS = 1_500;
const CONNECTIONS = 256;

/** @throws Failure `wrong_usage`, `remote_not_allowed`, `insecure_connection`; `node_unreachable` without a single answer */
export async function ask<Found extends Investigated>(
  url: string,
  investigation: Generator<Ask, Found, Answered>,
  options: AskingOptions,
): Promise<Found & Asked> {
  const { timeoutMs = TIMEOUT_MS, keyHeader, headers, limitedStatus, signal, onAsk } = options;
  const connection = await connectTo(url, { ...options, timeoutMs, cycleMs: 1_000, connections: CONNECTIONS });
  options.onAccepted?.();
  const { clock, pool, endpoint } = connection;
  const spec = {
    ...(headers === undefined ? {} : { headers }),
    ...(keyHeader === undefined ? {} : { key_header: keyHeader }),
    ...(limitedStatus === undefined ? {} : { limited_status: [...limitedStatus] }),
  };
  let harm: string | undefined;
  let sent = 0;

  const probe = ({ probe: { volleys, until }, restMs, key }: Ask, nowMs: number) =>
    new Promise<Answered>((resolve) => {
      const target = new ForeignTarget(endpoint, spec, [key]);
      const seen: Seen[] = [];
      const startMs = Math.max(nowMs + restMs, clock.now() + RUN_UP_MS);
      let [open, isStopped] = [0, false];
      const tickets: ReturnType<typeof clock.agenda.at>[] = [];
      const finish = () => {
        signal?.removeEventListener('abort', stop);
        resolve({ seen: seen.sort((a, b) => a.sentMs - b.sentMs), nowMs: clock.now(), isOver: isStopped });
      };
      const noFurther = () => {
        for (const ticket of tickets) if (clock.agenda.cancel(ticket)) planned -= 1;
        if (open === 0 && planned === 0) finish();
      };
      const stop = () => {
        isStopped = true;
        noFurther();
      };
      const isHarmed = (words: string) => {
        harm ??= words;
        stop();
      };
      let planned = volleys.length;
      const send = () => {
        open += 1;
        sent += 1;
        let sentMs = clock.now();
        let isOver = false;
        const over = (one: Omit<Seen, 'key' | 'sentMs'>) => {
          if (isOver) return;
          isOver = true;
          clock.agenda.cancel(late);
          seen.push({ key, sentMs, ...one });
          open -= 1;
          if (one.decision === until) noFurther();
          if (open === 0 && planned === 0) finish();
        };
        const cancel = pool.fire(target.request(0), {
          started: () => {
            sentMs = clock.now();
          },
          answered: (answer) => {
            const answeredMs = clock.now();
            const read = target.read(answer);
            if (read.type !== 'decided') {
              isHarmed(read.words);
              return over({ answeredMs, decision: 'unknown', status: answer.status });
            }
            if (!read.admitted && answeredMs - sentMs > SLOW_MS) {
              isHarmed(`A refused request took ${Math.round(answeredMs - sentMs)} ms.`);
            }
            over({
              answeredMs,
              decision: read.admitted ? 'admitted' : 'limited',
              status: answer.status,
              announcedMs: read.retryAfterMs,
              announcedLimit: target.limit,
              announcedRemaining: announcedRemaining(answer),
            });
          },
          broke: ({ words }) => {
            isHarmed(words);
            over({ answeredMs: Infinity, decision: 'unknown' });
          },
        });
        const late = clock.agenda.at(clock.now() + timeoutMs, Rank.client, () => {
          cancel();
          isHarmed(`A request was not answered within ${timeoutMs / 1000} s.`);
          over({ answeredMs: Infinity, decision: 'unknown' });
        });
      };
      for (const { atMs, n } of volleys) {
        const volley = () => {
          planned -= 1;
          for (let k = 0; k < n; k += 1) send();
        };
        tickets.push(clock.agenda.at(startMs + atMs, Rank.arrival, volley));
      }
      signal?.addEventListener('abort', stop);
      if (signal?.aborted === true) stop();
    });

  try {
    let next = investigation.next();
    let nowMs = clock.now();
    while (next.done !== true) {
      onAsk?.(next.value, sent);
      const answered = await probe(next.value, nowMs);
      nowMs = answered.nowMs;
      if (
        sent > 0 &&
        answered.seen.every(({ decision }) => decision === 'unknown') &&
        harm !== undefined &&
        sent === answered.seen.length
      ) {
        throw new Failure('answer_unreadable', {
          what: `${endpoint.origin} gave no answer that says admitted or limited.`,
          why: harm,
          fix: 'Check the address. A status other than 429 that means limited is named with --limited-status.',
        });
      }
      next = investigation.next(answered);
    }
    return { ...next.value, harm };
  } finally {
    await connection.close();
  }
}

function announcedRemaining({ fields }: PoolAnswer): number | undefined {
  const text = (name: string) => String(fields[name] ?? '');
  const announced = remainingIn(fields);
  if (announced !== undefined) return announced;
  const found = /^(\d+)$/.exec(text('ratelimit-remaining'))?.[1] ?? /^(\d+)$/.exec(text('x-ratelimit-remaining'))?.[1];
  return found === undefined ? undefined : Number(found);
}
