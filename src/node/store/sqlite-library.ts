// The native library of SQLite: npm installs the version for this Node.
//
//   better-sqlite3 12   Node 20 and 22             fetched for this very Node, or compiled
//                  13   Node-API 10: from 22.14    comes built for every system
//
// The wrong version crashes the process: 13 at once, 12 from Node 24.19 on when a statement is collected.
//
// A lock file names one version for every Node: a clone also has 13 as better-sqlite3-13.
import { createRequire } from 'node:module';
import type Library from 'better-sqlite3';
import { Failure } from '../../core/schema/failure.js';

let library: typeof Library | undefined;

/** Loaded on first use: most of Weir needs no database. @throws Failure `store_failed` */
export function sqlite(): typeof Library {
  library ??= loaded();
  return library;
}

export function isOfSqlite(error: unknown): error is InstanceType<typeof Library.SqliteError> {
  return library !== undefined && error instanceof library.SqliteError;
}

function loaded(): typeof Library {
  const { node, napi } = process.versions as Record<string, string>;
  const fitting = Number(napi) >= 10 ? 13 : 12;
  const require = createRequire(import.meta.url);
  try {
    const name = fitting === 13 && isInstalled('better-sqlite3-13') ? 'better-sqlite3-13' : 'better-sqlite3';
    const { version } = require(`${name}/package.json`) as { version: string };
    const installed = Number.parseInt(version, 10);
    const fits = installed === fitting || (installed === 12 && Number.parseInt(node!, 10) < 24);
    if (!fits) throw new Error(`Version ${version} is installed`);
    const found: typeof Library = require(name);
    // The binary is loaded with the first database.
    new found(':memory:').close();
    return found;
  } catch (error) {
    throw new Failure('store_failed', {
      what: 'The library of SQLite cannot be loaded.',
      why: `Node ${node} needs better-sqlite3 ${fitting}, an optional package: ${(error as Error).message.split('\n', 1)[0]}.`,
      fix: `npm install better-sqlite3@${fitting}; where that does not build it, --foreground-scripts shows why.`,
      cause: error,
    });
  }

  function isInstalled(name: string): boolean {
    try {
      return require.resolve(name) !== undefined;
    } catch {
      return false;
    }
  }
}
