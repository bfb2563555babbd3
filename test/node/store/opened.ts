// Stores of one test file, on folders of their own unless they are told where: they are closed behind each test.
import { afterEach } from 'vitest';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../../src/node/store/sqlite.js';
import { temporaryFolder } from '../../left-behind.js';

export function storesOfFile(): (options?: Partial<SqliteStoreOptions>) => SqliteStore {
  const open: SqliteStore[] = [];
  afterEach(() => {
    for (const store of open.splice(0)) store.close();
  });
  return (options = {}) => {
    const store = openSqliteStore({ dir: temporaryFolder(), lockWaitMs: 0, ...options });
    open.push(store);
    return store;
  };
}
