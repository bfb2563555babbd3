import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../cli/command-line.js';

/** A run of its own process: Poisson requests on a limiter, and the head of the record they lead to. */
const program = `
  import { Host } from './node/host/host.js';
  import { rateLimiter } from './core/limiter/rate-limiter.js';
  import { RandomStream } from './core/math/random.js';
  import { drawPoisson } from './core/math/random-law.js';
  import { MemoryStore } from './node/store/memory.js';
  import { Rank } from './core/time/rank.js';
  import { VirtualClock } from './core/time/virtual.js';
  const start = 2_306_790_000;
  const clock = new VirtualClock(start * 777, 777);
  const host = new Host({ clock, store: new MemoryStore() });
  const machine = host.createMachine({ slug: 'm' });
  const { id } = host.createContract('m', rateLimiter({ threshold: 20, within: 10 }));
  const stream = new RandomStream(Number(process.argv[2]), 'requests');
  for (let k = 1; k < 400; k += 1) {
    clock.agenda.at((start + k) * 777, Rank.arrival, () => host.contract(id).decide(drawPoisson(2, stream), start + k));
  }
  clock.run();
  console.log(JSON.stringify(machine.head));
`;
const bundled = join(temporaryFolder(), 'program.cjs');
buildSync({
  stdin: { contents: program, resolveDir: resolve('src'), loader: 'ts' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  external: ['better-sqlite3'],
  absWorkingDir: resolve('.'),
  outfile: bundled,
});
const headOf = (seed: number) =>
  JSON.parse(execFileSync(process.execPath, [bundled, String(seed)], { encoding: 'utf8' }));

it('the same seed gives the same record digest in two processes, another seed another one', () => {
  const first = headOf(7);
  expect(first.seq).toBeGreaterThan(10);
  expect(headOf(7)).toEqual(first);
  expect(headOf(8).hash).not.toBe(first.hash);
});
