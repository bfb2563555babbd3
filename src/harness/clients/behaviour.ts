// What a client receives and what it requests: events and effects, both data.
//
//   (state, event) -> [state, effects]
//
//   arrivals ── job ───►  ┌────────┐  ── send, abandon ─────►  transport: gate, service, network
//   transport ─ answer ►  │ client │  ── finish ────────────►  figures
//   agenda ─── wake ───►  └────────┘  ── wait, cancel_wait ─►  agenda
//   contract ── rate_limited, rate_restored
//
// A behaviour is a pure function. The shell (client.ts) performs its effects, in virtual or in real time.
import type { RandomStream } from '../../core/math/random.js';

export interface Job {
  readonly number: number;
  readonly contract: number;
  /** When it was first wanted, in unix ms. */
  readonly bornMs: number;
  /** Of each attempt; undefined if every request costs 1. */
  readonly cost?: number | undefined;
}

export interface Attempt {
  readonly job: Job;
  readonly number: number;
}

export type ServiceAnswer =
  | { readonly type: 'served' }
  /** `retryAfterMs`: the wait announced by the limiter or by the service. */
  | { readonly type: 'limited'; readonly retryAfterMs: number | undefined }
  | { readonly type: 'failed'; readonly retryAfterMs?: number }
  | { readonly type: 'lost' };

export type Setback = Exclude<ServiceAnswer, { type: 'served' }> | { readonly type: 'timeout' };

/** The wait that an answer announces. */
export function retryAfterMsOf(answer: ServiceAnswer | Setback): number | undefined {
  return answer.type === 'limited' || answer.type === 'failed' ? answer.retryAfterMs : undefined;
}

export const setbackTypes = ['limited', 'failed', 'lost', 'timeout'] as const satisfies readonly Setback['type'][];

export type SetbackType = Setback['type'];

export type ClientEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'job'; readonly job: Job }
  | ((ServiceAnswer | Setback) & { readonly attempt: Attempt })
  /** An abandoned attempt was served after all. */
  | { readonly type: 'late'; readonly attempt: Attempt }
  | { readonly type: 'wake'; readonly waitedMs: number }
  | { readonly type: 'no_retry' }
  /** From the gate on the client side. */
  | { readonly type: 'entered' }
  | { readonly type: 'turned_away' }
  /** Emitted by the contract, to listening clients. */
  | { readonly type: 'rate_limited' }
  | { readonly type: 'rate_restored' };

/** `succeeded`: served while still wanted. `dropped`: from a full buffer. */
export type JobEnding = 'succeeded' | 'given_up' | 'dropped';

/** In ms, or a law for one draw from the random stream of the kind. */
export type Wait = number | { drawMs(draw: RandomStream): number };

export type Effect =
  /** One event of this attempt follows: served, limited, failed, lost or timeout; afterwards possibly late. */
  | { readonly type: 'send'; readonly job: Job; readonly number: number; readonly isHedge?: true }
  | { readonly type: 'send_new' }
  /** One event follows: entered or turned_away. */
  | { readonly type: 'enter'; readonly job: Job }
  /** Stops waiting for the attempts in flight. Of their events only late can follow. */
  | { readonly type: 'abandon' }
  /** Every job ends once. */
  | { readonly type: 'finish'; readonly job: Job; readonly ending: JobEnding }
  /** Replaces an earlier wait. */
  | { readonly type: 'wait'; readonly wait: Wait }
  /** A wait before another attempt if retry limits and the deadline allow it; else `no_retry` follows. */
  | { readonly type: 'retry'; readonly job: Job; readonly wait: Wait; readonly after: SetbackType }
  | { readonly type: 'cancel_wait' };

export type Step<State> = readonly [state: State, effects: readonly Effect[]];

export type ClientState = { readonly at: string };

/** `on` is total: an event without meaning in a state changes nothing. */
export interface Behaviour<State extends { readonly at: string }> {
  readonly initial: State;
  on(state: State, event: ClientEvent): Step<State>;
}

export const cancelWait: Effect = { type: 'cancel_wait' };

export function stay<State>(state: State): Step<State> {
  return [state, nothing];
}

const nothing: readonly never[] = [];
