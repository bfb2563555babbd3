// Owns check 7: the most that a limiter of 100 a window lets through within the length of one window, wherever that begins.
//
//   fixed window     ........100|100........          each window keeps its 100; 60 cycles across the edge hold 200
//   rolling window   ........100|...limiting          every 60 cycles hold 100, because every 60 cycles are a window
//
// The adversary knows the limiter: it tries a burst at every phase of the window, streams by chance, and climbs from the best of
// them by adding, moving and removing bursts. Time is counted in cycles, as the limiter counts it. A stretch of 60 cycles that
// begins inside a cycle touches 61 of them, so to the millisecond the promise is one cycle shorter: that is the last row.
import { RandomStream } from '../math/random.js';
import type { Check } from './check.js';
import { limiters } from './limiter.js';

const THRESHOLD = 100;
/** Cycles. */
const WINDOW = 60;
/** What an adversary sends over: three windows and what leads up to them. */
const CYCLES = 4 * WINDOW;
/** Random streams tried, and steps climbed from the best of them. */
const STREAMS = 10;
const STEPS = 40;

/** Requests of each half of a cycle: at its very beginning, at its very end, at the beginning of the next, and so on. */
type Stream = readonly number[];

/** Says how many of n requests in a cycle are admitted. */
type Admit = (n: number, cycle: number) => number;

/** A window of one cycle, as long as sixty of the others. */
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

export const worstCase: Check = {
  id: 'worst-case',
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
    const stream = (of: string) => new RandomStream(seed, `self-test/worst-case/${replication}/${of}`);
    return [
      worst(fixed(), (admitted) => mostInCycles(admitted, WINDOW), stream('fixed')),
      worst(rolling(), (admitted) => mostInCycles(admitted, WINDOW), stream('rolling')),
      worst(rolling(), (admitted) => mostInTime(admitted, WINDOW - 1), stream('time')),
    ];
  },
};

/** The most that the adversary has found. */
function worst(limiter: () => Admit, harm: (admitted: Stream) => number, chance: RandomStream): number {
  const damage = (stream: Stream) => harm(admittedOf(limiter, stream));
  const tried = [
    ...Array.from({ length: WINDOW }, (_, phase) => edgeBurst(WINDOW + phase)),
    ...Array.from({ length: STREAMS }, () => byChance(chance)),
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

/** The most in any so many whole cycles. */
function mostInCycles(admitted: Stream, cycles: number): number {
  return most(admitted, 2 * cycles, 2);
}

/** The most in any time as long as so many cycles: from the end of a cycle, it reaches to just before the end of another. */
function mostInTime(admitted: Stream, cycles: number): number {
  return most(admitted, 2 * cycles, 1);
}

/** The largest sum of `length` in a row, of those that end after every `step`. */
function most(counts: readonly number[], length: number, step: 1 | 2): number {
  let [sum, largest] = [0, 0];
  for (let next = 0; next < counts.length; next += 1) {
    sum += counts[next]! - (counts[next - length] ?? 0);
    if ((next + 1) % step === 0 && sum > largest) largest = sum;
  }
  return largest;
}

const silence = (): number[] => new Array<number>(2 * CYCLES).fill(0);

/** As many as a window holds at the very end of a cycle, and again at the beginning of the next; and again a window later. */
function edgeBurst(cycle: number): Stream {
  const stream = silence();
  for (const half of [2 * cycle - 1, 2 * cycle, 2 * (cycle + WINDOW - 1)]) stream[half] = THRESHOLD;
  return stream;
}

/** A few bursts of any size, anywhere. */
function byChance(chance: RandomStream): Stream {
  let stream: Stream = silence();
  for (let burst = chance.integer(2, 12); burst > 0; burst -= 1) stream = withBurst(stream, chance);
  return stream;
}

function withBurst(stream: Stream, chance: RandomStream): Stream {
  return stream.with(chance.integer(0, stream.length - 1), chance.integer(1, 2 * THRESHOLD));
}

/** One burst more, or all a cycle later, or silence where something was. */
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
