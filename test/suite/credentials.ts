// Owns the promise of a keeper of credentials as one suite: test/node/store/credentials.test.ts runs it over every implementation.
import { beforeEach, describe, expect, it } from 'vitest';
import { Bug } from '../../src/core/schema/failure.js';
import type { Credentials, Key, Session } from '../../src/node/store/credential-store.js';

/** @param open gives an empty keeper */
export function describeCredentials(name: string, open: () => Credentials): void {
  describe(name, () => {
    let credentials: Credentials;
    beforeEach(() => {
      credentials = open();
    });

    it('a new keeper of credentials knows nothing', () => {
      expect([credentials.keyByHash('a'), credentials.sessionByHash('a'), credentials.purgeExpired(1e13)]).toEqual([
        undefined,
        undefined,
        0,
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
      credentials.putSession(session('s', 'a'));
      const replaced = key('a', { hash: 'another', isRevoked: true });
      credentials.putKey(replaced);
      expect([
        credentials.keyByHash('hash-a'),
        credentials.keyByHash('another'),
        credentials.sessionByHash('s'),
      ]).toEqual([undefined, replaced, { session: session('s', 'a'), key: replaced }]);
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

    it('a session is found by its hash, with its key', () => {
      credentials.putKey(key('a'));
      credentials.putKey(key('b'));
      credentials.putSession(session('s', 'a'));
      credentials.putSession(session('t', 'b', 7));
      expect(['s', 't', 'u', 'hash-a'].map((hash) => credentials.sessionByHash(hash))).toEqual([
        { session: session('s', 'a'), key: key('a') },
        { session: session('t', 'b', 7), key: key('b') },
        undefined,
        undefined,
      ]);
    });

    it('a session without a key is refused', () => {
      expect(() => credentials.putSession(session('s', 'a'))).toThrow(Bug);
      expect(credentials.sessionByHash('s')).toBeUndefined();
    });

    it('a session that is deleted, once or twice, is forgotten, and no other', () => {
      credentials.putKey(key('a'));
      for (const hash of ['s', 't']) credentials.putSession(session(hash, 'a'));
      credentials.deleteSession('s');
      credentials.deleteSession('s');
      credentials.deleteSession('never');
      expect([credentials.sessionByHash('s'), credentials.sessionByHash('t')?.session]).toEqual([
        undefined,
        session('t', 'a'),
      ]);
    });

    it.each([
      [99, 0, ['a', 'b', 's', 't', 'u']],
      [100, 1, ['a', 'b', 's', 'u']],
      [199, 1, ['a', 'b', 's', 'u']],
      [200, 3, ['b', 'u']],
      [10_000, 5, []],
    ])('at %i ms, %i keys and sessions have expired', (nowMs, purged, left) => {
      // Key a ends at 200, and session s with it, which would have lasted until 300.
      credentials.putKey(key('a', { expiresAtMs: 200 }));
      credentials.putKey(key('b', { expiresAtMs: 10_000, isRevoked: true }));
      credentials.putSession(session('s', 'a', 300));
      credentials.putSession(session('t', 'b', 100));
      credentials.putSession(session('u', 'b', 10_000));
      expect(credentials.purgeExpired(nowMs)).toBe(purged);
      const found = [
        ...['a', 'b'].filter((id) => credentials.keyByHash(`hash-${id}`) !== undefined),
        ...['s', 't', 'u'].filter((hash) => credentials.sessionByHash(hash) !== undefined),
      ];
      expect(found).toEqual(left);
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

function session(hash: string, keyId: string, expiresAtMs = 1_795_500_000_000): Session {
  return { hash, keyId, expiresAtMs };
}
