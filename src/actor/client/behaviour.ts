// What a client receives and what it asks for: events and effects, both data.
//
//   (state, event) -> [state, effects]
//
//   arrivals ── job ───►  ┌────────┐  ── send, abandon ─────►  transport: gate, service, network
//   transport ─ answer ►  │ client │  ── finish ────────────►  figures
//   agenda ─── wake ───►  └────────┘  ── wait, cancel_wait ─►  agenda
//   contract ── rate_limited, rate_restored
//
// A behaviour is a pure function: it reads no clock, draws no random number and calls nobody. The shell (client.ts) performs the
// effects after the transition. A client does not know whether its time is virtual, nor whether its requests cross a network.
import type { RandomStream } from '../../math/random.js';

/** A request that is to be made, however many attempts it takes. */
export interface Job {
  /** Counts from 1 within a run. */
  readonly number: number;
  /** Index of the contract that will decide it. */
  readonly contract: number;
  /** When it was first wanted, in unix ms. */
  readonly bornMs: number;
}

/** A job sent once. */
export interface Attempt {
  readonly job: Job;
  /** 1 for the first attempt of its job. */
  readonly number: number;
}

/** The answer to an attempt. */
export type Answer =
  | { readonly type: 'served' }
  /** `retryAfterMs`: how long to wait, as the limiter says; undefined when it does not say. */
  | { readonly type: 'limited'; readonly retryAfterMs: number | undefined }
  /** The service refused or dropped it. */
  | { readonly type: 'failed' }
  /** There will be no answer. */
  | { readonly type: 'lost' };

/** How an attempt ends without being served; `timeout`: the client waits no longer. */
export type Setback = Exclude<Answer, { type: 'served' }> | { readonly type: 'timeout' };

export type ClientEvent =
  /** The run begins: clients that make jobs of their own start. */
  | { readonly type: 'begin' }
  | { readonly type: 'job'; readonly job: Job }
  | ((Answer | Setback) & { readonly attempt: Attempt })
  /** An attempt that was abandoned has been served all the same. */
  | { readonly type: 'late'; readonly attempt: Attempt }
  /** The wait is over; `waitedMs` is its length as drawn. */
  | { readonly type: 'wake'; readonly waitedMs: number }
  /** The retry budget of the kind has none left. */
  | { readonly type: 'no_retry' }
  /** What the contract emits, as a listener of its stream receives it. */
  | { readonly type: 'rate_limited' }
  | { readonly type: 'rate_restored' };

/** How a job ends: served while still wanted, given up, or dropped because there was no room to keep it. */
export type Ending = 'succeeded' | 'given_up' | 'dropped';

/** How long to wait: a time in ms, or a law from which the shell draws one with the random stream of the kind. */
export type Wait = number | { drawMs(draw: RandomStream): number };

export type Effect =
  /** Send a job. One event with this attempt follows: served, limited, failed, lost or timeout; afterwards possibly late. */
  | { readonly type: 'send'; readonly job: Job; readonly number: number }
  /** Make a job and send it. */
  | { readonly type: 'send_new' }
  /** Wait no longer for the attempt sent last. Of its events only late can follow. */
  | { readonly type: 'abandon' }
  /** The job is over. Every job ends once. */
  | { readonly type: 'finish'; readonly job: Job; readonly ending: Ending }
  /** Wake the client later, or at once for a wait of 0; this replaces an earlier wait. */
  | { readonly type: 'wait'; readonly wait: Wait }
  /** The same before another attempt, if the retry budget has one; otherwise `no_retry` follows. */
  | { readonly type: 'retry'; readonly wait: Wait }
  | { readonly type: 'cancel_wait' };

export type Step<State> = readonly [state: State, effects: readonly Effect[]];

/** A kind of client. `on` is total: every state takes every event, and an event without meaning there changes nothing. */
export interface Behaviour<State extends { readonly at: string }> {
  readonly initial: State;
  on(state: State, event: ClientEvent): Step<State>;
}

export const cancelWait: Effect = { type: 'cancel_wait' };

/** The state as it is, and nothing to do. */
export function stay<State>(state: State): Step<State> {
  return [state, nothing];
}

const nothing: readonly Effect[] = [];
