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

/** Both have the same interface. */
export const Database: typeof Library = loaded();

function loaded(): typeof Library {
  const require = createRequire(import.meta.url);
  if (Number(process.versions['napi']) < NODE_API) return require('better-sqlite3');
  try {
    return require('better-sqlite3-13');
  } catch (cause) {
    if (Number.parseInt(process.versions.node, 10) < FIRST_WITHOUT_12) return require('better-sqlite3');
    throw new Failure('store_failed', {
      what: 'The library of SQLite cannot be loaded.',
      why: `The package better-sqlite3-13 is needed on Node ${process.versions.node}: ${(cause as Error).message.split('\n', 1)[0]}.`,
      fix: 'Install again without --omit=optional, use Node 22, or start without a disk (--memory, --store redis://…).',
      cause,
    });
  }
}
