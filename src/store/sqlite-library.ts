// The library of SQLite, in the version that this Node can run.
//
//   Node-API    9   Node 20, and 22 before 22.14   better-sqlite3 12, built for this very Node
//              10   Node 22.14 and later           better-sqlite3 13, built beforehand; 12 aborts the process from Node 24.19 on, when a statement is collected
import { createRequire } from 'node:module';
import type Library from 'better-sqlite3';
import { Failure } from '../schema/failure.js';

/** The first version of Node-API that better-sqlite3 13 can be loaded with: with an earlier one it ends the process. */
const NODE_API = 10;

/** The first Node that better-sqlite3 12 does not run on. */
const FIRST_WITHOUT_12 = 24;

let library: typeof Library | undefined;

/**
 * The library; both versions have the same interface. Loaded when it is first asked for: most of what Weir does needs no database.
 * @throws Failure `store_failed`
 */
export function sqlite(): typeof Library {
  library ??= loaded();
  return library;
}

/** Whether SQLite made this error; without the library it made none. */
export function isOfSqlite(error: unknown): error is InstanceType<typeof Library.SqliteError> {
  return library !== undefined && error instanceof library.SqliteError;
}

function loaded(): typeof Library {
  const { napi, node } = process.versions as Record<string, string>;
  const require = createRequire(import.meta.url);
  // Both are optional packages: that one cannot be had or built does not stop those who need the other, or none.
  const names = [
    ...(Number(napi) >= NODE_API ? ['better-sqlite3-13'] : []),
    ...(Number.parseInt(node!, 10) < FIRST_WITHOUT_12 ? ['better-sqlite3'] : []),
  ];
  const causes: Error[] = [];
  for (const name of names)
    try {
      const found: typeof Library = require(name);
      // The binary is loaded with the first database.
      new found(':memory:').close();
      return found;
    } catch (error) {
      causes.push(error as Error);
    }
  throw new Failure('store_failed', {
    what: 'The library of SQLite cannot be loaded.',
    why: `On Node ${node}, ${names.join(' or ')} is needed, an optional package: ${causes[0]!.message.split('\n', 1)[0]}.`,
    fix: 'Install again without --omit=optional, and let it build what it has to (npm install --foreground-scripts shows why it did not).',
    cause: causes[0],
  });
}
