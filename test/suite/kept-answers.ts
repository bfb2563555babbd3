// Owns the promise of a store of kept answers as one suite: test/node/store/kept-answers.test.ts runs it over every implementation.
import { beforeEach, describe, expect, it } from 'vitest';
import type { KeptAnswer, KeptAnswers } from '../../src/node/store/store.js';

const kept = (key: string, more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  ...{ machine: 'edge', key, request: `request of ${key}`, untilCycle: 10, answer: '{"ok":true}' },
  ...more,
});

/** @param open gives an empty store */
export function describeKeptAnswers(name: string, open: () => KeptAnswers): void {
  describe(name, () => {
    let answers: KeptAnswers;
    beforeEach(() => {
      answers = open();
    });

    it('a kept answer is found by machine and key, and by nothing else', () => {
      answers.put(kept('a'));
      answers.put(kept('a', { machine: 'other', answer: '{"ok":false}' }));
      const found = [
        answers.find('edge', 'a'),
        answers.find('other', 'a'),
        answers.find('edge', 'b'),
        answers.find('e', 'a'),
      ];
      expect(found).toEqual([kept('a'), kept('a', { machine: 'other', answer: '{"ok":false}' }), undefined, undefined]);
    });

    it('a kept answer is replaced, with its cycle', () => {
      answers.put(kept('a'));
      answers.put(kept('a', { untilCycle: 30, request: 'another' }));
      expect([answers.purge(20, 10), answers.find('edge', 'a')]).toEqual([
        [],
        kept('a', { untilCycle: 30, request: 'another' }),
      ]);
    });

    it('kept answers whose cycle has come are forgotten, the oldest first, up to so many', () => {
      answers.put(kept('a', { untilCycle: 12 }));
      answers.put(kept('b', { untilCycle: 11, machine: 'other', answer: '{}' }));
      answers.put(kept('c', { untilCycle: 13 }));
      expect(answers.purge(10, 5)).toEqual([]);
      expect(answers.purge(12, 1)).toEqual([{ machine: 'other', length: 2 }]);
      expect(answers.purge(12, 5)).toEqual([{ machine: 'edge', length: 11 }]);
      expect(['a', 'c'].map((key) => answers.find('edge', key)?.key)).toEqual([undefined, 'c']);
    });

    it('kept answers of a machine are removed, up to so many', () => {
      for (const name of ['a', 'b', 'c']) answers.put(kept(name));
      answers.put(kept('a', { machine: 'other' }));
      expect([answers.remove('edge', 2), answers.remove('edge', 2), answers.remove('edge', 2)]).toEqual([2, 1, 0]);
      expect([answers.find('edge', 'c'), answers.find('other', 'a')?.key]).toEqual([undefined, 'a']);
      expect(answers.purge(20, 10).map(({ machine }) => machine)).toEqual(['other']);
    });

    it('kept answers are counted, and their length, for each machine', () => {
      expect([...answers.sizes()]).toEqual([]);
      answers.put(kept('a'));
      answers.put(kept('b'));
      answers.put(kept('a', { machine: 'other', answer: '' }));
      expect([...answers.sizes()].sort((a, b) => (a.machine < b.machine ? -1 : 1))).toEqual([
        { machine: 'edge', count: 2, length: 22 },
        { machine: 'other', count: 1, length: 0 },
      ]);
    });
  });
}
