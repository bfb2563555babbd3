// Results of queueing theory, of clients and of public simulators, as this build reproduces them.
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isAll } from '../draws.js';
import { adaptiveClient } from './adaptive-client.js';
import { bucketBound } from './bucket-bound.js';
import { clientThrottle } from './client-throttle.js';
import { closedLoop } from './closed-loop.js';
import { collapse } from './collapse.js';
import { contention } from './contention.js';
import { erlangLoss } from './erlang-loss.js';
import { fixedWindow, worstCase } from './gate-checks.js';
import { leases } from './leases.js';
import { metastableChain } from './metastable-chain.js';
import { oneAnnotation } from './one-annotation.js';
import { outage } from './outage.js';
import { missedRows, type PublishedCheck } from './published-check.js';
import { quotaDrain } from './quota-drain.js';
import { retrialQueue } from './retrial-queue.js';
import { retriesUnderFailures } from './retries-under-failures.js';
import { retryStorm } from './retry-storm.js';
import { singleServer } from './single-server.js';
import { slowDatabase } from './slow-database.js';
import { syncedCounters } from './synced-counters.js';
import { windowEdge } from './window-edge.js';
import { windowedReturns } from './windowed-returns.js';

const checks: readonly PublishedCheck[] = [
  singleServer,
  erlangLoss,
  closedLoop,
  fixedWindow,
  contention,
  retryStorm,
  worstCase,
  windowedReturns,
  retriesUnderFailures,
  quotaDrain,
  clientThrottle,
  outage,
  retrialQueue,
  bucketBound,
  metastableChain,
  collapse,
  slowDatabase,
  leases,
  windowEdge,
  syncedCounters,
  oneAnnotation,
  adaptiveClient,
];

/** Chosen before the first measurement. */
const SEED = 7;
/** That a figure is below another shows in many replications alone. */
const replicationsOf = ({ rows }: PublishedCheck) => (isAll || rows.some(({ holds }) => holds === 'below') ? 100 : 10);

const named = (some: readonly PublishedCheck[]) => some.map((check) => [check.title, check] as const);

it.each(named(checks))('the published result is reproduced: %s', async (_title, check) => {
  const samples: (readonly number[])[] = [];
  const replications = replicationsOf(check);
  for (let replication = 0; replication < replications; replication += 1) {
    samples.push(check.replicate(SEED, replication));
    await nextTurn();
  }
  expect(check.replicate(SEED, 0)).toEqual(samples[0]);
  expect(samples[0]?.length).toBe(check.rows.length);
  expect(missedRows(check, samples)).toEqual([]);
});

const withMechanism = checks.filter(({ mechanism }) => mechanism !== undefined);

it.each(named(withMechanism))('without its mechanism the published result is not reproduced: %s', (_title, check) => {
  const samples = Array.from({ length: 4 }, (_, replication) => check.replicate(5, replication, true));
  expect(missedRows(check, samples)).not.toEqual([]);
});

it('every published result of clients or services names its mechanism', () => {
  const others = checks.filter((check) => !withMechanism.includes(check));
  expect(others).toEqual([singleServer, erlangLoss, closedLoop, fixedWindow, contention, worstCase]);
});

it('every published result with a tolerance of its own gives the reason', () => {
  const silent = checks.filter(({ rows, tolerance }) => rows.some(({ error = 0 }) => error > 1e-6) && !tolerance);
  expect(silent.map(({ title }) => title)).toEqual([]);
});

it('weir help other-tools lists every published result with its source', () => {
  const topic = readFileSync('src/cli/topics/other-tools.md', 'utf8');
  const missing = checks.filter(({ title, source }) => !topic.includes(`| ${title} | ${source} |`));
  expect(missing.map(({ title }) => title)).toEqual([]);
});
