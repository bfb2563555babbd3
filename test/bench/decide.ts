// Decide and record over 10,000 contracts by id: this host, the bare ring behind a Map, and limiters in memory that people use.
import { MemoryStore as ExpressStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { RandomStream } from '../../src/core/math/random.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { Host } from '../../src/node/host/host.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { BareRing, THRESHOLD, WITHIN } from './bare-ring.js';
import { type BenchRow, type Body, beside, sideBySide } from './measure.js';

const CONTRACTS = 10_000;
/** Requests of one cycle over all contracts: each is asked once in about two cycles, and most stay below their threshold. */
const PER_CYCLE = 5_000;

export async function benchDecide(rounds = 5, n = 400_000): Promise<BenchRow[]> {
  const clock = new VirtualClock(0, 777);
  const host = new Host({ clock, store: new MemoryStore() });
  host.createMachine({ slug: 'bench' });
  const plan = planContract(rateLimiter({ threshold: THRESHOLD, within: WITHIN }));
  const ids = Array.from({ length: CONTRACTS }, () => host.createPlanned('bench', plan).id);
  const rings = new Map(ids.map((id) => [id, new BareRing()]));
  const flexible = new RateLimiterMemory({ points: THRESHOLD, duration: 47 });
  const express = new ExpressStore();
  express.init({ windowMs: 46_620 } as Parameters<typeof express.init>[0]);

  // Drawn beforehand, each id as likely: what is measured is finding a contract and deciding, not drawing.
  const stream = new RandomStream(1, 'bench/ids');
  const order = Uint32Array.from({ length: 1 << 16 }, () => stream.integer(0, CONTRACTS - 1));
  let place = 0;
  const nextId = () => {
    place = (place + 1) & 0xffff;
    return ids[order[place]!]!;
  };
  let cycle = 0;
  const bodies: Record<string, Body> = {
    host: (count) => {
      for (let i = 0; i < count; i += 1) host.contract(nextId()).decide(1, cycle + Math.floor(i / PER_CYCLE));
      cycle += Math.ceil(count / PER_CYCLE);
    },
    ring: (count) => {
      for (let i = 0; i < count; i += 1) rings.get(nextId())!.decide(cycle + Math.floor(i / PER_CYCLE));
      cycle += Math.ceil(count / PER_CYCLE);
    },
    'rate-limiter-flexible': async (count) => {
      // It rejects what is limited.
      for (let i = 0; i < count; i += 1) await flexible.consume(nextId()).catch(() => {});
    },
    'express-rate-limit': async (count) => {
      for (let i = 0; i < count; i += 1) await express.increment(nextId());
    },
  };
  const times = { host: n, ring: n, 'rate-limiter-flexible': n / 4, 'express-rate-limit': n / 4 };
  const speeds = await sideBySide(bodies, times, rounds);
  express.shutdown();
  const row = (name: string, target: number) => ({
    ...{ what: 'decide + record, 10,000 contracts by id', value: speeds['host']!, unit: 'decisions/s' },
    against: beside(speeds['host']!, name, speeds[name]!, target),
  });
  return [row('rate-limiter-flexible', 5), row('express-rate-limit', 3), row('ring', 0.85)];
}
