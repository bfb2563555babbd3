// Products whose decisions were not recorded: what their documents and sources say, as cases.
import { expect, it } from 'vitest';
import { gateways } from '../../../../src/core/limiter/products/gateways.js';
import { definitionOf } from '../../../../src/core/limiter/products/products.js';
import { play } from '../../../../src/core/limiter/products/profile.js';
import { LIMITED } from '../../../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../../../src/core/limiter/rule/rule-definition.js';
import { tablesBeside } from '../../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

/** One sign a request: + admitted, - refused. Times in ms after a full second. */
const cases: readonly (readonly [given: Record<string, unknown>, times: readonly number[], decided: string])[] =
  tables.decided;

it.each(cases)('%j at %j ms', (given, times, decided) => {
  const delays = play(ruleOf(definitionOf(given, 777)), times);
  expect(delays.map((delay) => (delay === LIMITED ? '-' : '+')).join('')).toBe(decided);
});

it('every product of the table has a case', () => {
  expect([...new Set(cases.map(([{ like }]) => like))]).toEqual(Object.keys(gateways));
});
