// Whatever a file holds, it is read without a failure, and what is said has a line of it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitChanges } from '../../../src/tools/gateway/limit-changes.js';
import { fittingLimits } from '../../../src/tools/gateway/limit-rule.js';
import { limitersIn } from '../../../src/tools/gateway/limits-in.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

const names: readonly string[] = tables.names;
const pieces: readonly string[] = tables.pieces;
const text = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })), { maxLength: 30 })
  .chain((words) =>
    fc
      .array(fc.constantFrom('\n', ' ', '\n  '), { minLength: words.length, maxLength: words.length })
      .map((gaps) => words.map((word, i) => word + gaps[i]).join('')),
  );

it('any text of any name', () => {
  fc.assert(
    fc.property(text, fc.constantFrom(...names), (given, name) => {
      const found = fittingLimits(limitersIn(given, name));
      const lines = given.split('\n').length;
      for (const { line } of [...found.limiters, ...found.notApplied, ...found.notUnderstood]) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(lines);
      }
      found.appliesTo({ host: 'a.example', path: '/a/b.css' });
      expect(limitChanges(found, found)).toEqual([]);
    }),
    { numRuns: 600 },
  );
});

it('depth and breadth have bounds', () => {
  const deep = `${'['.repeat(50_000)}`;
  for (const name of names) limitersIn(deep, name);
  limitersIn(`a = ${deep}`, 'main.tf');
  limitersIn('server {'.repeat(20_000), 'nginx.conf');
  limitersIn('rate_limit {\n'.repeat(20_000), 'Caddyfile');
  const anchors = ['a', ...Array.from({ length: 40 }, (_, i) => `b${i}`)];
  const twice = anchors.slice(1).map((name, i) => `${name}: &${name} [*${anchors[i]}, *${anchors[i]}]`);
  limitersIn(['a: &a [x]', ...twice].join('\n'), 'kong.yml');
});
