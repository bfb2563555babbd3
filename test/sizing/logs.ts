// Logs for the tests of limits: files that are gone after the tests of a file, advice on them, and replays beside it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import { replay } from '../../src/simulate/replay.js';
import { adviceOfLogs } from '../../src/sizing/recommend.js';
import type { LadderPlan } from '../../src/sizing/rule-ladder.js';
import { CYCLE_MS } from '../../src/time/cycle.js';
import type { LogOptions } from '../../src/traffic/log/log-options.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-'));
afterAll(() => rmSync(folder, { recursive: true }));
export const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

export const adviceOn = async (
  path: string,
  withins: readonly number[],
  thresholds: readonly number[],
  log: LogOptions = {},
  rules: readonly LadderPlan[] = [],
) => (await adviceOfLogs([path], { cycleMs: CYCLE_MS, withins, shares: [0.01, 0.001], thresholds, log, rules })).advice;

export const replayOf = async (path: string, threshold: number, within: number, log: LogOptions = {}) =>
  (
    await replay([path], {
      name: 'log',
      cycleMs: CYCLE_MS,
      plan: planContract(rateLimiter({ threshold, within })),
      log,
    })
  ).outcome;
