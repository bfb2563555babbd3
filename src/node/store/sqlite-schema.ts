// The tables of the database, and the version that names them in its file.
import type { Database } from 'better-sqlite3';
import { Failure } from '../../core/schema/failure.js';

/** "weir" in ASCII: identifies the file as ours, also for `file` and other tools. */
export const APPLICATION_ID = 0x77656972;

const VERSION = 1;

const TABLES = `
  CREATE TABLE machines (
    id            INTEGER PRIMARY KEY,
    slug          TEXT    NOT NULL UNIQUE,
    image         TEXT    NOT NULL,          -- as JSON
    record_bytes  INTEGER NOT NULL DEFAULT 0 -- of the texts of its rows
  ) STRICT;

  -- Thousands of contracts are made from one template: its text is kept once, found by its SHA-256.
  CREATE TABLE definitions (
    id     INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    text   TEXT NOT NULL
  ) STRICT;

  CREATE TABLE contracts (
    number           INTEGER PRIMARY KEY, -- rises in order of creation
    id               TEXT    NOT NULL UNIQUE,
    machine          INTEGER NOT NULL REFERENCES machines (id),
    definition       INTEGER NOT NULL REFERENCES definitions (id),
    image            TEXT    NOT NULL, -- what else it is, as JSON
    -- Of a contract that left its keys to an earlier row, to be removed: the number that it was listed by. NULL: its own.
    place            INTEGER,
    -- 1: it was deleted. It keeps its number until the states of its keys are gone, which takes a while where they are many.
    is_removed       INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX contracts_by_machine ON contracts (machine);
  CREATE INDEX contracts_removed ON contracts (machine) WHERE is_removed = 1;
  CREATE INDEX contracts_by_definition ON contracts (definition);

  -- Not in contracts, which seldom change: what is written every cycle then fills the fewest pages.
  CREATE TABLE states (
    contract INTEGER PRIMARY KEY REFERENCES contracts (number),
    bytes    BLOB    NOT NULL -- see state-codec.ts
  ) STRICT;

  -- The same for each key that has counts or has left its first state.
  CREATE TABLE key_states (
    contract INTEGER NOT NULL REFERENCES contracts (number),
    key      TEXT    NOT NULL,
    bytes    BLOB    NOT NULL,
    PRIMARY KEY (contract, key)
  ) STRICT, WITHOUT ROWID;

  -- The record. "text" is the canonical JSON of the whole row, as it is hashed and exported; the other columns serve lookups.
  CREATE TABLE rows (
    machine     INTEGER NOT NULL REFERENCES machines (id),
    seq         INTEGER NOT NULL,
    cycle       INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    contract_id TEXT,
    text        TEXT    NOT NULL
  ) STRICT;
  -- Has every column that a filter may name, so that a filter reads the index and not the rows, which are twenty times as wide.
  -- An index for each filter would scatter every commit over many pages: measured, it halves the rows a second.
  CREATE UNIQUE INDEX rows_by_seq ON rows (machine, seq, cycle, kind, contract_id);

  -- The newest of each machine.
  CREATE TABLE checkpoints (
    machine INTEGER PRIMARY KEY REFERENCES machines (id),
    seq     INTEGER NOT NULL,
    text    TEXT    NOT NULL -- all of it, as JSON
  ) STRICT;

  -- Replaces the first rows of a record. Rows up to "seq" may still be there: nobody reads them, and they are being deleted.
  CREATE TABLE cuts (
    machine INTEGER PRIMARY KEY REFERENCES machines (id),
    seq     INTEGER NOT NULL,
    text    TEXT    NOT NULL
  ) STRICT;

  -- One row: the number of commits. A mark beside the database has it, too: see head-mark.ts.
  CREATE TABLE commits (number INTEGER NOT NULL) STRICT;
  INSERT INTO commits VALUES (0);

  CREATE TABLE keys (
    id            TEXT    NOT NULL PRIMARY KEY,
    hash          TEXT    NOT NULL UNIQUE,
    owner         TEXT    NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    is_revoked    INTEGER NOT NULL,
    text          TEXT    NOT NULL -- all of it, as JSON; the columns beside it are to find it
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keys_by_expiry ON keys (expires_at_ms);
  CREATE INDEX keys_by_owner ON keys (owner, id);

  -- Answers to requests with an idempotency key, as JSON. Key and request are hashed.
  CREATE TABLE answers (
    machine     TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    until_cycle INTEGER NOT NULL,
    answer      TEXT    NOT NULL,
    UNIQUE (machine, key)
  ) STRICT;
  CREATE INDEX answers_by_cycle ON answers (until_cycle);
`;

export function createTables(database: Database): void {
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${VERSION}`);
  database.exec(TABLES);
}

/** @throws Failure `store_other_version` */
export function checkVersion(database: Database, path: string): void {
  const version = database.pragma('user_version', { simple: true });
  if (version === VERSION) return;
  throw new Failure('store_other_version', {
    what: `The database ${path} is not opened.`,
    why: `It has version ${version}, and this program reads version ${VERSION}.`,
    fix: 'Start the version of this program that wrote it last, or choose another folder.',
  });
}
