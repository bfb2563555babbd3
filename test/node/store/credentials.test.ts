import { expect, it } from 'vitest';
import { Failure } from '../../../src/core/schema/failure.js';
import { type Key, MemoryCredentials } from '../../../src/node/store/credential-store.js';
import { temporaryFolder } from '../../left-behind.js';
import { describeCredentials } from '../../suite/credentials.js';
import { openStore } from './opened.js';

const KEY: Key = {
  id: 'k',
  hash: 'ab'.repeat(32),
  owner: 'o',
  scopes: ['read', 'gate'],
  machine: 'edge',
  createdAtMs: 1,
  expiresAtMs: 2,
  isRevoked: false,
};

describeCredentials('credentials in memory', () => new MemoryCredentials());
describeCredentials('credentials on disk', () => openStore().credentials);

it('credentials on disk outlive the process, once the store has committed', () => {
  const dir = temporaryFolder();
  const store = openStore({ dir });
  store.credentials.putKey(KEY);
  store.close();
  const { credentials } = openStore({ dir });
  expect(credentials.keyByHash(KEY.hash)).toEqual(KEY);
});

it('credentials are durable with the other writes of a commit, or not at all', () => {
  const store = openStore({ failCommits: () => true });
  const told: (Failure | undefined)[] = [];
  store.credentials.putKey(KEY);
  store.commit((failure) => told.push(failure));
  expect([told[0]?.code, store.credentials.keyByHash(KEY.hash)]).toEqual(['store_failed', undefined]);
  expect(() => store.credentials.putKey(KEY)).toThrow(Failure);
});
