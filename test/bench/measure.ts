// How speed is measured: a round to warm up, then rounds in which all bodies take turns, a b c, a b c, so that what disturbs the machine
// disturbs them all; of each the median.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import autocannon, { type Options } from 'autocannon';

/** One line of the bench: a figure, and the peer it was measured against in the same run. */
export interface BenchRow {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly against?: Against;
}

export interface Against {
  readonly name: string;
  readonly value: number;
  /** The value of the row over that of the peer. */
  readonly ratio: number;
  /** Least ratio wanted. */
  readonly target?: number;
}

export function beside(value: number, name: string, other: number, target?: number): Against {
  return { name, value: other, ratio: value / other, ...(target !== undefined && { target }) };
}

export function atMost(most: number, value: number, unit: string): Against {
  return { name: `${unit} allowed, over ${unit} found`, value: most, ratio: most / value, target: 1 };
}

/** Does its work `n` times. */
export type Body = (n: number) => unknown;

/** Seconds that the work takes: on the clock, or of the processor. */
export async function secondsOf(work: () => unknown, by: 'clock' | 'processor' = 'clock'): Promise<number> {
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return by === 'clock' ? (performance.now() - startMs) / 1000 : (user + system) / 1e6;
}

/** What a server in a process of its own takes from 50 connections: requests a second, and for a second of its processor time. */
export async function saturated(server: ChildProcess, url: string, duration: number, more: Partial<Options> = {}) {
  const cpuS = async () => {
    server.send('cpu');
    const [{ user, system }] = (await once(server, 'message')) as [NodeJS.CpuUsage];
    return (user + system) / 1e6;
  };
  const before = await cpuS();
  const { requests, non2xx, errors, ...took } = await autocannon({ url, connections: 50, duration, ...more });
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} refused, ${errors} lost`);
  return { forCpu: requests.total / ((await cpuS()) - before), rate: requests.total / took.duration };
}

/** The median of what each measurement gives. */
export async function inTurn<Name extends string>(
  measures: Readonly<Record<Name, () => number | Promise<number>>>,
  rounds = 5,
): Promise<Record<Name, number>> {
  const names = Object.keys(measures) as Name[];
  const seen = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1)
    for (const name of names) {
      const value = await measures[name]();
      if (round > 0) seen.get(name)!.push(value);
    }
  return Object.fromEntries(names.map((name) => [name, median(seen.get(name)!)])) as Record<Name, number>;
}

/**
 * Operations per second of several bodies.
 * @param n how often each body does its work in a round; per body when a peer is much slower than the others
 */
export function sideBySide<Name extends string>(
  bodies: Readonly<Record<Name, Body>>,
  n: number | Readonly<Record<Name, number>>,
  rounds = 5,
): Promise<Record<Name, number>> {
  const measures = Object.keys(bodies).map((key) => {
    const name = key as Name;
    const times = typeof n === 'number' ? n : n[name];
    return [name, async () => times / (await secondsOf(() => bodies[name](times)))];
  });
  return inTurn<Name>(Object.fromEntries(measures), rounds);
}

/** The middle of the values, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
