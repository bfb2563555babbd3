// Logs for the tests of limits: files that are gone after the tests of a file, advice on them, and replays beside it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { planContract } from '../../src/limiter/validate.js';
import { replay } from '../../src/simulate/replay.js';
import { adviceOfLogs } from '../../src/sizing/recommend.js';
import type { LadderPlan } from '../../src/sizing/rule-ladder.js';
import { CYCLE_MS } from '../../src/time/cycle.js';
import type { LogOptions } from '../../src/traffic/log/log-options.js';
import { temporaryFolder } from '../left-behind.js';

export const file = (name: string, content: string) => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
};

export const adviceOn = async (
  path: string,
  windowCycles: readonly number[],
  log: LogOptions = {},
  rules: readonly LadderPlan[] = [],
) => (await adviceOfLogs([path], { cycleMs: CYCLE_MS, windowCycles, shares: [0.01, 0.001], log, rules })).advice;

export const replayOf = async (path: string, threshold: number, within: number, log: LogOptions = {}) =>
  (
    await replay([path], {
      name: 'log',
      cycleMs: CYCLE_MS,
      plan: planContract(rateLimiter({ threshold, within })),
      log,
    })
  ).outcome;
