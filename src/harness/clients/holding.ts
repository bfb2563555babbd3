// The device that holds its items back while the gate is limiting, and flushes them in batches once it is restored.
//
//              rate_limited, or a limited answer               rate_restored, or Retry-After is over
//    passing ────────────────────────────────────► holding ──────────────────────────────────────────► flushing
//       ▲                                             ▲               limited again                      │   │
//       │                                             └──────────────────────────────────────────────────┘   │
//       └─────────────────────────────── nothing held, all answered ─────────────────────────────────────────┘
//
//   at once                 |#####|                    a batch follows as soon as the one before is answered
//   spread over m           |#----#----#----#----|     k batches, one every m / k
//   spread with jitter      |--#----#----#----#--|     the first one u * m / k later, u uniform in [0, 1): devices drift apart
//
// A device that received rate_limited waits for rate_restored and ignores Retry-After: a thousand devices that retried after each Retry-After
// would keep the gate limiting. A device limited without rate_limited waits for Retry-After; if none is announced, for the stream.
import { type Attempt, cancelWait, type Effect, type Job } from './behaviour.js';
import { type ClientChart, type EventOf, onSetback } from './client-chart.js';

interface Held {
  readonly job: Job;
  readonly attempts: number;
}

interface Holding {
  readonly inFlight: number;
  /** Absent while passing. */
  readonly held?: Backlog<Held>;
  /** While holding: rate_limited was received, so that rate_restored will follow. */
  readonly isNotified?: boolean;
  /** While flushing: shortest time between batches. */
  readonly gapMs?: number;
  /** While flushing: the gap is over; the next batch waits only for answers. */
  readonly isDue?: boolean;
}

export interface HoldingPlan {
  /** Items that can be held, at least 1; others are dropped. */
  readonly buffer: number;
  readonly batch: number;
  /** Duration of a flush; 0: at once. */
  readonly spreadMs: number;
  readonly jitter: boolean;
}

type Step = readonly [Holding, readonly Effect[]];

export function holding({ buffer, batch, spreadMs, jitter }: HoldingPlan): ClientChart {
  const kept = (memory: Holding, job: Job, attempts: number, before: readonly Effect[] = []): Step => {
    const { held = nothingHeld } = memory;
    if (held.size >= buffer) return [memory, [...before, { type: 'finish', job, ending: 'dropped' }]];
    const item = { job, attempts };
    return [{ ...memory, held: attempts === 0 ? held.with(item) : held.withFirst(item) }, before];
  };
  const finished =
    (ending: 'succeeded' | 'given_up') =>
    (memory: Holding, { attempt }: { readonly attempt: Attempt }) =>
      [{ ...memory, inFlight: memory.inFlight - 1 }, [{ type: 'finish', job: attempt.job, ending }]] as const;
  const holdBack = [{ target: 'holding', actions: ['holdBack'] }];
  const giveUp = [{ actions: ['giveUp'] }];
  const answered = {
    served: [{ actions: ['succeed'] }],
    // Only items that the gate limits are kept: others may have arrived, or the service does not want them.
    ...onSetback(...giveUp),
    limited: [{ target: 'holding', actions: ['keepLimited'] }],
    rate_limited: holdBack,
  };
  const flush = [{ target: 'flushing', actions: ['beginFlush'] }];
  return {
    config: {
      id: 'holding',
      initial: 'passing',
      context: { inFlight: 0 },
      states: {
        passing: { on: { ...answered, job: [{ actions: ['send'] }] } },
        holding: { on: { ...answered, job: [{ actions: ['keep'] }], rate_restored: flush, wake: flush } },
        flushing: {
          on: { ...answered, job: [{ actions: ['keep'] }], wake: [{ actions: ['allowBatch'] }] },
          always: [
            { guard: 'nothingHeld', target: 'passing', actions: ['endFlush'] },
            { guard: 'batchIsDue', actions: ['sendBatch'] },
          ],
        },
      },
    },
    guards: {
      nothingHeld: ({ inFlight, held }: Holding) => inFlight === 0 && held!.size === 0,
      batchIsDue: ({ inFlight, isDue, held }: Holding) => inFlight === 0 && isDue! && held!.size > 0,
    },
    actions: {
      send: ({ inFlight }: Holding, { job }: EventOf<'job'>) => [
        { inFlight: inFlight + 1 },
        [{ type: 'send', job, number: 1 }],
      ],
      keep: (memory: Holding, { job }: EventOf<'job'>) => kept(memory, job, 0),
      keepLimited: (memory: Holding, { attempt: { job, number }, retryAfterMs }: EventOf<'limited'>) => {
        const { inFlight, held = nothingHeld, isNotified = false } = memory;
        const wait: Effect = retryAfterMs === undefined ? cancelWait : { type: 'wait', wait: retryAfterMs };
        return kept({ inFlight: inFlight - 1, held, isNotified }, job, number, isNotified ? [] : [wait]);
      },
      holdBack: ({ inFlight, held = nothingHeld }: Holding) => [{ inFlight, held, isNotified: true }, [cancelWait]],
      succeed: finished('succeeded'),
      giveUp: finished('given_up'),
      beginFlush: ({ inFlight, held }: Holding) => {
        const gapMs = spreadMs / Math.max(1, Math.ceil(held!.size / batch));
        const isDue = !jitter || gapMs === 0;
        const first: Effect = { type: 'wait', wait: { drawMs: (draw) => draw.uniform() * gapMs } };
        return [{ inFlight, held: held!, gapMs, isDue }, isDue ? [cancelWait] : [cancelWait, first]];
      },
      allowBatch: (memory: Holding) => [{ ...memory, isDue: true }, []],
      sendBatch: ({ held, gapMs }: Holding) => {
        const { taken, rest } = held!.take(batch);
        const sends = taken.map(({ job, attempts }): Effect => ({ type: 'send', job, number: attempts + 1 }));
        const pause: Effect[] = gapMs! > 0 ? [{ type: 'wait', wait: gapMs! }] : [];
        return [{ inFlight: taken.length, held: rest, gapMs: gapMs!, isDue: gapMs === 0 }, [...pause, ...sends]];
      },
      endFlush: () => [{ inFlight: 0 }, [cancelWait]],
    },
  };
}

// An immutable queue.
//
//   front  1 -> 2 -> 3        back  6 -> 5 -> 4        holds 1 2 3 4 5 6; the back is reversed when the front is used up
//
// A state is a value, so that a trace can keep earlier ones; copying thousands of items per event would be slow. All in amortized O(1).

interface Link<Item> {
  readonly item: Item;
  readonly next: Link<Item> | undefined;
}

export class Backlog<Item> {
  readonly size: number;
  readonly #front: Link<Item> | undefined;
  readonly #back: Link<Item> | undefined;

  private constructor(size: number, front: Link<Item> | undefined, back: Link<Item> | undefined) {
    this.size = size;
    this.#front = front;
    this.#back = back;
  }

  static of<Item>(...items: readonly Item[]): Backlog<Item> {
    return items.reduce((all, item) => all.with(item), new Backlog<Item>(0, undefined, undefined));
  }

  with(item: Item): Backlog<Item> {
    return new Backlog(this.size + 1, this.#front, { item, next: this.#back });
  }

  withFirst(item: Item): Backlog<Item> {
    return new Backlog(this.size + 1, { item, next: this.#front }, this.#back);
  }

  take(n: number): { readonly taken: readonly Item[]; readonly rest: Backlog<Item> } {
    const taken: Item[] = [];
    let [front, back] = [this.#front, this.#back];
    while (taken.length < n) {
      if (front === undefined) [front, back] = [reversed(back), undefined];
      if (front === undefined) break;
      taken.push(front.item);
      front = front.next;
    }
    return { taken, rest: new Backlog(this.size - taken.length, front, back) };
  }

  toJSON(): { readonly size: number } {
    return { size: this.size };
  }
}

function reversed<Item>(links: Link<Item> | undefined): Link<Item> | undefined {
  let result: Link<Item> | undefined;
  for (let link = links; link !== undefined; link = link.next) result = { item: link.item, next: result };
  return result;
}

const nothingHeld = Backlog.of<Held>();
