// Owns what a client hears and what it can do: its events, and the port through which it acts. Leaves the world behind the port
// to client.ts: a client does not know whether its time is virtual, nor whether its requests cross a network.
//
//   arrivals ── job ──►  ┌────────┐  ── send ───►  the road: gate, service, network
//   the road ─ answer ►  │ client │  ── finish ─►  figures
//   agenda ─── wake ──►  └────────┘  ── alarm ──►  agenda
//   contract ─ rate_limited, rate_restored
import type { RandomStream } from '../../math/random.js';

/** A request that somebody wants made, however many attempts it takes. */
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

/** What the road says of an attempt. */
export type Answer =
  | { readonly type: 'served' }
  /** `retryAfterMs`: how long to wait, as the limiter says; undefined when it does not say. */
  | { readonly type: 'limited'; readonly retryAfterMs: number | undefined }
  /** The service refused or dropped it. */
  | { readonly type: 'failed' }
  /** There will be no answer. */
  | { readonly type: 'lost' };

/** How an attempt ends without being served; `timeout`: the client's own patience is over. */
export type Setback = Exclude<Answer, { type: 'served' }> | { readonly type: 'timeout' };

export type ClientEvent =
  /** The run begins: who makes jobs of its own sets to work. */
  | { readonly type: 'begin' }
  | { readonly type: 'job'; readonly job: Job }
  | ((Answer | Setback) & { readonly attempt: Attempt })
  /** An attempt that was abandoned has been served all the same. */
  | { readonly type: 'late'; readonly attempt: Attempt }
  /** The alarm goes off. */
  | { readonly type: 'wake' }
  /** What the contract emits, as a listener of its stream hears it. */
  | { readonly type: 'rate_limited' }
  | { readonly type: 'rate_restored' };

/** How a job ends: served while still wanted, given up, or dropped because there was no room to keep it. */
export type Ending = 'succeeded' | 'given_up' | 'dropped';

/** What one client can do. Everything is heard of later, as an event: never while the client is still reacting. */
export interface ClientPort {
  /** Unix ms. */
  now(): number;
  /** Makes a job of the client's own. */
  newJob(): Job;
  /** Sends a job. Exactly one event with this attempt follows: served, limited, failed, lost or timeout; then, it may be, late. */
  send(job: Job, number: number): Attempt;
  /** Ceases to wait for an attempt that has had no event yet: none follows but late. */
  abandon(attempt: Attempt): void;
  /** The job is over. Every job ends once. */
  finish(job: Job, ending: Ending): void;
  /** Sets the one alarm of the client; an earlier one is forgotten. `atMs` in unix ms. */
  setAlarm(atMs: number): void;
  clearAlarm(): void;
  /** For what the client leaves to chance; shared by the clients of its kind. */
  readonly draw: RandomStream;
}

/**
 * A kind of client: where it begins, and how it reacts. `on` is total: every state takes every event, and what does not
 * concern it leaves it as it is. What it does, it does through the port; the state it returns is a new value or the same.
 */
export interface Behaviour<State extends { readonly at: string }> {
  readonly initial: State;
  on(port: ClientPort, state: State, event: ClientEvent): State;
}
