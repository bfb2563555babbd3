// What is counted of the answers of a load, and how it is printed.
import { expect, it } from 'vitest';
import { AnswerTally } from '../../../src/harness/live/answer-tally.js';
import type { Outcome } from '../../../src/harness/outcome/outcome-schema.js';
import { answerBlocks } from '../../../src/report/answer-blocks.js';
import { blocksText, plainTerminal } from '../../../src/report/terminal-blocks.js';

const answer = (status: number, fields = {}, bytes = 5) => ({ status, fields, body: 'hello', bytes });

/** One each 100 ms; each answered after so many ms. */
function tallied(statuses: readonly number[], tookMs: (index: number) => number = () => 1.5): AnswerTally {
  const tally = new AnswerTally();
  statuses.forEach((status, index) => {
    const fields = status === 429 ? { 'retry-after': '2', 'ratelimit-policy': '"a";q=3;w=60' } : {};
    tally.answered(answer(status, fields), status === 429, 1000 + 100 * index, 1000 + 100 * index + tookMs(index));
  });
  return tally;
}

it('a tally counts statuses, bytes, errors by kind, and latency in steps of 1, 2 and 5', () => {
  const tally = tallied([200, 200, 404, 500], (index) => [0.05, 1, 1.01, 700][index]!);
  tally.broke('closed');
  tally.broke('timed_out');
  tally.broke('closed');
  expect(tally.figures()).toEqual({
    seconds: 1,
    statuses: { 200: 2, 404: 1, 500: 1 },
    errors: { closed: 2, timed_out: 1 },
    bytes: 20,
    histogram: [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((up_to_ms) => ({
      up_to_ms,
      n: [0.1, 1, 2, 1000].includes(up_to_ms) ? 1 : 0,
    })),
    limit: null,
  });
});

it('a tally says where the limit came first, what it announces, and what passes while it limits', () => {
  const statuses = [200, 200, 200, 429, ...Array.from({ length: 20 }, (_, k) => (k % 5 === 0 ? 200 : 429)), 200, 200];
  expect(tallied(statuses).figures().limit).toEqual({
    status: 429,
    after_answers: 4,
    after_seconds: 0.3015,
    announced_limit: 3,
    announced_window_s: 60,
    retry_after_s: 2,
    limited_seconds: 2,
    admitted_per_second: 2,
  });
});

it('a tally names no rate for less than a second of limiting, and nothing that is not announced', () => {
  const tally = new AnswerTally();
  tally.answered(answer(429), true, 0, 1);
  const none = { admitted_per_second: null, announced_limit: null, retry_after_s: null };
  expect(tally.figures().limit).toMatchObject(none);
});

it('a tally without an answer is empty', () => {
  expect(new AnswerTally().figures()).toEqual({
    seconds: 0,
    statuses: {},
    errors: {},
    bytes: 0,
    histogram: [],
    limit: null,
  });
});

it('a tally is printed as a table, a line of quantiles, a histogram and the limit', async () => {
  const statuses = [
    ...Array.from({ length: 30 }, () => 200),
    ...Array.from({ length: 30 }, (_, k) => (k % 6 === 5 ? 200 : 429)),
  ];
  const tally = tallied(statuses, (index) => [0.4, 1.5, 1.7, 4, 30][index % 5]!);
  tally.broke('timed_out');
  const quantiles = { n: 60, mean: 7.5, p50: 1.7, p90: 30, p99: 30, p999: 30, max: 1234.5, taken: '' };
  const live = { sent: 61, latency_ms: quantiles, answers: tally.figures() };
  const blocks = answerBlocks({ live } as unknown as Outcome);
  await expect(`${blocksText(blocks, plainTerminal)}\n`).toMatchFileSnapshot('golden/answers.txt');
});
