// A store of one test, on a folder of its own unless it is told where.
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../../src/node/store/sqlite.js';
import { afterTest, temporaryFolder } from '../../left-behind.js';

export function openStore(options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  const store = openSqliteStore({ dir: temporaryFolder(), lockWaitMs: 0, ...options });
  afterTest(() => store.close());
  return store;
}
