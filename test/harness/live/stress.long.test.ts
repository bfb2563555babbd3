// What a node holds, measured at a real one. How much that is depends on the machine, and is not asserted.
import { expect, it } from 'vitest';
import { stress } from '../../../src/harness/live/stress.js';
import { metricsOf } from '../../node/asking.js';
import { hasRedis, RedisServer } from '../../node/network/redis/server.js';
import { startNetworkNode } from '../../node/network-nodes.js';
import { startRunning } from '../../node/running.js';

const node = await startRunning();

const short = { seconds: 1, rounds: 1, connections: 4 };

it('a stress saturates each hot route, and says how busy the generator was', async () => {
  const steps: string[] = [];
  const { routes, ...result } = await stress({
    ...short,
    url: node.url,
    key: node.keyOf('stress'),
    onStep: (step) => steps.push(step),
  });
  expect(result).toEqual({
    target: expect.stringMatching(`^node ${node.url}, machine load-`),
    connections: 4,
    workers: 0,
    seconds: 1,
    rounds: 1,
    notes: expect.any(Array),
    partial: false,
  });
  expect(steps).toEqual(['saturating gate', 'saturating event', 'saturating events']);
  expect(routes.map(({ route, errors, unexpected, nodeBusy }) => ({ route, errors, unexpected, nodeBusy }))).toEqual(
    ['gate', 'event', 'events'].map((route) => ({ route, errors: 0, unexpected: 0, nodeBusy: null })),
  );
  for (const { route, requestsPerSecond, eventsPerSecond, latencyMsP50, latencyMsP99, generatorBusy } of routes) {
    expect(requestsPerSecond).toBeGreaterThan(0);
    expect(eventsPerSecond).toBe(requestsPerSecond * (route === 'events' ? 1_000 : 1));
    expect(latencyMsP99).toBeGreaterThanOrEqual(latencyMsP50);
    expect(generatorBusy).toBeGreaterThan(0);
  }
  // What it says it counted is what the node counted: every event of every round, the one that warms up too.
  const [contract] = [...node.host.contracts.values()];
  expect(contract?.tally.requests).toBeGreaterThanOrEqual(routes.reduce((sum, one) => sum + one.eventsPerSecond, 0));
});

it.skipIf(!hasRedis)('a stress asks several nodes of one network (needs redis-server)', async () => {
  const server = await RedisServer.start();
  const nodes = [await startNetworkNode(server.url, 777), await startNetworkNode(server.url, 777)];
  try {
    const [url, ...alsoUrls] = nodes.map((one) => one.url);
    const { routes } = await stress({ ...short, url: url!, alsoUrls });
    expect(routes.map(({ errors, unexpected }) => [errors, unexpected])).toEqual(Array(3).fill([0, 0]));
    for (const one of nodes)
      expect(await metricsOf(one.url)).toMatch(
        /weir_requests_total\{method="GET",path="[^"]*\/gate",status="200"\} [1-9]/,
      );
  } finally {
    await Promise.all(nodes.map((one) => one.close()));
    await server.stop();
  }
});

it('a stress that is stopped ends at once, and says that it is partial', async () => {
  const stopping = new AbortController();
  const stressed = stress({
    ...short,
    seconds: 600,
    url: node.url,
    key: node.keyOf('stopped'),
    signal: stopping.signal,
    onStep: () => setTimeout(() => stopping.abort(), 200),
  });
  await expect(stressed).resolves.toMatchObject({ routes: [], partial: true });
});
