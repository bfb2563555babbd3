// Logs for the tests of limits: files that are gone after the tests of a file, advice on them, and replays beside it.
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { CYCLE_MS } from '../../../src/core/time/cycle.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import type { LogOptions } from '../../../src/harness/traffic/log/log-options.js';
import { adviceOfLogs } from '../../../src/tools/recommend/recommend.js';
import type { LadderPlan } from '../../../src/tools/recommend/rule-ladder.js';
import { temporaryFiles } from '../../left-behind.js';

export const file = (name: string, content: string) => temporaryFiles().file(name, content);

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
