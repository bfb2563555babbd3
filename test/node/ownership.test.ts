import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Host } from '../../src/host/host.js';
import type { Machine } from '../../src/host/machine.js';
import { Ownership } from '../../src/node/ownership.js';

it('looking at a few machines at a time shows every public one once, by slug, those that came later too', () => {
  const machines = fc.uniqueArray(
    fc.record({ slug: fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/), isPublic: fc.boolean() }),
    { selector: ({ slug }) => slug, maxLength: 30 },
  );
  fc.assert(
    fc.property(machines, fc.nat(30), fc.integer({ min: 1, max: 7 }), (made, first, looks) => {
      const all = made.map(
        ({ slug, isPublic }) => ({ slug, image: { owner: 'other', isPublic }, contracts: [] }) as unknown as Machine,
      );
      const host = { machines: new Map(all.slice(0, first).map((machine) => [machine.slug, machine])) };
      const ownership = new Ownership(host as unknown as Host);
      for (const machine of all.slice(first)) {
        host.machines.set(machine.slug, machine);
        ownership.add(machine);
      }
      const shown: string[] = [];
      for (let from: string | undefined = ''; from !== undefined; ) {
        const { seen, last } = ownership.look(undefined, from, looks);
        shown.push(...seen.map(({ slug }) => slug));
        from = last;
      }
      const expected = made.flatMap(({ slug, isPublic }) => (isPublic ? [slug] : []));
      expect(shown).toEqual(expected.sort());
    }),
  );
});
