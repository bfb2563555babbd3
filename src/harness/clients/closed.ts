// The client of a closed loop: it thinks, asks, and thinks again when it has an answer.
//
//    begin                 wake                    any answer
//    ──────►  thinking  ─────────►  asking  ─────────────────────►  thinking
//             Z                     R                                             N clients, X = N / (R + Z) requests a second
//
// It begins by thinking, so that clients do not all ask at once.
import type { TimeLaw } from '../../core/math/time-law.js';
import type { Attempt } from './behaviour.js';
import { type ClientChart, onSetback } from './client-chart.js';

export function closed({ think }: { readonly think: TimeLaw }): ClientChart {
  const finished =
    (ending: 'succeeded' | 'given_up') =>
    (memory: object, { attempt }: { readonly attempt: Attempt }) =>
      [memory, [{ type: 'finish', job: attempt.job, ending }]] as const;
  return {
    config: {
      id: 'closed',
      initial: 'idle',
      context: {},
      states: {
        idle: { on: { begin: [{ target: 'thinking', actions: ['think'] }] } },
        thinking: { on: { wake: [{ target: 'asking', actions: ['send'] }] } },
        asking: {
          on: {
            served: [{ target: 'thinking', actions: ['succeed', 'think'] }],
            ...onSetback({ target: 'thinking', actions: ['giveUp', 'think'] }),
          },
        },
      },
    },
    guards: {},
    actions: {
      think: (memory: object) => [memory, [{ type: 'wait', wait: think }]],
      send: (memory: object) => [memory, [{ type: 'send_new' }]],
      succeed: finished('succeeded'),
      giveUp: finished('given_up'),
    },
  };
}
