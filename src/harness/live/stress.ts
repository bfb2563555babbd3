// Capacity of a node: its hot routes at saturation (by autocannon), where every connection sends again after each answer.
//
// A saturated generator measures itself, so every figure includes the utilization of both event loops.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type autocannon from 'autocannon';
import { MOST_EVENTS } from '../../api/events.js';
import { rateLimiter } from '../../core/limiter/rate-limiter.js';
import { planContract } from '../../core/limiter/validate.js';
import { nearestRank } from '../../core/math/nearest-rank.js';
import { exact, flag, titled } from '../../core/schema/fields.js';
import { type Shaped, Type } from '../../core/schema/json-schema.js';
import { Count, Measure, Nullable, Text } from '../outcome/read-schema.js';
import { saturate } from './closed-loop.js';
import type { Connection } from './connection.js';
import type { EmbeddedNode } from './embedded-node.js';
import type { PoolRequest } from './http-pool.js';
import { connected, type LiveOptions } from './load.js';
import { WeirTarget } from './weir-target.js';

interface StressOptions extends Omit<LiveOptions, 'top'> {
  /** 1 .. 10000, shared among the nodes. Default: 64. */
  readonly connections?: number | undefined;
  /** Further threads that send; 0 for this one alone. Default: 0. */
  readonly workers?: number | undefined;
  /** Length of a round, 1 .. 600. Default: 3. */
  readonly seconds?: number | undefined;
  /** 1 .. 100; figures are medians over them. One more goes before to warm up. Default: 3. */
  readonly rounds?: number | undefined;
  readonly onStep?: ((step: string) => void) | undefined;
}

const stressedRoutes = ['gate', 'event', 'events'] as const;

type StressedRoute = (typeof stressedRoutes)[number];

const Busy = Nullable(Measure('Utilization of the event loop, 0 .. 1; null if unknown.'));

const RouteFigures = exact({
  route: Type.Enum([...stressedRoutes], { description: 'The route.' }),
  requestsPerSecond: Measure('Requests answered per second.'),
  eventsPerSecond: Measure('More than requests if a request carries many.'),
  latencyMsP50: Measure('Latency in ms.'),
  latencyMsP99: Measure('Latency in ms.'),
  errors: Count('Requests without an answer, over all rounds.'),
  unexpected: Count('Answers that are neither admitted nor limited, over all rounds.'),
  generatorBusy: Busy,
  nodeBusy: Busy,
  boundBy: Type.Enum(['node', 'generator', 'not known'], { description: 'What kept it from being higher.' }),
});

export const StressResult = titled('weir stress --json', {
  target: Text('The node.'),
  connections: Count('Connections at once.'),
  workers: Count('Threads that send.'),
  seconds: Measure('Length of a round.'),
  rounds: Count('Of each route.'),
  routes: Type.Array(RouteFigures),
  notes: Type.Array(Text('What a reader should know.')),
  partial: flag('True when it was stopped.'),
});

export type RouteFigures = Shaped<typeof RouteFigures>;
export type StressResult = Shaped<typeof StressResult>;

const SATURATED = 0.95;
const CYCLE_MS = 777;

/** @throws Failure as `load` */
export async function stress(options: StressOptions): Promise<StressResult> {
  const { connections = 64, workers = 0, seconds = 3, rounds = 3, signal } = options;
  const plan = planContract(rateLimiter({ threshold: 1_000_000_000 }));
  return connected({ cycleMs: CYCLE_MS, target: undefined }, options, async (connection, node) => {
    const { key } = options;
    const target = (await WeirTarget.prepare(connection, { plan, names: ['all'], key, signal }))!;
    const saturated = { connection, target, node, connections, workers, seconds, rounds, signal };
    const routes: RouteFigures[] = [];
    for (const route of stressedRoutes) {
      if (signal?.aborted === true) break;
      options.onStep?.(`saturating ${route}`);
      const figures = await figuresOf(route, saturated);
      if (figures !== undefined) routes.push(figures);
    }
    const partial = signal?.aborted === true;
    return {
      target: target.description,
      connections,
      workers,
      seconds,
      rounds,
      routes,
      notes: notesOn(routes),
      partial,
    };
  });
}

interface Saturated extends Pick<StressResult, 'connections' | 'workers' | 'seconds' | 'rounds'> {
  readonly connection: Connection;
  readonly target: WeirTarget;
  readonly node: EmbeddedNode | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Round {
  readonly results: readonly autocannon.Result[];
  readonly generator: EventLoopUtilization;
  readonly node: EventLoopUtilization | undefined;
}

async function figuresOf(route: StressedRoute, saturated: Saturated): Promise<RouteFigures | undefined> {
  const { node, rounds, workers, seconds, signal } = saturated;
  const done: Round[] = [];
  const isStopped = () => signal?.aborted === true;
  for (let round = 0; round <= rounds && !isStopped(); round += 1) {
    const seen = await roundOf(route, round === 0 ? 1 : seconds, saturated);
    if (round > 0 && !isStopped()) done.push(seen);
  }
  if (done.length === 0) return undefined;
  const middle = (of: (round: Round) => number) => {
    const values = done.map(of).sort((a, b) => a - b);
    return nearestRank(values, 0.5)!;
  };
  const requestsPerSecond = middle(({ results }) =>
    sumOf(results, ({ requests, duration }) => requests.total / duration),
  );
  const slowest = (of: (result: autocannon.Result) => number) => middle(({ results }) => Math.max(...results.map(of)));
  const all = done.flatMap(({ results }) => results);
  // autocannon's threads have event loops of their own, whose utilization is unknown here.
  const generatorBusy = workers > 0 ? null : middle(({ generator }) => generator.utilization);
  const nodeBusy = node === undefined ? null : middle((round) => round.node?.utilization ?? 0);
  return {
    route,
    requestsPerSecond,
    eventsPerSecond: requestsPerSecond * (route === 'events' ? MOST_EVENTS : 1),
    latencyMsP50: slowest(({ latency }) => latency.p50),
    latencyMsP99: slowest(({ latency }) => latency.p99),
    errors: sumOf(all, ({ errors }) => errors),
    unexpected: sumOf(all, ({ non2xx, statusCodeStats = {} }) => non2xx - (statusCodeStats['429']?.count ?? 0)),
    generatorBusy,
    nodeBusy,
    boundBy: boundBy(generatorBusy, nodeBusy),
  };
}

async function roundOf(route: StressedRoute, seconds: number, saturated: Saturated): Promise<Round> {
  const { connection, node, connections, workers, signal } = saturated;
  const before = performance.eventLoopUtilization();
  const nodeBefore = node?.utilization();
  const options = { duration: seconds, ...(workers > 0 ? { workers } : {}) };
  const runs = saturate(connection, requestOf(route, saturated), connections, options);
  const stop = () => {
    for (const run of runs) run.stop();
  };
  signal?.addEventListener('abort', stop);
  try {
    const results = await Promise.all(runs);
    return {
      results,
      generator: performance.eventLoopUtilization(before),
      node: nodeBefore === undefined ? undefined : node?.utilization(nodeBefore),
    };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function requestOf(route: StressedRoute, { connection, target }: Saturated): PoolRequest {
  const gate = target.request(0);
  const chain = `${connection.endpoint.basePath}/api/chain/${target.made.slug}`;
  switch (route) {
    case 'gate':
      return gate;
    case 'event':
      return posted(gate, `${chain}/event`, EVENT);
    case 'events':
      return posted(gate, `${chain}/events`, `[${Array(MOST_EVENTS).fill(EVENT).join()}]`);
  }
}

const EVENT = '{"type":"request"}';

function posted({ headers }: PoolRequest, path: string, body: string): PoolRequest {
  return { method: 'POST', path, headers: { ...headers, 'content-type': 'application/json' }, body };
}

function boundBy(generatorBusy: number | null, nodeBusy: number | null): RouteFigures['boundBy'] {
  if (nodeBusy !== null && nodeBusy > SATURATED) return 'node';
  if (generatorBusy !== null && generatorBusy > SATURATED) return 'generator';
  return 'not known';
}

function notesOn(routes: readonly RouteFigures[]): string[] {
  return routes
    .filter(({ boundBy }) => boundBy === 'generator')
    .map(({ route }) => `${route}: the generator was saturated and the node was not; the node holds more than this.`);
}

function sumOf(results: readonly autocannon.Result[], of: (result: autocannon.Result) => number): number {
  return results.reduce((sum, result) => sum + of(result), 0);
}
