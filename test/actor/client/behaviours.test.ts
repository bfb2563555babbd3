import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Pauses, pauses } from '../../../src/actor/client/backoff.js';
import { type ClientEvent, type Effect, setbackTypes } from '../../../src/actor/client/behaviour.js';
import { behaviourOf, type ClientChart } from '../../../src/actor/client/client-chart.js';
import { type BreakerEvent, breakerChart, type ClientGate } from '../../../src/actor/client/client-gates.js';
import { closed } from '../../../src/actor/client/closed.js';
import { type HoldingPlan, holding } from '../../../src/actor/client/holding.js';
import { obedient, open, type RetryingPlan, retrying } from '../../../src/actor/client/requesting.js';
import { type RetryLimit, retryBudget } from '../../../src/actor/client/retry-limits.js';
import type { RandomStream } from '../../../src/math/random.js';
import { constant } from '../../../src/math/time-law.js';
import { interpreted, play, text } from './stage.js';

/** A gate that opens every other time. */
const everyOther = (): ClientGate => {
  let isOpen = false;
  return {
    enter() {
      isOpen = !isOpen;
      return { type: isOpen ? 'open' : 'refused', ms: 0 };
    },
  };
};

type Story = readonly [
  rule: string,
  chart: () => ClientChart,
  text: string,
  budget?: (() => RetryLimit) | undefined,
  gate?: () => ClientGate,
];

const everywhere = (pause: Pauses) => ({ limited: pause, failed: pause, lost: pause, timeout: pause });

const told = {
  policy: 'ignore',
  limitMs: Number.POSITIVE_INFINITY,
  above: 'cap',
  slackMs: 0,
  missing: 'backoff',
} as const;

const persistent = (plan: Partial<RetryingPlan> = {}) =>
  retrying({
    maxAttempts: 4,
    on: setbackTypes,
    pauses: everywhere(pauses({ policy: 'exponential', baseMs: 50, capMs: 150 })),
    retryAfter: told,
    takesLateAnswers: false,
    ...plan,
  });

const atOnce = everywhere(() => 0);

const device = (plan: Partial<HoldingPlan> = {}) =>
  holding({ buffer: 3, batch: 2, spreadMs: 0, jitter: false, ...plan });

const stories: Record<string, readonly Story[]> = {
  open: [
    [
      'sends every job once, whatever becomes of it',
      open,
      `0 job -> asking: send j1#1
       5 served j1#1 -> idle: j1 succeeded
       6 job -> asking: send j2#1
       7 limited j2#1 100 -> idle: j2 given_up
       8 job -> asking: send j3#1
       9 failed j3#1 -> idle: j3 given_up
       10 job -> asking: send j4#1
       11 lost j4#1 -> idle: j4 given_up
       12 job -> asking: send j5#1
       13 timeout j5#1 -> idle: j5 given_up`,
    ],
    [
      'what does not concern it leaves it as it is',
      open,
      `0 begin -> idle
       1 wake! -> idle
       2 rate_limited -> idle
       3 job -> asking: send j1#1
       4 rate_restored -> asking
       5 wake! -> asking
       6 served j1#1 -> idle: j1 succeeded`,
    ],
  ],

  obedient: [
    [
      'waits as long as Retry-After says, then sends again',
      () => obedient({ maxAttempts: 3, jitterMs: 0 }),
      `0 job -> asking: send j1#1
       5 limited j1#1 95 -> pausing: alarm at 100
       100 wake -> asking: send j1#2
       107 served j1#2 -> idle: j1 succeeded`,
    ],
    [
      'gives up after the attempts it has',
      () => obedient({ maxAttempts: 2, jitterMs: 0 }),
      `0 job -> asking: send j1#1
       5 limited j1#1 95 -> pausing: alarm at 100
       100 wake -> asking: send j1#2
       105 limited j1#2 1000 -> idle: j1 given_up`,
    ],
    [
      'waits a part of its jitter on top',
      () => obedient({ maxAttempts: 3, jitterMs: 40 }),
      `0 job -> asking: send j1#1
       5 limited j1#1 95 -> pausing: alarm at 120
       120 wake -> asking: send j1#2
       130 served j1#2 -> idle: j1 succeeded`,
    ],
    [
      'gives up where nobody says when to come again',
      () => obedient({ maxAttempts: 9, jitterMs: 0 }),
      `0 job -> asking: send j1#1
       1 limited j1#1 -> idle: j1 given_up
       2 job -> asking: send j2#1
       3 failed j2#1 -> idle: j2 given_up
       4 job -> asking: send j3#1
       5 lost j3#1 -> idle: j3 given_up
       6 job -> asking: send j4#1
       7 timeout j4#1 -> idle: j4 given_up`,
    ],
  ],

  retrying: [
    [
      'pauses longer after each setback, up to the cap, and gives up in the end',
      persistent,
      `0 job -> asking: send j1#1
       10 limited j1#1 9999 -> pausing: alarm at 110
       110 wake -> asking: send j1#2
       120 failed j1#2 -> pausing: alarm at 270
       270 wake -> asking: send j1#3
       280 timeout j1#3 -> pausing: alarm at 430
       430 wake -> asking: send j1#4
       440 lost j1#4 -> idle: j1 given_up`,
    ],
    [
      'without a pause it sends again at once',
      () => persistent({ maxAttempts: 3, pauses: atOnce }),
      `0 job -> asking: send j1#1
       1 failed j1#1 -> pausing: at once
       1 wake -> asking: send j1#2
       1 failed j1#2 -> pausing: at once
       1 wake -> asking: send j1#3
       2 served j1#3 -> idle: j1 succeeded`,
    ],
    [
      'honours Retry-After where it is longer than the pause, and only there',
      () => persistent({ retryAfter: { ...told, policy: 'floor' } }),
      `0 job -> asking: send j1#1
       0 limited j1#1 300 -> pausing: alarm at 300
       300 wake -> asking: send j1#2
       300 limited j1#2 20 -> pausing: alarm at 450
       450 wake -> asking: send j1#3
       450 limited j1#3 -> pausing: alarm at 600
       600 wake -> asking: send j1#4
       600 served j1#4 -> idle: j1 succeeded`,
    ],
    [
      'gives up when the budget is used up: half a retry a request, and one on top',
      () => persistent({ maxAttempts: 9, pauses: atOnce }),
      `0 job -> asking: send j1#1
       1 failed j1#1 -> pausing: at once
       1 wake -> asking: send j1#2
       2 failed j1#2 -> pausing: no retry left
       2 no_retry -> idle: j1 given_up
       3 job -> asking: send j2#1
       4 failed j2#1 -> pausing: at once
       4 wake -> asking: send j2#2
       5 failed j2#2 -> pausing: no retry left
       5 no_retry -> idle: j2 given_up`,
      () => retryBudget({ share: 0.5, floor: 1, overMs: 1000 }, 0),
    ],
    [
      'hears a late answer and goes on, unless told to take it',
      persistent,
      `0 job -> asking: send j1#1
       10 timeout j1#1 -> pausing: alarm at 110
       20 late j1#1 -> pausing
       110 wake -> asking: send j1#2
       120 late j1#1 -> asking
       130 served j1#2 -> idle: j1 succeeded`,
    ],
    [
      'takes a late answer while it pauses, and while it asks again: then it abandons the attempt under way',
      () => persistent({ takesLateAnswers: true }),
      `0 job -> asking: send j1#1
       10 timeout j1#1 -> pausing: alarm at 110
       20 late j1#1 -> idle: no alarm, j1 succeeded
       30 job -> asking: send j2#1
       40 timeout j2#1 -> pausing: alarm at 140
       140 wake -> asking: send j2#2
       150 late j2#1 -> idle: abandon j2#2, j2 succeeded
       160 late j1#1 -> idle`,
    ],
    [
      'a late answer to a job before does not end the next',
      () => persistent({ takesLateAnswers: true, maxAttempts: 1 }),
      `0 job -> asking: send j1#1
       10 timeout j1#1 -> idle: j1 given_up
       20 job -> asking: send j2#1
       30 late j1#1 -> asking
       40 served j2#1 -> idle: j2 succeeded`,
    ],
  ],

  'with a gate': [
    [
      'every attempt passes it; who is turned away gives up',
      () => persistent({ gated: 'attempts' }),
      `0 job -> entering: gate open
       0 entered -> asking: send j1#1
       10 failed j1#1 -> pausing: alarm at 110
       110 wake -> entering: gate shut
       110 turned_away -> idle: j1 given_up
       200 job -> entering: gate open
       200 entered -> asking: send j2#1
       210 served j2#1 -> idle: j2 succeeded`,
      undefined,
      everyOther,
    ],
    [
      'of retries lets first attempts pass',
      () => persistent({ gated: 'retries' }),
      `0 job -> asking: send j1#1
       10 failed j1#1 -> pausing: alarm at 110
       110 wake -> entering: gate open
       110 entered -> asking: send j1#2
       120 failed j1#2 -> pausing: alarm at 270
       270 wake -> entering: gate shut
       270 turned_away -> idle: j1 given_up`,
      undefined,
      everyOther,
    ],
  ],

  'with hedging': [
    [
      'sends another attempt while none is answered; the first one served ends the job',
      () => persistent({ hedge: { afterMs: 50, most: 3 } }),
      `0 job -> asking: send j1#1, alarm at 50
       50 wake -> asking: send j1#2, alarm at 100
       60 failed j1#1 -> asking
       100 wake -> asking: send j1#3, alarm at 150
       120 served j1#3 -> idle: abandon j1#2, no alarm, j1 succeeded
       200 job -> asking: send j2#1, alarm at 250
       210 failed j2#1 -> pausing: alarm at 310
       310 wake -> asking: send j2#2, alarm at 360
       360 wake -> asking: send j2#3, alarm at 410
       410 wake -> asking: send j2#4, alarm at 460
       460 wake -> asking`,
    ],
  ],

  closed: [
    [
      'thinks, asks, and thinks again after any answer',
      () => closed({ think: constant(100) }),
      `0 begin -> thinking: alarm at 100
       100 wake -> asking: send j1#1
       130 served j1#1 -> thinking: j1 succeeded, alarm at 230
       230 wake -> asking: send j2#1
       240 limited j2#1 500 -> thinking: j2 given_up, alarm at 340
       340 wake -> asking: send j3#1
       350 timeout j3#1 -> thinking: j3 given_up, alarm at 450
       450 wake -> asking: send j4#1
       460 failed j4#1 -> thinking: j4 given_up, alarm at 560
       560 wake -> asking: send j5#1
       570 lost j5#1 -> thinking: j5 given_up, alarm at 670
       670 wake -> asking: send j6#1`,
    ],
  ],

  'holding, while the gate allows': [
    [
      'lets every item pass as it comes',
      device,
      `0 job -> passing: send j1#1
       1 job -> passing: send j2#1
       2 served j2#1 -> passing: j2 succeeded
       3 served j1#1 -> passing: j1 succeeded`,
    ],
    [
      'keeps what the gate limits, and nothing else',
      device,
      `0 job -> passing: send j1#1
       0 job -> passing: send j2#1
       0 job -> passing: send j3#1
       1 failed j1#1 -> passing: j1 given_up
       2 lost j2#1 -> passing: j2 given_up
       3 timeout j3#1 -> passing: j3 given_up`,
    ],
  ],

  'holding, told by the stream': [
    [
      'holds until restored, then flushes batch after batch, each when the one before is answered',
      device,
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       100 rate_restored -> flushing(1): send j1#1, send j2#1
       110 served j1#1 -> flushing(1): j1 succeeded
       111 served j2#1 -> flushing(0): j2 succeeded, send j3#1
       120 served j3#1 -> passing: j3 succeeded
       130 job -> passing: send j4#1`,
    ],
    [
      'drops what comes when the buffer is full',
      device,
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       4 job -> holding(3): j4 dropped`,
    ],
    [
      'with nothing held it passes on at once',
      device,
      `0 rate_limited -> holding(0)
       9 rate_restored -> passing
       10 job -> passing: send j1#1`,
    ],
    [
      'what comes during a flush stands in line',
      device,
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 rate_restored -> flushing(0): send j1#1
       3 job -> flushing(1)
       4 served j1#1 -> flushing(0): j1 succeeded, send j2#1
       5 served j2#1 -> passing: j2 succeeded`,
    ],
    [
      'limited again during a flush: what came back goes first, and it waits for the stream, not for Retry-After',
      device,
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       10 rate_restored -> flushing(1): send j1#1, send j2#1
       11 rate_limited -> holding(1)
       12 limited j1#1 500 -> holding(2)
       13 served j2#1 -> holding(2): j2 succeeded
       100 rate_restored -> flushing(0): send j1#2, send j3#1
       110 served j1#2 -> flushing(0): j1 succeeded
       111 served j3#1 -> passing: j3 succeeded`,
    ],
    [
      'spread over 60 ms: two batches, 30 ms apart',
      () => device({ spreadMs: 60 }),
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       100 rate_restored -> flushing(1): alarm at 130, send j1#1, send j2#1
       101 served j1#1 -> flushing(1): j1 succeeded
       102 served j2#1 -> flushing(1): j2 succeeded
       130 wake -> flushing(0): alarm at 160, send j3#1
       131 served j3#1 -> passing: j3 succeeded, no alarm`,
    ],
    [
      'spread with jitter: the first batch comes half a gap later where chance says 0.5',
      () => device({ spreadMs: 60, jitter: true }),
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       100 rate_restored -> flushing(3): alarm at 115
       115 wake -> flushing(1): alarm at 145, send j1#1, send j2#1
       120 served j1#1 -> flushing(1): j1 succeeded
       121 served j2#1 -> flushing(1): j2 succeeded
       145 wake -> flushing(0): alarm at 175, send j3#1
       150 served j3#1 -> passing: j3 succeeded, no alarm`,
    ],
    [
      'a batch that is due waits for the answers to the one before',
      () => device({ spreadMs: 60 }),
      `0 rate_limited -> holding(0)
       1 job -> holding(1)
       2 job -> holding(2)
       3 job -> holding(3)
       100 rate_restored -> flushing(1): alarm at 130, send j1#1, send j2#1
       130 wake -> flushing(1)
       140 served j1#1 -> flushing(1): j1 succeeded
       150 served j2#1 -> flushing(0): j2 succeeded, alarm at 180, send j3#1
       155 served j3#1 -> passing: j3 succeeded, no alarm`,
    ],
  ],

  'holding, told by limited answers alone': [
    [
      'holds as long as Retry-After says, and again when limited again',
      device,
      `0 job -> passing: send j1#1
       0 job -> passing: send j2#1
       1 limited j1#1 50 -> holding(1): alarm at 51
       1 limited j2#1 60 -> holding(2): alarm at 61
       61 wake -> flushing(0): send j2#2, send j1#2
       62 limited j2#2 40 -> holding(1): alarm at 102
       63 served j1#2 -> holding(1): j1 succeeded
       102 wake -> flushing(0): send j2#3
       102 served j2#3 -> passing: j2 succeeded`,
    ],
    [
      'once the stream speaks, the alarm is off',
      device,
      `0 job -> passing: send j1#1
       1 limited j1#1 50 -> holding(1): alarm at 51
       2 rate_limited -> holding(1): no alarm
       80 rate_restored -> flushing(0): send j1#2
       81 served j1#2 -> passing: j1 succeeded`,
    ],
  ],
};

describe.each(Object.entries(stories))('%s', (_kind, all) => {
  const named = all.map((story) => [story[0], story] as const);
  it.each(named)('%s', (_rule, [, chart, story, budget, gate]) => {
    expect(play(behaviourOf(chart()), story, budget?.(), gate?.())).toBe(text(story));
    // And as XState interprets it, event for event.
    expect(play(interpreted(chart()), story, budget?.(), gate?.())).toBe(text(story));
  });
});

describe('a chart that is compiled', () => {
  const kinds = { open, obedient: () => obedient({ maxAttempts: 3, jitterMs: 10 }), retrying: persistent, device };
  const late = () => persistent({ takesLateAnswers: true, retryAfter: { ...told, policy: 'floor' } });
  const spread = () => device({ spreadMs: 100, jitter: true });
  const gated = () => persistent({ gated: 'attempts', takesLateAnswers: true, on: ['limited', 'timeout'] });
  const hedged = () => persistent({ gated: 'retries', hedge: { afterMs: 20, most: 2 }, takesLateAnswers: true });
  const charts = { ...kinds, late, spread, gated, hedged, closed: () => closed({ think: constant(50) }) };
  const types = [
    'begin',
    'job',
    'served',
    'limited',
    'failed',
    'lost',
    'timeout',
    'late',
    'wake',
    'no_retry',
    'entered',
    'turned_away',
  ] as const;
  const events = fc.array(
    fc.record({
      type: fc.constantFrom(...types, 'rate_limited' as const, 'rate_restored' as const),
      job: fc.constantFrom(...[1, 2].map((number) => ({ number, contract: 0, bornMs: 0 }))),
      ms: fc.option(fc.nat(100), { nil: undefined }),
    }),
  );

  it.each(Object.entries(charts))('%s: any events give the same states and effects as XState', (_, make) => {
    const chart = make();
    fc.assert(
      fc.property(events, (script) => {
        const [compiled, drawn] = [behaviourOf(chart), interpreted(chart)];
        let [one, other] = [compiled.initial, drawn.initial];
        for (const { type, job, ms } of script) {
          const event = { type, job, attempt: { job, number: 1 }, retryAfterMs: ms, waitedMs: ms ?? 0 } as ClientEvent;
          const [next, effects] = compiled.on(one, event);
          const [nextDrawn, effectsDrawn] = drawn.on(other, event);
          expect(effectsDrawn.map(plain)).toEqual(effects.map(plain));
          expect(nextDrawn).toEqual(next);
          [one, other] = [next, nextDrawn];
        }
      }),
      { numRuns: 100 },
    );
  });
});

it('a breaker that is compiled: any events give the same states and answers as XState', () => {
  const chart = breakerChart({ share: 0.5, least: 2, openMs: 30, trials: 2 });
  const event = fc.record({
    type: fc.constantFrom('enter' as const, 'served' as const, 'setback' as const),
    nowMs: fc.nat(100),
    requests: fc.nat(5),
    setbacks: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.array(event), (script) => {
      const compiled = behaviourOf<BreakerEvent, object>(chart);
      const drawn = interpreted<BreakerEvent, object>(chart);
      let [one, other] = [compiled.initial, drawn.initial];
      for (const next of script) {
        const [state, answers] = compiled.on(one, next);
        const [stateDrawn, answersDrawn] = drawn.on(other, next);
        expect([answersDrawn, stateDrawn]).toEqual([answers, state]);
        [one, other] = [state, stateDrawn];
      }
    }),
  );
});

/** A law that is drawn anew each time is the same if it draws the same. */
function plain(effect: Effect) {
  if (!('wait' in effect) || typeof effect.wait === 'number') return effect;
  return { ...effect, wait: effect.wait.drawMs({ uniform: () => 0.25 } as RandomStream) };
}
