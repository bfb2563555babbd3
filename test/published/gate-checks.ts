// Checks of the rate limiter's gate.
//
// How much a fixed window admits of Poisson arrivals.
//
//   admitted = E min(N, 100),  N Poisson with mean 100:  100 (1 - e^-100 100^100 / 100!) = 96.0139
//
// The most that a limiter of 100 requests admits in any interval as long as its window.
//
//   fixed window     ........100|100........          each window holds 100; 60 cycles across the edge hold 200
//   rolling window   ........100|...limiting          every 60 cycles hold 100, because every 60 cycles are a window
//
// The adversary knows the limiter: it tries bursts at every phase of the window and random streams, and improves the best one by adding,
// moving and removing bursts. Time is in cycles. An interval of 60 cycles that begins inside a cycle touches 61, so to the millisecond
// the guarantee is one cycle shorter: the last row.
import { makeGate } from '../../src/core/limiter/create-limiter.js';
import type { Gate } from '../../src/core/limiter/gate.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { RandomStream } from '../../src/core/math/random.js';
import { PoissonLaw } from '../../src/core/math/random-law.js';
import type { PublishedCheck } from './published-check.js';

const THRESHOLD = 100;
const WINDOWS = 2_000;

/** @param within window length in cycles; 1 makes a fixed window, whose counts all expire with the cycle */
function limiters(threshold: number, within: number): () => Gate {
  const plan = planContract(rateLimiter({ threshold, within }));
  return () => makeGate(plan, 0);
}

export const fixedWindow: PublishedCheck = {
  title: `Fixed window of ${THRESHOLD} on Poisson arrivals, mean ${THRESHOLD} a window`,
  source: 'closed form',
  rows: [{ name: 'admitted', expected: 96.0139, unit: 'a window' }],
  replicate(seed, replication) {
    const stream = new RandomStream(seed, `published/fixed-window/${replication}`);
    const law = new PoissonLaw(THRESHOLD);
    const gate = limiters(THRESHOLD, 1)();
    let admitted = 0;
    for (let window = 0; window < WINDOWS; window += 1) admitted += gate.decide(law.draw(stream), window);
    return [admitted / WINDOWS];
  },
};

const WINDOW = 60;
/** Length of the adversary's streams in cycles: a lead of one window, then three. */
const CYCLES = 4 * WINDOW;
const STREAMS = 10;
const STEPS = 40;

/** Requests by half cycle. */
type Stream = readonly number[];

type Admit = (n: number, cycle: number) => number;

/** One cycle of the limiter is a window of 60 cycles of the stream. */
function fixed(): () => Admit {
  const gates = limiters(THRESHOLD, 1);
  return () => {
    const gate = gates();
    return (n, cycle) => gate.decide(n, Math.floor(cycle / WINDOW));
  };
}

function rolling(): () => Admit {
  const gates = limiters(THRESHOLD, WINDOW);
  return () => {
    const gate = gates();
    return (n, cycle) => gate.decide(n, cycle);
  };
}

export const worstCase: PublishedCheck = {
  title: `Worst case: most admitted in the length of a window, limiters of ${THRESHOLD} in ${WINDOW} cycles`,
  source: 'the definition of a fixed and of a rolling window',
  rows: [
    { name: `fixed window: in any ${WINDOW} cycles`, expected: 2 * THRESHOLD, unit: 'requests' },
    { name: `rolling window: in any ${WINDOW} cycles`, expected: THRESHOLD, unit: 'requests' },
    {
      name: `rolling window: in any time of ${WINDOW - 1} cycles, to the millisecond`,
      expected: THRESHOLD,
      unit: 'requests',
    },
  ],
  replicate(seed, replication) {
    const stream = (of: string) => new RandomStream(seed, `published/worst-case/${replication}/${of}`);
    return [
      worst(fixed(), (admitted) => mostInCycles(admitted, WINDOW), stream('fixed')),
      worst(rolling(), (admitted) => mostInCycles(admitted, WINDOW), stream('rolling')),
      worst(rolling(), (admitted) => mostInTime(admitted, WINDOW - 1), stream('time')),
    ];
  },
};

function worst(limiter: () => Admit, harm: (admitted: Stream) => number, chance: RandomStream): number {
  const damage = (stream: Stream) => harm(admittedOf(limiter, stream));
  const tried = [
    ...Array.from({ length: WINDOW }, (_, phase) => edgeBurst(WINDOW + phase)),
    ...Array.from({ length: STREAMS }, () => randomStream(chance)),
  ].map((stream) => ({ stream, damage: damage(stream) }));
  let best = tried.reduce((a, b) => (b.damage > a.damage ? b : a));
  for (let step = 0; step < STEPS; step += 1) {
    const stream = changed(best.stream, chance);
    const next = { stream, damage: damage(stream) };
    if (next.damage >= best.damage) best = next;
  }
  return best.damage;
}

function admittedOf(limiter: () => Admit, stream: Stream): Stream {
  const admit = limiter();
  return stream.map((n, half) => (n === 0 ? 0 : admit(n, half >> 1)));
}

function mostInCycles(admitted: Stream, cycles: number): number {
  return most(admitted, 2 * cycles, 2);
}

/** The most in any interval of the length of `cycles` cycles, which may begin inside a cycle. */
function mostInTime(admitted: Stream, cycles: number): number {
  return most(admitted, 2 * cycles, 1);
}

/** The largest sum of `length` consecutive counts that end at a multiple of `step`. */
function most(counts: readonly number[], length: number, step: 1 | 2): number {
  let [sum, largest] = [0, 0];
  for (let next = 0; next < counts.length; next += 1) {
    sum += counts[next]! - (counts[next - length] ?? 0);
    if ((next + 1) % step === 0 && sum > largest) largest = sum;
  }
  return largest;
}

const silence = (): number[] => new Array<number>(2 * CYCLES).fill(0);

function edgeBurst(cycle: number): Stream {
  const stream = silence();
  for (const half of [2 * cycle - 1, 2 * cycle, 2 * (cycle + WINDOW - 1)]) stream[half] = THRESHOLD;
  return stream;
}

function randomStream(chance: RandomStream): Stream {
  let stream: Stream = silence();
  for (let burst = chance.integer(2, 12); burst > 0; burst -= 1) stream = withBurst(stream, chance);
  return stream;
}

function withBurst(stream: Stream, chance: RandomStream): Stream {
  return stream.with(chance.integer(0, stream.length - 1), chance.integer(1, 2 * THRESHOLD));
}

function changed(stream: Stream, chance: RandomStream): Stream {
  switch (chance.integer(0, 2)) {
    case 0:
      return withBurst(stream, chance);
    case 1:
      return [0, 0, ...stream.slice(0, -2)];
    default:
      return stream.with(chance.integer(0, stream.length - 1), 0);
  }
}
