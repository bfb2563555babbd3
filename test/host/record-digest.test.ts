import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const dist = resolve('dist');

/** A run of its own process: Poisson requests on a limiter, and the head of the record they lead to. */
const program = (seed: number) => `
  const at = (path) => import(${JSON.stringify(`${pathToFileURL(dist).href}/`)} + path);
  const { VirtualClock } = await at('time/virtual.js');
  const { Rank } = await at('time/rank.js');
  const { rateLimiter } = await at('limiter/rate-limiter.js');
  const { standardOperators } = await at('operator/registry.js');
  const { RandomStream } = await at('math/random.js');
  const { drawPoisson } = await at('math/random-law.js');
  const { Host } = await at('host/host.js');
  const { MemoryStore } = await at('store/memory.js');
  const operators = standardOperators();
  const start = 2_306_790_000;
  const clock = new VirtualClock(start * 777, 777);
  const host = new Host({ clock, store: new MemoryStore() });
  const machine = host.createMachine({ slug: 'm' });
  const { id } = host.createContract('m', rateLimiter({ threshold: 20, within: 10 }));
  const stream = new RandomStream(${seed}, 'requests');
  for (let k = 1; k < 400; k += 1) {
    clock.agenda.at((start + k) * 777, Rank.arrival, () => host.decide(id, drawPoisson(2, stream), start + k));
  }
  clock.run();
  console.log(JSON.stringify(machine.head));
`;
const headOf = (seed: number) =>
  JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program(seed)], { encoding: 'utf8' }));

it.skipIf(!existsSync(dist))(
  'the same seed gives the same record digest in two processes, another seed another one',
  () => {
    const first = headOf(7);
    expect(first.seq).toBeGreaterThan(10);
    expect(headOf(7)).toEqual(first);
    expect(headOf(8).hash).not.toBe(first.hash);
  },
);
