// Which number a key has, and its name: held to a Map, over names that resemble each other.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeyTable } from '../../../src/node/host/key-table.js';

const SPAN = 10;
const OWN_FLAGS = 0xff_ffff;

const letter = fc.constantFrom('a', 'b', '\0', '\u00ff', '\u0100', '\u{1f511}');
const name = fc.oneof(
  fc.array(letter, { maxLength: 12 }).map((letters) => letters.join('')),
  fc.nat({ max: 200 }).map((n) => `client-${n}`),
  // As long as fits into a row, and longer.
  fc.tuple(fc.constantFrom(29, 30, 31, 32, 40), fc.nat({ max: 20 })).map(([length, n]) => `${n}`.padEnd(length, 'x')),
);

it('finds the keys that were taken and not dropped, by their names, with the flags of their owner', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('take', 'take', 'drop'), name), { maxLength: 2_000, size: 'max' });
  fc.assert(
    fc.property(steps, (all) => {
      const table = new KeyTable(SPAN, 0, 4_000, 1);
      const known = new Map<string, number>();
      for (const [what, name] of all) {
        const key = known.get(name);
        expect(table.find(name)).toBe(key ?? 0);
        if (what === 'take' && key === undefined) {
          const made = table.take(name, 0);
          known.set(name, made);
          table.setFlags(made, OWN_FLAGS - made);
        }
        if (what === 'drop' && key !== undefined) {
          table.drop(key, 0);
          known.delete(name);
          expect([table.has(key), table.find(name)]).toEqual([false, 0]);
        }
      }
      expect(table.size).toBe(known.size);
      expect(new Set(known.values()).size).toBe(known.size);
      for (const [name, key] of known) {
        expect([table.find(name), table.nameOf(key), table.has(key)]).toEqual([key, name, true]);
        expect(table.flags(key)).toBe(OWN_FLAGS - key);
      }
    }),
    { numRuns: 30 },
  );
});
