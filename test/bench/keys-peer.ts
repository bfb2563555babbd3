// Owns one way to count by key, in a process of its own, with so many keys: tells how much memory a key takes, and counts as many requests
// as it is told to. Started with --expose-gc. Leaves asking to keys.ts.
//
//   weir    a contract with keys of a host, without a disk: what it counts is written to a store that keeps nothing
//   ring    the least that could count a window: a ring of counts and its sum behind a Map
//   rlf     rate-limiter-flexible in memory
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { RandomStream } from '../../src/core/math/random.js';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { Host } from '../../src/node/host/host.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { BareRing, THRESHOLD, WITHIN } from './bare-ring.js';
import { memory } from './heap.js';

/** Requests of one cycle: some 130,000 in a second. */
const PER_CYCLE = 100_000;
/** Cycles are some billions on a node. */
const FIRST = 2_300_000_000;

class NothingKept extends MemoryStore {
  override putState(): void {}
}

type Count = (name: string, cycle: number) => unknown;

const kinds: Record<string, (keys: number) => { readonly count: Count; readonly between?: () => void }> = {
  weir: (keys) => {
    const host = new Host({ clock: new VirtualClock(FIRST * 777, 777), store: new NothingKept() });
    host.createMachine({ slug: 'bench' });
    const keyed = { maxKeys: keys, idleCycles: 1_000_000, overflow: 'refuse' } as const;
    const definition = rateLimiter({ threshold: THRESHOLD, within: WITHIN });
    const contract = host.createContract('bench', definition, undefined, keyed);
    return {
      count: (name, cycle) => contract.decide(1, cycle, 0, contract.nameOf(name)),
      between: () => host.saveWindows(),
    };
  },
  ring: () => {
    const rings = new Map<string, BareRing>();
    return {
      count: (name, cycle) => {
        let ring = rings.get(name);
        if (ring === undefined) {
          ring = new BareRing();
          rings.set(name, ring);
        }
        return ring.decide(cycle - FIRST);
      },
    };
  },
  rlf: () => {
    const limiter = new RateLimiterMemory({ points: THRESHOLD, duration: 47 });
    return { count: (name) => limiter.consume(name).catch(() => {}) };
  },
};

const [, , kind = '', of = '0'] = process.argv;
const keys = Number(of);
const nameOf = (n: number) => `client-${n}`;
const before = memory();
const { count, between } = kinds[kind]!(keys);
let cycle = FIRST;
await counted(keys, (n) => n);
between?.();
process.send?.((memory() - before) / keys);

// Drawn beforehand, each key as likely: what is measured is finding a key and deciding, not drawing, nor making its name.
const stream = new RandomStream(1, 'bench/keys');
const order = Uint32Array.from({ length: 1 << 18 }, () => stream.integer(0, keys - 1));
const names = Array.from(order, nameOf);
process.on('message', async (n: number) => {
  between?.();
  const start = process.cpuUsage();
  await counted(n, undefined);
  const { user, system } = process.cpuUsage(start);
  process.send?.((user + system) / n);
});
process.on('disconnect', () => process.exit());

async function counted(n: number, keyOf: ((n: number) => number) | undefined): Promise<void> {
  for (let from = 0; from < n; from += PER_CYCLE) {
    cycle += 1;
    for (let k = from; k < Math.min(n, from + PER_CYCLE); k += 1) {
      const done = count(keyOf === undefined ? names[k & (names.length - 1)]! : nameOf(keyOf(k)), cycle);
      if (done instanceof Promise) await done;
    }
  }
}
