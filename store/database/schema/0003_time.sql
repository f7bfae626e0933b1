-- Memoranda, schema 3: what was purged is recognised, and a writer from outside may ask twice.

-- operational ----------------------------------------------------------------------------------------------------

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
