// Real limiters: none is given the name of another. nginx, HAProxy, Redis and Varnish are skipped where they are not installed.
// By hand: WEIR_TIMES=5 asks each five times, WEIR_BUSY=1 does so beside a busy loop on each core.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { type Answer, answerOf } from '../../../src/tools/identify/answer.js';
import { ask } from '../../../src/tools/identify/ask-target.js';
import { investigate } from '../../../src/tools/identify/investigation.js';
import { type Real, reals } from './real.js';

const TIMES = Number(process.env['WEIR_TIMES'] ?? 1);
const options = { budget: 500, timeMs: 120_000, hasKeys: false };
const loops =
  process.env['WEIR_BUSY'] === undefined
    ? []
    : Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));

async function answerOfReal({ start, status }: Real): Promise<Answer> {
  const running = await start();
  try {
    const settings = { limitedStatus: status, headers: running.headers };
    return answerOf(await ask(new URL(running.url).href, investigate(options), settings));
  } finally {
    await running.close();
  }
}

function isRight([, limit, spanMs]: Real['is'], [rule]: Answer['rules']): boolean {
  const { limit: found, window_ms, token_ms } = rule!.parameters;
  return found!.value === limit && Math.abs((window_ms ?? token_ms)!.value - spanMs) <= 0.02 * spanMs;
}

afterAll(() => {
  for (const loop of loops) loop.kill();
});

it
  .skipIf(process.env['WEIR_TIMES'] === undefined)
  .for(Array.from({ length: TIMES }, () => reals.map((real) => [real.name, real] as const)).flat())(
  'a real limiter gets no name of another: %s',
  { timeout: 1_200_000 },
  async ([name, real], { task }) => {
    const { rules, verdict, requests, seconds } = await answerOfReal(real);
    const [structure] = real.is;
    const names = rules.map((rule) => rule.structure);
    const isNamed = verdict === 'identified' && names[0] === structure;
    const found = isNamed && isRight(real.is, rules) ? 'right' : names.join(' or ') || verdict;
    task.meta.rows = [{ limiter: name, found, requests, seconds }];
    // A machine that is too busy leaves several, or none.
    expect(names.length === 0 || names.includes(structure), names.join(', ')).toBe(true);
  },
);
