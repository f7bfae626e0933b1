-- Memoranda, schema 3: the time machine.

-- journal: rebuilt, for a CHECK cannot be changed in place --------------------------------------------------------

CREATE TEMP TABLE checkpoints_before AS SELECT id, name, created_at, seq, trigger, origin, recovered_at FROM checkpoints;
CREATE TEMP TABLE checkpoints_last AS SELECT seq FROM sqlite_sequence WHERE name = 'checkpoints';
DROP VIEW corpus_checkpoint;
DROP TABLE checkpoints;

CREATE TABLE checkpoints(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,               -- empty for one that was taken by itself
  created_at TEXT NOT NULL,
  seq INTEGER NOT NULL,             -- everything up to this step of history
  trigger TEXT NOT NULL CHECK(trigger IN ('person', 'restore', 'interval', 'usage', 'session_end')),
  origin TEXT NOT NULL,
  level TEXT NOT NULL DEFAULT 'macro' CHECK(level IN ('micro', 'meso', 'macro', 'archival')),
  session TEXT NOT NULL DEFAULT '', -- whose turns the working window holds; empty if nothing was said yet
  used INTEGER,                     -- percent of the context window that was used, where somebody told
  tokens INTEGER NOT NULL DEFAULT 0,  -- what a recovery puts into a prompt, as store/tokens.py counts
  recovered_at TEXT,
  summary TEXT NOT NULL DEFAULT '', -- one line: what it was about
  changed TEXT NOT NULL DEFAULT '', -- and how much happened since the one before
  working TEXT NOT NULL DEFAULT '[]',   -- JSON: the last turns, {citation, role, speaker, text}
  tasks TEXT NOT NULL DEFAULT '[]',     -- JSON: those not done, {citation, status, text}
  decisions TEXT NOT NULL DEFAULT '[]', -- JSON: the latest, {citation, title, chosen, rationale, origin}
  entities TEXT NOT NULL DEFAULT '[]',  -- JSON: what these texts name, as they write it
  digest BLOB NOT NULL DEFAULT x''  -- of all these but recovered_at (store/contents.py); empty before this schema
);
INSERT INTO checkpoints(id, name, created_at, seq, trigger, origin, recovered_at) SELECT * FROM checkpoints_before;
DELETE FROM sqlite_sequence WHERE name = 'checkpoints';
INSERT INTO sqlite_sequence(name, seq) SELECT 'checkpoints', seq FROM checkpoints_last;
DROP TABLE temp.checkpoints_before;
DROP TABLE temp.checkpoints_last;

CREATE INDEX checkpoints_at ON checkpoints(created_at, id);
CREATE INDEX checkpoints_level ON checkpoints(level, id);
CREATE INDEX checkpoints_session ON checkpoints(session, id);

-- those taken every few minutes say what the next says again, and are gone within days: they are not searched
CREATE VIEW corpus_checkpoint(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 6, 'checkpoint', id, name, summary,
    coalesce((SELECT group_concat(value, ' ') FROM json_each(iif(json_valid(entities), entities, '[]'))), ''), created_at, 'active', 0
  FROM checkpoints WHERE trigger <> 'interval' OR level = 'archival';
CREATE TRIGGER checkpoints_found_insert AFTER INSERT ON checkpoints BEGIN
  INSERT INTO corpus SELECT * FROM corpus_checkpoint WHERE record_id = new.id;
END;
CREATE TRIGGER checkpoints_found_update AFTER UPDATE OF name, summary, entities, created_at ON checkpoints BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_checkpoint WHERE record_id = new.id)
    WHERE id = new.id * 16 + 6;
END;
CREATE TRIGGER checkpoints_found_delete AFTER DELETE ON checkpoints BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 6;
END;

-- Rows of history_row that are old, about a thousand together (store/packing.py): a row stands here or there, never in
-- both.
CREATE TABLE history_block(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  purged INTEGER NOT NULL,          -- how many of them are of records that were purged
  records BLOB NOT NULL,            -- which records are in it: sorted hashes of 32 bits, little-endian
  directory BLOB NOT NULL,          -- zlib: of each row all but its texts
  texts BLOB NOT NULL,              -- zlib: before and after
  salts BLOB NOT NULL               -- and the leaves of rows that have no salt
);
CREATE INDEX history_block_seq ON history_block(first_seq, last_seq);

-- the number of a row is part of every index: to name it once more took eight bytes of each step
DROP INDEX history_actor;
DROP INDEX history_in_force;
CREATE INDEX history_actor ON history(actor);
CREATE INDEX history_in_force ON history(actor) WHERE undone_by IS NULL;

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

-- which of the thresholds of its context window a session has passed, in percent; 0 for none
CREATE TABLE context_usage(
  session TEXT PRIMARY KEY NOT NULL,
  threshold INTEGER NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;
