// Owns the client of a closed loop: it thinks, asks, and thinks again once it has its answer. Leaves how long it thinks to a law.
//
//    begin                 wake                    any answer
//    ──────►  thinking  ─────────►  asking  ─────────────────────►  thinking
//             Z                     R                                             N clients, X = N / (R + Z) requests a second
//
// It begins by thinking, so that clients who begin together do not all ask together.

import type { TimeLaw } from '../../math/time-law.js';
import { unreachable } from '../../schema/failure.js';
import type { Behaviour, ClientPort, Ending, Job } from './port.js';

export type ClosedState =
  | { readonly at: 'idle' }
  | { readonly at: 'thinking' }
  | { readonly at: 'asking'; readonly job: Job };

export interface ClosedPlan {
  /** How long it thinks, in ms. */
  readonly think: TimeLaw;
}

export function closed({ think }: ClosedPlan): Behaviour<ClosedState> {
  return {
    initial: { at: 'idle' },
    on(port, state, event) {
      switch (event.type) {
        case 'begin':
          return state.at === 'idle' ? thinkFor(port) : state;
        case 'wake':
          return state.at === 'thinking' ? ask(port) : state;
        case 'served':
          return over(port, state, 'succeeded');
        case 'limited':
        case 'failed':
        case 'lost':
        case 'timeout':
          return over(port, state, 'given_up');
        case 'job':
        case 'late':
        case 'rate_limited':
        case 'rate_restored':
          return state;
        default:
          return unreachable(event);
      }
    },
  };

  function thinkFor(port: ClientPort): ClosedState {
    port.setAlarm(port.now() + think.drawMs(port.draw));
    return { at: 'thinking' };
  }

  function over(port: ClientPort, state: ClosedState, ending: Ending): ClosedState {
    if (state.at !== 'asking') return state;
    port.finish(state.job, ending);
    return thinkFor(port);
  }
}

function ask(port: ClientPort): ClosedState {
  const job = port.newJob();
  port.send(job, 1);
  return { at: 'asking', job };
}
