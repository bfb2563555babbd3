// Owns check 7: the most that a limiter of 100 a window lets through within the length of one window, wherever that begins.
//
//   fixed window     ........100|100........          each window keeps its 100; 60 cycles across the edge hold 200
//   rolling window   ........100|...limiting          every 60 cycles hold 100, because every 60 cycles are a window
//
// The adversary knows the limiter: it tries a burst at every phase of the window, streams by chance, and climbs from the best of
// them by moving, growing and splitting bursts. Time is counted in cycles, as the limiter counts it. A stretch of 60 cycles that
// begins inside a cycle touches 61 of them, so to the millisecond the promise is one cycle shorter: that is the last row.

import { RandomStream } from '../../core/random.js';
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

/** Requests of each cycle, in two parts: those at its very beginning and those at its very end. */
interface Stream {
  readonly early: readonly number[];
  readonly late: readonly number[];
}

/** Says how many of n requests in a cycle are admitted. */
type Admit = (n: number, cycle: number) => number;

/** A window of one cycle, as long as sixty of the others. */
function fixed(): () => Admit {
  const gates = limiters(THRESHOLD, 1);
  return () => {
    const gate = gates();
    return (n, cycle) => gate.record(n, Math.floor(cycle / WINDOW));
  };
}

function rolling(): () => Admit {
  const gates = limiters(THRESHOLD, WINDOW);
  return () => {
    const gate = gates();
    return (n, cycle) => gate.record(n, cycle);
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
function worst(limiter: () => Admit, most: (admitted: Stream) => number, chance: RandomStream): number {
  const damage = (stream: Stream) => most(admittedOf(limiter, stream));
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

function admittedOf(limiter: () => Admit, { early, late }: Stream): Stream {
  const admit = limiter();
  const admitted = { early: silence(), late: silence() };
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    if (early[cycle]! > 0) admitted.early[cycle] = admit(early[cycle]!, cycle);
    if (late[cycle]! > 0) admitted.late[cycle] = admit(late[cycle]!, cycle);
  }
  return admitted;
}

/** The most in any so many whole cycles. */
function mostInCycles({ early, late }: Stream, cycles: number): number {
  return mostInARow(
    early.map((n, cycle) => n + late[cycle]!),
    cycles,
  );
}

/** The most in any time as long as so many cycles: from the end of a cycle, it reaches to just before the end of another. */
function mostInTime({ early, late }: Stream, cycles: number): number {
  const halves = early.flatMap((n, cycle) => [n, late[cycle]!]);
  return mostInARow(halves, 2 * cycles);
}

function mostInARow(counts: readonly number[], length: number): number {
  let [sum, most] = [0, 0];
  for (let end = 0; end < counts.length; end += 1) {
    sum += counts[end]! - (counts[end - length] ?? 0);
    most = Math.max(most, sum);
  }
  return most;
}

const silence = (): number[] => new Array<number>(CYCLES).fill(0);

/** As many as a window holds at the very end of a cycle, and again at the beginning of the next; and again a window later. */
function edgeBurst(cycle: number): Stream {
  const [early, late] = [silence(), silence()];
  late[cycle - 1] = THRESHOLD;
  early[cycle] = THRESHOLD;
  early[cycle + WINDOW - 1] = THRESHOLD;
  return { early, late };
}

/** A few bursts of any size, anywhere. */
function byChance(chance: RandomStream): Stream {
  let stream: Stream = { early: silence(), late: silence() };
  for (let burst = chance.integer(2, 12); burst > 0; burst -= 1) stream = withBurst(stream, chance);
  return stream;
}

function withBurst({ early, late }: Stream, chance: RandomStream): Stream {
  const cycle = chance.integer(0, CYCLES - 1);
  const size = chance.integer(1, 2 * THRESHOLD);
  return chance.uniform() < 0.5 ? { early: early.with(cycle, size), late } : { early, late: late.with(cycle, size) };
}

/** One burst more, or all a cycle later, or one cycle silenced. */
function changed(stream: Stream, chance: RandomStream): Stream {
  const { early, late } = stream;
  switch (chance.integer(0, 2)) {
    case 0:
      return withBurst(stream, chance);
    case 1:
      return { early: [0, ...early.slice(0, -1)], late: [0, ...late.slice(0, -1)] };
    default: {
      const cycle = chance.integer(0, CYCLES - 1);
      return { early: early.with(cycle, 0), late: late.with(cycle, 0) };
    }
  }
}
