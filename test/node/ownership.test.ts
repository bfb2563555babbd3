import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../src/core/time/virtual.js';
import { Host } from '../../src/node/host/host.js';
import { Ownership } from '../../src/node/ownership.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import { forAll } from '../draws.js';

it('looking at a few machines at a time shows every public one once, by slug, those that came later too', () => {
  const machines = fc.uniqueArray(
    fc.record({ slug: fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/), isPublic: fc.boolean() }),
    { selector: ({ slug }) => slug, maxLength: 30 },
  );
  forAll([machines, fc.nat(30), fc.integer({ min: 1, max: 7 })], (made, first, looks) => {
    const host = new Host({ clock: new VirtualClock(1_000, 1), store: new MemoryStore() });
    const make = (some: typeof made) => {
      for (const machine of some) host.createMachine({ ...machine, owner: 'other' });
    };
    make(made.slice(0, first));
    const ownership = new Ownership(host, { full: () => undefined });
    make(made.slice(first));
    const shown: string[] = [];
    for (let from: string | undefined = ''; from !== undefined; ) {
      const { seen, last } = ownership.scan(undefined, from, looks);
      shown.push(...seen.map(({ slug }) => slug));
      from = last;
    }
    const expected = made.flatMap(({ slug, isPublic }) => (isPublic ? [slug] : []));
    expect(shown).toEqual(expected.sort());
  });
});
