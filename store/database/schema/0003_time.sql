-- Memoranda, schema 3: old history is packed.

-- journal --------------------------------------------------------------------------------------------------------

-- Rows of history_row that are old, about a thousand together (store/packing.py): a row stands here or there, never in
-- both.
CREATE TABLE history_block(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  purged INTEGER NOT NULL,          -- how many of them lost their text to a purge
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
