-- Memoranda, schema 3: the time machine.

-- operational ----------------------------------------------------------------------------------------------------

-- the backups that were made of this memory, by their names in `backups` beside it
CREATE TABLE backups(
  name TEXT PRIMARY KEY NOT NULL,
  made_at TEXT NOT NULL,
  scheduled INTEGER NOT NULL CHECK(scheduled IN (0, 1)),  -- by hand: kept until somebody removes it
  step INTEGER NOT NULL,            -- of history, the newest in it
  sums TEXT NOT NULL,               -- a JSON object: each table's checksum, as an export has it
  digest TEXT NOT NULL,             -- SHA-256 of the file
  verified_at TEXT,
  problem TEXT NOT NULL DEFAULT ''  -- what the last look found; empty if it was whole
) WITHOUT ROWID;
CREATE INDEX backups_at ON backups(made_at);

-- A keyed hash of each text that was purged, never the text (store/tombstones.py); the key is in `meta`.
CREATE TABLE tombstones(
  hash BLOB PRIMARY KEY NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;

-- What a writer from outside was answered, by the digest of the key it gave: asked again, it gets the same answer.
CREATE TABLE answers(
  key TEXT PRIMARY KEY NOT NULL,
  answer TEXT NOT NULL,             -- the ids that were made, parted by spaces
  at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX answers_at ON answers(at);

-- Where a secret was cut out of what was written: the place and the rule, never the value nor anything made from it.
-- One row for a field and a rule, of the first time.
CREATE TABLE redactions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  rule TEXT NOT NULL,               -- a label of store/redaction
  tbl TEXT NOT NULL,
  record INTEGER NOT NULL,          -- the row's id
  field TEXT NOT NULL,              -- a column
  count INTEGER NOT NULL,
  actor TEXT NOT NULL,
  door TEXT NOT NULL,
  UNIQUE(tbl, record, field, rule)
);
CREATE INDEX redactions_at ON redactions(at, id);
