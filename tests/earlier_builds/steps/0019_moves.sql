-- Memoranda, schema 19: a fact is moved between a project's memory and the person's own one.

-- one row for each move, in both files under the same token. It has begun in the project's file before anything is
-- changed; what is found so when the file is opened is finished or taken back (store/history/two_files.py)
CREATE TABLE moves(
  token TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('out', 'in', 'undo')),  -- to the personal memory, from it, either taken back
  state TEXT NOT NULL CHECK(state IN ('begun', 'done')),
  door TEXT NOT NULL,
  fact INTEGER,                     -- in the project's file
  own INTEGER,                      -- in the personal one
  step INTEGER,                     -- of history here
  other INTEGER,                    -- of history in the personal file
  undoes INTEGER,                   -- the step of history here that is taken back
  project TEXT NOT NULL DEFAULT '', -- in the personal file: the file of the project
  at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX moves_step ON moves(step) WHERE step IS NOT NULL;
CREATE INDEX moves_begun ON moves(at) WHERE state = 'begun';
CREATE INDEX moves_own ON moves(own);
CREATE INDEX moves_fact ON moves(fact);
