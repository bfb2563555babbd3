// The tables of the database and their migrations: a list of steps to which new ones are appended.
import type { Database } from 'better-sqlite3';
import { Failure } from '../schema/failure.js';

/** "weir" in ASCII: identifies the file as ours, also for `file` and other tools. */
export const APPLICATION_ID = 0x77656972;

/** Step n migrates a file from version n - 1 to version n. Released steps are never changed or removed. */
export const steps: readonly string[] = [
  `
  CREATE TABLE machines (
    id            INTEGER PRIMARY KEY,
    slug          TEXT    NOT NULL UNIQUE,
    owner         TEXT    NOT NULL,
    is_public     INTEGER NOT NULL,
    display_name  TEXT    NOT NULL,
    created_cycle INTEGER NOT NULL
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
    template_id      TEXT,
    created_cycle    INTEGER NOT NULL,
    first_fire_cycle INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX contracts_by_machine ON contracts (machine);

  -- Apart from the contracts, which never change: what is written every cycle lies on as few pages as can be.
  CREATE TABLE states (
    contract         INTEGER PRIMARY KEY REFERENCES contracts (number),
    state            TEXT    NOT NULL,
    held_until_cycle INTEGER NOT NULL,
    windows          BLOB    NOT NULL -- see window-bytes.ts
  ) STRICT;

  -- The record. "text" is the canonical JSON of the whole row, as it is hashed and exported; the columns beside it are to find it.
  CREATE TABLE rows (
    machine     INTEGER NOT NULL REFERENCES machines (id),
    seq         INTEGER NOT NULL,
    cycle       INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    contract_id TEXT,
    text        TEXT    NOT NULL
  ) STRICT;
  -- Holds every column that can be asked for, so that a filter reads the index and not the rows, which are twenty times as wide.
  -- An index for each filter would scatter every commit over many pages: measured, it halves the rows a second.
  CREATE UNIQUE INDEX rows_by_seq ON rows (machine, seq, cycle, kind, contract_id);

  -- The newest of each machine.
  CREATE TABLE checkpoints (
    machine   INTEGER PRIMARY KEY REFERENCES machines (id),
    seq       INTEGER NOT NULL,
    hash      TEXT    NOT NULL,
    cycle     INTEGER NOT NULL,
    signature TEXT    NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    id            TEXT    NOT NULL PRIMARY KEY,
    hash          TEXT    NOT NULL UNIQUE,
    owner         TEXT    NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    is_revoked    INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keys_by_expiry ON keys (expires_at_ms);

  CREATE TABLE sessions (
    hash          TEXT    NOT NULL PRIMARY KEY,
    key_id        TEXT    NOT NULL REFERENCES keys (id),
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_key ON sessions (key_id);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);
  `,
  `
  -- Separated by spaces. A key from before there were scopes could do everything.
  ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'admin';
  -- The only machine that the key opens; NULL: every machine of its owner.
  ALTER TABLE keys ADD COLUMN machine TEXT;
  CREATE INDEX keys_by_owner ON keys (owner, id);
  `,
  `
  -- How often in a row operators have refused what triggers fired: how long the contract waits with the next try.
  ALTER TABLE states ADD COLUMN refusals INTEGER NOT NULL DEFAULT 0;
  `,
  `
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
  `,
  `
  -- How the contract keeps its keys, as JSON; NULL: it has none.
  ALTER TABLE contracts ADD COLUMN keyed TEXT;

  -- As "states", for each key that has counts or is not as at first.
  CREATE TABLE key_states (
    contract         INTEGER NOT NULL REFERENCES contracts (number),
    key              TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    held_until_cycle INTEGER NOT NULL,
    refusals         INTEGER NOT NULL,
    windows          BLOB    NOT NULL, -- see window-bytes.ts
    PRIMARY KEY (contract, key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What stands in place of the first rows of a record. Rows up to "seq" may still be there: nobody reads them, and they are being deleted.
  CREATE TABLE cuts (
    machine   INTEGER PRIMARY KEY REFERENCES machines (id),
    seq       INTEGER NOT NULL,
    hash      TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    cycle     INTEGER NOT NULL,
    signature TEXT    NOT NULL
  ) STRICT;
  -- One row: how many commits there were. The mark beside the database says it, too: see head-mark.ts.
  CREATE TABLE commits (number INTEGER NOT NULL) STRICT;
  INSERT INTO commits VALUES (0);
  -- Bytes of the texts of its rows.
  ALTER TABLE machines ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE machines
  SET record_bytes = (SELECT coalesce(sum(length(text)), 0) FROM rows WHERE rows.machine = machines.id);
  `,
  `
  -- 1: it was deleted. It keeps its number until the states of its keys are gone, which takes a while where they are many.
  ALTER TABLE contracts ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX contracts_removed ON contracts (machine) WHERE is_removed = 1;
  CREATE INDEX contracts_by_definition ON contracts (definition);
  -- The network of the address that the first key of its owner was minted for; NULL: it is not known.
  ALTER TABLE keys ADD COLUMN network TEXT;
  `,
  `
  -- The name that its owner gave it; a second definition that is only checked, as JSON; how often it was changed in place.
  ALTER TABLE contracts ADD COLUMN name TEXT;
  ALTER TABLE contracts ADD COLUMN candidate TEXT;
  ALTER TABLE contracts ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
  -- Of a contract that left its keys to an earlier row, to be removed: the number that it was listed by. NULL: its own.
  ALTER TABLE contracts ADD COLUMN place INTEGER;
  `,
];

/** Applies each missing step completely or not at all. @throws Failure `store_too_new` */
export function migrate(database: Database, path: string, known = steps): void {
  const version = database.pragma('user_version', { simple: true }) as number;
  if (version > known.length) {
    throw new Failure('store_too_new', {
      what: `The database ${path} is not opened.`,
      why: `It has version ${version}; this program knows versions up to ${known.length}.`,
      fix: 'Start the version of this program that wrote it last, or a later one.',
    });
  }
  for (const [index, step] of known.entries()) {
    if (index < version) continue;
    database.transaction(() => {
      database.exec(step);
      database.pragma(`user_version = ${index + 1}`);
    })();
  }
}
