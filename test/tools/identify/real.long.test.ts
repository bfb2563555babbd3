// Real limiters: none is given the name of another. nginx, HAProxy, Redis and Varnish are skipped where they are not installed.
// By hand: WEIR_TIMES=5 asks each five times, WEIR_BUSY=1 does so beside a busy loop on each core. Both print what was found.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { afterAll, expect, it } from 'vitest';
import { type Answer, answerOf } from '../../../src/tools/identify/answer.js';
import { ask } from '../../../src/tools/identify/ask-target.js';
import { investigate } from '../../../src/tools/identify/investigation.js';
import { type Real, reals } from './real.js';

const TIMES = Number(process.env['WEIR_TIMES'] ?? 1);
const options = { budget: 500, timeMs: 120_000, hasKeys: false, resolution: 0.01 };
const rows = new Map<string, Found[]>();
const loops =
  process.env['WEIR_BUSY'] === undefined
    ? []
    : Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));

interface Found {
  readonly isRight: boolean;
  /** One rule or several are named, and not the one that it is. */
  readonly isWrong: boolean;
  readonly names: readonly string[];
  readonly answer: Answer;
}

async function found({ start, status, is: [structure, limit, spanMs] }: Real): Promise<Found> {
  const running = await start();
  try {
    const answer = answerOf(
      await ask(new URL(running.url).href, investigate(options), { limitedStatus: status, headers: running.headers }),
      options.resolution,
    );
    const [rule] = answer.rules;
    const span = rule?.parameters['window_ms'] ?? rule?.parameters['token_ms'];
    const isRight =
      answer.verdict === 'identified' &&
      rule!.structure === structure &&
      rule!.parameters['limit']!.value === limit &&
      Math.abs(span!.value - spanMs) <= 0.02 * spanMs;
    const names = answer.rules.map((one) => one.structure);
    return { isRight, isWrong: names.length > 0 && !names.includes(structure), names, answer };
  } finally {
    await running.close();
  }
}

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

afterAll(() => {
  for (const loop of loops) loop.kill();
  for (const [name, all] of rows) {
    const count = (is: (one: Found) => boolean) => all.filter(is).length;
    const [right, wrong] = [count((one) => one.isRight), count((one) => one.isWrong)];
    const others = all.filter(({ isRight }) => !isRight).map((one) => one.names.join('+') || one.answer.verdict);
    process.stdout.write(
      `${name}: right ${right} of ${all.length}, wrong ${wrong}; medians ${middle(all.map(({ answer }) => answer.requests))} requests, ${middle(all.map(({ answer }) => answer.seconds))} s; else ${others.join(', ') || 'none'}\n`,
    );
  }
});

it
  .skipIf(process.env['WEIR_TIMES'] === undefined)
  .each(Array.from({ length: TIMES }, () => reals.map((real) => [real.name, real] as const)).flat())(
  '%s',
  async (name, real) => {
    const one = await found(real);
    rows.set(name, [...(rows.get(name) ?? []), one]);
    const { requests, seconds } = one.answer;
    const words = one.isRight ? 'right' : one.names.join('+') || one.answer.verdict;
    process.stdout.write(`${name}: ${words}; ${requests} requests, ${seconds} s\n`);
    // A machine that is too busy leaves several, or none.
    expect(one.isWrong, one.names.join(', ')).toBe(false);
  },
  1_200_000,
);
