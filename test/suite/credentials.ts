// Owns the promise of a keeper of credentials as one suite: test/node/store/credentials.test.ts runs it over every implementation.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Credentials, Key } from '../../src/node/store/credential-store.js';

/** @param open gives an empty keeper */
export function describeCredentials(name: string, open: () => Credentials): void {
  describe(name, () => {
    let credentials: Credentials;
    beforeEach(() => {
      credentials = open();
    });

    it('a new keeper of credentials knows nothing', () => {
      expect([credentials.keyByHash('a'), credentials.keyById('a'), credentials.purgeExpired(1e13)]).toEqual([
        undefined,
        undefined,
        [],
      ]);
    });

    it('a key is found by its hash, and by nothing else', () => {
      credentials.putKey(key('a'));
      credentials.putKey(key('b', { owner: 'other', isRevoked: true }));
      expect(['hash-a', 'hash-b', 'a', 'HASH-A', 'hash-', ''].map((hash) => credentials.keyByHash(hash))).toEqual([
        key('a'),
        key('b', { owner: 'other', isRevoked: true }),
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    });

    it('a key replaces that of the same id, its hash too', () => {
      credentials.putKey(key('a'));
      const replaced = key('a', { hash: 'another', isRevoked: true });
      credentials.putKey(replaced);
      expect([credentials.keyByHash('hash-a'), credentials.keyByHash('another')]).toEqual([undefined, replaced]);
    });

    it('a key is found by its id, with its scopes and its machine', () => {
      const narrow = key('b', { scopes: ['event', 'gate'], machine: 'edge' });
      credentials.putKey(key('a'));
      credentials.putKey(narrow);
      expect(['a', 'b', 'hash-a', 'c'].map((id) => credentials.keyById(id))).toEqual([
        key('a'),
        narrow,
        undefined,
        undefined,
      ]);
    });

    it('a keeper of credentials knows whether an owner has a key that holds', () => {
      credentials.putKey(key('a', { owner: 'one', expiresAtMs: 100 }));
      credentials.putKey(key('b', { owner: 'two', expiresAtMs: 100, isRevoked: true }));
      credentials.putKey(key('c', { owner: 'three', expiresAtMs: 100 }));
      credentials.putKey(key('d', { owner: 'three', expiresAtMs: 200 }));
      const ask = (nowMs: number) =>
        ['one', 'two', 'three', 'none'].map((owner) => credentials.hasValidKey(owner, nowMs));
      const seen = [ask(99), ask(100), ask(200)];
      credentials.purgeExpired(150);
      seen.push(ask(150));
      expect(seen).toEqual([
        [true, false, true, false],
        [false, false, true, false],
        [false, false, false, false],
        [false, false, true, false],
      ]);
    });

    it('the keys of an owner are listed by id, in pages, and are counted', () => {
      const ids = ['d', 'a', 'c', 'b'];
      for (const id of ids) credentials.putKey(key(id, { isRevoked: id === 'b' }));
      credentials.putKey(key('bb', { owner: 'other' }));
      const page = (after: string, limit: number) => credentials.keysOf('owner-1', after, limit).map(({ id }) => id);
      expect([page('', 2), page('b', 2), page('d', 2), page('', 9)]).toEqual([
        ['a', 'b'],
        ['c', 'd'],
        [],
        ['a', 'b', 'c', 'd'],
      ]);
      expect(['owner-1', 'other', 'nobody'].map((owner) => credentials.countKeys(owner))).toEqual([4, 1, 0]);
    });

    it('a session is the key of a key, and none of an owner', () => {
      credentials.putKey(key('a'));
      credentials.putKey(key('s', { owner: 'a', scopes: [] }));
      expect([credentials.keyByHash('hash-s')?.owner, credentials.countKeys('owner-1')]).toEqual(['a', 1]);
    });

    it.each([
      [99, [], ['a', 'b', 'c']],
      [100, ['c'], ['a', 'b']],
      [199, ['c'], ['a', 'b']],
      [200, ['a', 'c'], ['b']],
      [10_000, ['a', 'b', 'c'], []],
    ])('the keys that have expired at %i ms are %j', (nowMs, purged, left) => {
      credentials.putKey(key('a', { expiresAtMs: 200 }));
      credentials.putKey(key('b', { expiresAtMs: 10_000, isRevoked: true }));
      credentials.putKey(key('c', { expiresAtMs: 100 }));
      expect([...credentials.purgeExpired(nowMs)].sort()).toEqual(purged);
      expect(['a', 'b', 'c'].filter((id) => credentials.keyByHash(`hash-${id}`) !== undefined)).toEqual(left);
    });
  });
}

function key(id: string, fields: Partial<Key> = {}): Key {
  return {
    id,
    hash: `hash-${id}`,
    owner: 'owner-1',
    scopes: ['admin'],
    machine: undefined,
    createdAtMs: 1_795_000_000_000,
    expiresAtMs: 1_796_000_000_000,
    isRevoked: false,
    ...fields,
  };
}
