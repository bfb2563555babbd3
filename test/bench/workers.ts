// Runs of about 10 ms by the queue of `weir worker` beside the same runs by threads of this process: as many at once on both sides.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { addTool } from '../../src/core/schema/optional-package.js';
import { openRunPool } from '../../src/harness/simulate/run-pool.js';
import { workers } from '../../src/tools/workers/workers.js';
import { hasRedis, RedisServer } from '../node/network/redis/server.js';
import { type BenchRow, median } from './measure.js';

const program = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const ROUNDS = 5;
const RUNS = 200;
const RUN_MS = 10;
const LEAST = 0.85;

export async function benchWorkers(): Promise<BenchRow[]> {
  if (!hasRedis) return [];
  addTool('workers', async () => workers);
  const server = await RedisServer.start();
  const worker = spawn(process.execPath, [program, 'worker', server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(worker.stdout, 'data');
    const pools = await Promise.all([openRunPool({}, RUNS), openRunPool({ workers: server.url }, RUNS)]);
    let next = 0;
    const msOf = async (pool: (typeof pools)[number], duration: number) => {
      const scenario = { question: 'Q?', duration, arrivals: [{ model: 'poisson', rate: 1 }] };
      const startMs = performance.now();
      const task = () => ({ path: 'bench.yaml', scenario, seed: `${next++}`, withPeaks: false });
      await Promise.all(Array.from({ length: RUNS }, () => pool.run(task())));
      return performance.now() - startMs;
    };
    try {
      // How long a scenario has to be for runs of 10 ms: the second round is warm.
      let duration = 20_000;
      for (let round = 0; round < 3; round += 1) {
        for (const pool of pools) await msOf(pool, duration);
        const runMs = ((await msOf(pools[0], duration)) * availableParallelism()) / RUNS;
        duration = Math.ceil((duration * RUN_MS) / runMs);
      }
      const rounds: [threads: number, queue: number][] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push([await msOf(pools[0], duration), await msOf(pools[1], duration)]);
      const [threads, queue] = [0, 1].map((side) => (1000 * RUNS) / median(rounds.map((both) => both[side]!)));
      const ratio = median(rounds.map(([threadsMs, queueMs]) => threadsMs / queueMs));
      return [
        {
          what: `runs of ${RUN_MS} ms by weir worker, ${availableParallelism()} at once`,
          value: queue!,
          unit: 'runs/s',
          against: { name: 'threads of one process', value: threads!, ratio, target: LEAST },
        },
      ];
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
  } finally {
    worker.kill('SIGKILL');
    await server.stop();
  }
}
