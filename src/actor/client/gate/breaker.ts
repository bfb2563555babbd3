// A circuit breaker, as a statechart.
//
//               setbacks >= share of >= least attempts                enter, after the time
//    closed ──────────────────────────────────────────►  open  ──────────────────────────────►  half open
//      ▲                                                   ▲                                      │  │
//      │                                                   └────────────── a setback ─────────────┘  │
//      └───────────────────────────────── all trials served ─────────────────────────────────────────┘
import { type Behaviour, stay } from '../behaviour.js';
import { behaviourOf, type ClientChart } from '../client-chart.js';
import type { AttemptEnd } from '../retry-limit.js';
import { SlicedCounts } from '../sliced-counts.js';
import { type ClientGate, type GateAnswer, open, refused } from './client-gate.js';

export interface BreakerPlan {
  readonly share: number;
  readonly overMs: number;
  readonly least: number;
  readonly openMs: number;
  readonly trials: number;
}

interface Memory {
  /** While open. */
  readonly untilMs?: number;
  /** While half open: trials let through, and those of them that were served. */
  readonly tried?: number;
  readonly served?: number;
}

export type BreakerEvent =
  | { readonly type: 'enter'; readonly nowMs: number }
  | { readonly type: 'served' }
  | { readonly type: 'setback'; readonly nowMs: number; readonly requests: number; readonly setbacks: number };

type Step = readonly [Memory, readonly GateAnswer[]];

export function breaker({
  share,
  least,
  openMs,
  trials,
}: Omit<BreakerPlan, 'overMs'>): ClientChart<BreakerEvent['type']> {
  const refuse = { actions: ['refuse'] };
  return {
    config: {
      id: 'breaker',
      initial: 'closed',
      context: {},
      states: {
        closed: { on: { setback: [{ guard: 'tooManyFail', target: 'open', actions: ['trip'] }] } },
        open: { on: { enter: [{ guard: 'timeIsOver', target: 'half_open', actions: ['beginTrials'] }, refuse] } },
        half_open: {
          on: {
            enter: [{ guard: 'hasTrialsLeft', actions: ['try'] }, refuse],
            served: [{ guard: 'isLastTrial', target: 'closed', actions: ['close'] }, { actions: ['countServed'] }],
            setback: [{ target: 'open', actions: ['trip'] }],
          },
        },
      },
    },
    guards: {
      tooManyFail: (_: Memory, { requests, setbacks }: Extract<BreakerEvent, { type: 'setback' }>) =>
        requests >= least && setbacks >= share * requests,
      timeIsOver: ({ untilMs }: Memory, { nowMs }: Extract<BreakerEvent, { type: 'enter' }>) => nowMs >= untilMs!,
      hasTrialsLeft: ({ tried }: Memory) => tried! < trials,
      isLastTrial: ({ served }: Memory) => served! + 1 >= trials,
    },
    actions: {
      trip: (_: Memory, { nowMs }: { readonly nowMs: number }): Step => [{ untilMs: nowMs + openMs }, []],
      refuse: (memory: Memory): Step => [memory, [refused]],
      beginTrials: (): Step => [{ tried: 1, served: 0 }, []],
      try: (memory: Memory): Step => [{ ...memory, tried: memory.tried! + 1 }, []],
      countServed: (memory: Memory): Step => [{ ...memory, served: memory.served! + 1 }, []],
      close: (): Step => [{}, []],
    },
  };
}

export class Breaker implements ClientGate {
  readonly #behaviour: Behaviour<{ readonly at: string }, BreakerEvent, GateAnswer>;
  #state: { readonly at: string };
  #counts: SlicedCounts;
  readonly #overMs: number;

  constructor(plan: BreakerPlan, startMs: number) {
    this.#behaviour = behaviourOf<BreakerEvent, GateAnswer>(breaker(plan));
    this.#state = stay(this.#behaviour.initial)[0];
    this.#overMs = plan.overMs;
    this.#counts = new SlicedCounts(plan.overMs, startMs);
  }

  enter(nowMs: number): GateAnswer {
    return this.#hear({ type: 'enter', nowMs })[0] ?? open;
  }

  ended({ type, nowMs }: AttemptEnd): void {
    if (type === 'abandoned') return;
    this.#counts.countRequest(nowMs);
    if (type === 'served') {
      // What was counted before a trial is over.
      const before = this.#state.at;
      this.#hear({ type: 'served' });
      if (before === 'half_open' && this.#state.at === 'closed') this.#counts = new SlicedCounts(this.#overMs, nowMs);
      return;
    }
    this.#counts.countOther(nowMs);
    const { requests, others: setbacks } = this.#counts;
    this.#hear({ type: 'setback', nowMs, requests, setbacks });
  }

  #hear(event: BreakerEvent): readonly GateAnswer[] {
    const [state, entries] = this.#behaviour.on(this.#state, event);
    this.#state = state;
    return entries;
  }
}
