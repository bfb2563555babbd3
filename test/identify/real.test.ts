// Real limiters: none is given the name of another. nginx, HAProxy, Redis and Varnish are skipped where they are not installed.
// By hand, on a machine with nothing else to do: WEIR_TIMES=5 asks each five times, and prints what was found.
import { afterAll, expect, it } from 'vitest';
import { answerOf } from '../../src/identify/answer.js';
import { ask } from '../../src/identify/ask-target.js';
import { investigate } from '../../src/identify/investigation.js';
import { type Real, reals } from './real.js';

const TIMES = Number(process.env['WEIR_TIMES'] ?? 1);
const options = { budget: 500, timeMs: 120_000, hasKeys: false, resolution: 0.01 };
const rows: string[] = [];

async function found({ start, status, is: [structure, limit, spanMs] }: Real) {
  const running = await start();
  try {
    const answer = answerOf(
      await ask(new URL(running.url).href, investigate(options), { limitedStatus: status, headers: running.headers }),
      options.resolution,
    );
    const [rule] = answer.rules;
    const span = rule?.parameters['window_ms'] ?? rule?.parameters['token_ms'];
    const isRight =
      answer.verdict === 'one rule' &&
      rule!.structure === structure &&
      rule!.parameters['limit']!.value === limit &&
      Math.abs(span!.value - spanMs) <= 0.02 * spanMs;
    const names = answer.rules.map((one) => one.structure);
    return { isRight, isWrong: names.length > 0 && !names.includes(structure), names, answer };
  } finally {
    await running.close();
  }
}

afterAll(() => {
  if (rows.length > 0) process.stdout.write(`${rows.join('\n')}\n`);
});

it
  .skipIf(process.env['WEIR_TIMES'] === undefined)
  .each(reals.flatMap((real) => Array.from({ length: TIMES }, () => [real.name, real] as const)))(
  '%s',
  async (_, real) => {
    const { isRight, isWrong, names, answer } = await found(real);
    rows.push(`${real.name}: ${isRight ? 'right' : answer.verdict} ${names.join(', ')}; ${answer.requests} requests`);
    // A machine that is too busy leaves several, or none.
    expect(isWrong, names.join(', ')).toBe(false);
  },
);
