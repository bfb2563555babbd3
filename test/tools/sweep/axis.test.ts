import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/core/schema/failure.js';
import { parseAxis } from '../../../src/harness/scenario/grid.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

describe('an axis', () => {
  it.each<[text: string, values: unknown[] | undefined]>([
    ...tables.values,
    ['a.0.b=50..60', undefined],
    ['a=1..10:log', undefined],
  ])('%s', (text, values) => {
    const axis = parseAxis(text);
    expect([axis.path, axis.values]).toEqual([text.split('=')[0], values]);
  });

  it.each<[text: string, share: number, value: number | string]>(tables.shares)(
    '%s at %d is %s',
    (text, share, value) => {
      expect(parseAxis(text).at(share)).toEqual(value);
    },
  );

  it.each<[text: string, why: string]>(tables.refused)('refuses %j: %s', (text, why) => {
    expect(() => parseAxis(text)).toThrow(Failure);
    expect(() => parseAxis(text)).toThrow(expect.objectContaining({ why: expect.stringContaining(why) }));
  });
});
