// The client of a closed loop: it thinks, asks, and thinks again once it has its answer.
//
//    begin                 wake                    any answer
//    ──────►  thinking  ─────────►  asking  ─────────────────────►  thinking
//             Z                     R                                             N clients, X = N / (R + Z) requests a second
//
// It begins by thinking, so that clients that begin together do not all ask together.
import type { TimeLaw } from '../../math/time-law.js';
import { unreachable } from '../../schema/failure.js';
import { type Behaviour, type Effect, stay } from './behaviour.js';

export interface ClosedState {
  readonly at: 'idle' | 'thinking' | 'asking';
}

export interface ClosedPlan {
  /** How long it thinks, in ms. */
  readonly think: TimeLaw;
}

const idle: ClosedState = { at: 'idle' };
const thinking: ClosedState = { at: 'thinking' };
const asking: ClosedState = { at: 'asking' };
const sendNew: readonly Effect[] = [{ type: 'send_new' }];

export function closed({ think }: ClosedPlan): Behaviour<ClosedState> {
  const pause: Effect = { type: 'wait', wait: think };
  return {
    initial: idle,
    on(state, event) {
      switch (event.type) {
        case 'begin':
          return state.at === 'idle' ? [thinking, [pause]] : stay(state);
        case 'wake':
          return state.at === 'thinking' ? [asking, sendNew] : stay(state);
        case 'served':
        case 'limited':
        case 'failed':
        case 'lost':
        case 'timeout': {
          if (state.at !== 'asking') return stay(state);
          const ending = event.type === 'served' ? 'succeeded' : 'given_up';
          return [thinking, [{ type: 'finish', job: event.attempt.job, ending }, pause]];
        }
        case 'job':
        case 'late':
        case 'no_retry':
        case 'rate_limited':
        case 'rate_restored':
          return stay(state);
        default:
          return unreachable(event);
      }
    },
  };
}
