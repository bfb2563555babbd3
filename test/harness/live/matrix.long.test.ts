// Cells of the matrix against a node: every answer to the clients of `load` is what the model decides, and all jobs of the seed end.
import { expect, it } from 'vitest';
import { cellsOf, valueName } from '../../../src/harness/scenario/grid.js';
import { parseScenario, type ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { matrixAxes, matrixScenario } from '../../../src/tools/sweep/matrix.js';
import { few } from '../../draws.js';
import { startRunning } from '../../node/running.js';
import { run, steady, told } from './asking.js';

const CYCLE_MS = 500;

/** The burst, sooner over than in the matrix: 30 requests after a second. */
const sooner = {
  cycle_ms: CYCLE_MS,
  duration: '4s',
  drain: '8s',
  arrivals: [
    { model: 'poisson', rate: '5/s' },
    { model: 'spikes', from: '1s', to: '1.5s', requests: 30 },
  ],
};

const limiters = ['nginx', 'envoy-local', 'redis-cell', 'sliding_log', 'gcra'];
const libraries = ['aws-sdk-2026', 'got', 'openai', 'superagent'];

/** All pairs; each of both is among the first of them. */
const diagonals = limiters
  .flatMap((limiter, i) => libraries.map((client, k) => ({ limiter, client, turn: (i + k) % 2 })))
  .sort((a, b) => a.turn - b.turn)
  .map(({ limiter, client }) => [limiter, client] as const);

const node = await startRunning({ cycleMs: CYCLE_MS });

const axes = matrixAxes([]);
const cells = cellsOf(axes);

async function check(limiter: string, client: string): Promise<void> {
  const named = `burst,${limiter},${client}`;
  const { set } = cells.find((cell) => axes.map((axis) => valueName(axis, cell.set)).join() === named)!;
  const one = parseScenario(
    { ...(matrixScenario as object), ...set, ...sooner } as unknown as ScenarioObject,
    'cell.yaml',
  );
  const { outcome } = await simulate(one);
  const result = await steady(() => run(one, { url: node.url, key: node.keyOf(`${limiter}-${client}`) }));
  const { comparison, live } = told(result);
  expect([named, comparison.verdict, comparison.differences]).toEqual([named, 'agrees', []]);
  expect([named, comparison.compared_decisions]).toEqual([named, live.sent]);
  const [expected, found] = [outcome.clients![0]!, result.observed.outcome.clients![0]!];
  // Jobs are those of the seed. How often each is tried depends on milliseconds where a pause is as long as a window.
  expect([named, found.jobs, found.succeeded + found.given_up]).toEqual([named, expected.jobs, expected.jobs]);
  expect([named, found.attempts > found.jobs]).toEqual([named, expected.attempts > expected.jobs]);
}

// They wait most of the time.
it.concurrent.each(few(diagonals, 10))('a cell of the matrix agrees with the model at a live node: %s by %s', check);
