-- Memoranda, schema 15: files that say what the memory says (store/sync).

-- operational: the files that a person asked to keep in sync
CREATE TABLE synced_files(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,        -- as documents are cited
  version INTEGER NOT NULL,         -- of the section that was written last
  digest BLOB NOT NULL DEFAULT x'', -- of the content that was read or written last
  modified_ns INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  inode INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,  -- of history, up to which the file has everything
  day TEXT NOT NULL DEFAULT '',     -- when it was looked at: facts age by the day
  head TEXT NOT NULL DEFAULT '',    -- the commit that was checked out then; empty outside of git
  own TEXT NOT NULL DEFAULT '[]',   -- digests of the lines outside of the section that a person accepted
  problem TEXT NOT NULL DEFAULT ''  -- why it could not be read or written the last time
);
-- the lines of a section, by the fact that each cites, and from which version to which
CREATE TABLE synced_lines(
  file INTEGER NOT NULL REFERENCES synced_files(id) ON DELETE CASCADE,
  fact INTEGER NOT NULL,
  first INTEGER NOT NULL,
  seen INTEGER NOT NULL CHECK(seen IN (0, 1)), -- 1: not written so, but read from a file of that version and taken
  last INTEGER,                     -- NULL while the newest version has it
  digest BLOB NOT NULL,             -- of the text, keyed: the text itself is in the file
  PRIMARY KEY(file, fact, first, seen)
) WITHOUT ROWID;
-- what was changed in a file and waits in the inbox; a fact of 0 is a new line, an empty digest a deleted one
CREATE TABLE synced_proposals(
  file INTEGER NOT NULL REFERENCES synced_files(id) ON DELETE CASCADE,
  fact INTEGER NOT NULL,
  digest BLOB NOT NULL,
  proposal INTEGER NOT NULL,
  last INTEGER,                     -- the version in which the change still was when it was decided
  PRIMARY KEY(file, fact, digest)
) WITHOUT ROWID;
