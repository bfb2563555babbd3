// Collects what a node's event stream reports about the machine of a run, with the time of arrival.
import type { ApiClient } from '../../api/client/api-client.js';
import { follow, type StreamMessage } from '../../api/client/event-stream.js';
import { Failure } from '../../core/schema/failure.js';
import type { WallClock } from '../../core/time/wall.js';

export interface ReceivedEvent {
  readonly event: string;
  readonly cycle: number;
  readonly contractId: string;
  readonly key?: string | undefined;
  readonly to: string;
  readonly count: number | undefined;
  readonly atMs: number;
}

export type EventSeen = Pick<ReceivedEvent, 'cycle' | 'event' | 'to' | 'count'>;

interface EventListenerOptions {
  readonly api: ApiClient;
  readonly slug: string;
  readonly clock: WallClock;
  readonly onEvent: (event: ReceivedEvent) => void;
  /** Called before the stream is reopened. Throws `key_unproved` */
  readonly prove: () => Promise<void>;
  /** Another program answers at the address now. The stream is lost. */
  readonly onUnproved: (words: string) => void;
}

/** Reconnections without a message in between, and the wait before each. */
const MOST_RETURNS = 5;
const RETURN_AFTER_MS = 100;

export type EventListener = ReturnType<typeof eventListener>;

export function eventListener({ api, slug, clock, onEvent, prove, onUnproved }: EventListenerOptions) {
  const ended = new AbortController();
  const { signal } = ended;
  let wake = () => {};
  let wakeAt = Number.POSITIVE_INFINITY;
  let returns = 0;
  const take = ({ event, envelope }: StreamMessage): void => {
    if (envelope === undefined) return;
    returns = 0;
    const { cycle = Number.NaN, contract_id: contractId = '', key, to, state = '' } = envelope.data;
    if (event === 'cycle') {
      listener.cycle = Math.max(listener.cycle, cycle);
      if (listener.cycle >= wakeAt) wake();
      return;
    }
    const count = envelope.data.count ?? countIn(envelope.data as Fired);
    onEvent({ event, cycle, contractId, key, to: to ?? state, count, atMs: clock.now() });
  };
  const listen = async (onOpen: () => void): Promise<void> => {
    const sleep = async () => {
      returns += 1;
      if (returns > MOST_RETURNS) listener.close();
      else await clock.sleep(RETURN_AFTER_MS, signal);
    };
    try {
      for await (const message of follow(api, slug, { signal, prove, sleep, onOpen })) take(message);
    } catch (error) {
      if (error instanceof Failure && error.code === 'key_unproved') onUnproved(error.what);
    }
    listener.isLost = true;
    wake();
  };
  const listener = {
    /** All events of earlier cycles have arrived. */
    cycle: Number.NEGATIVE_INFINITY,
    isLost: false,
    open: () => new Promise<void>((resolve) => void listen(resolve).finally(resolve)),
    /** Resolves when all events before `cycle` have arrived, at `untilMs` at the latest, or when the stream is lost. */
    async receivedUpTo(cycle: number, untilMs: number): Promise<void> {
      if (listener.cycle >= cycle || listener.isLost) return;
      const received = new AbortController();
      wakeAt = cycle;
      wake = () => received.abort();
      await clock.sleepUntil(untilMs, received.signal);
    },
    close: () => ended.abort(),
  };
  return listener;
}

interface Fired {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly substrate?: Fired;
}

/** The count that fired a transition: input S of the substrate operator. */
function countIn({ inputs, substrate }: Fired): number | undefined {
  const count = substrate?.inputs?.['S'] ?? inputs?.['S'];
  return typeof count === 'number' ? count : undefined;
}
