// Limiters drawn at random, in virtual time, behind latency and jitter. WEIR_CASES=500 looks at as many, and prints the table.
import { expect, it } from 'vitest';
import { confusionTable, identified } from './confusion.js';

const CASES = Number(process.env['WEIR_CASES'] ?? 8);
const FIRST = Number(process.env['WEIR_FIRST'] ?? 1);

it('gives no limiter the name of another', { timeout: 1_200_000 }, () => {
  const cases = Array.from({ length: CASES }, (_, k) => identified(FIRST + k));
  if (process.env['WEIR_CASES'] !== undefined) process.stdout.write(`${confusionTable(cases)}\n`);
  expect(cases.filter(({ isWrong }) => isWrong).map(({ seed }) => seed)).toEqual([]);
});
