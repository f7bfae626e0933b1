-- operational: the agent's model --------------------------------------------------------------------------------------

-- What waits to be read, now also by a model. A CHECK cannot be widened in place.
CREATE TABLE pending_extraction_5(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn INTEGER NOT NULL,
  task TEXT NOT NULL CHECK(task IN ('extract_facts', 'reconfirm', 'model.extract_facts', 'model.reconfirm')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at TEXT NOT NULL,            -- not before then
  error TEXT NOT NULL DEFAULT '',   -- of the last attempt, without any record's text
  UNIQUE(turn, task)
);
INSERT INTO pending_extraction_5 SELECT id, turn, task, attempts, next_at, error FROM pending_extraction;
-- an id is never given twice, also where the newest rows are gone
DELETE FROM sqlite_sequence WHERE name = 'pending_extraction_5';
INSERT INTO sqlite_sequence SELECT 'pending_extraction_5', seq FROM sqlite_sequence WHERE name = 'pending_extraction';
DROP TABLE pending_extraction;
ALTER TABLE pending_extraction_5 RENAME TO pending_extraction;
CREATE INDEX pending_extraction_next ON pending_extraction(attempts, id);  -- the order in which they are taken
CREATE INDEX pending_extraction_model ON pending_extraction(attempts, id DESC) WHERE task GLOB 'model.*';  -- the same, of those

-- How often a model was asked for each task, and what came of it (store/agent/use.py).
CREATE TABLE model_use(
  task TEXT PRIMARY KEY NOT NULL,
  asked INTEGER NOT NULL DEFAULT 0,
  valid INTEGER NOT NULL DEFAULT 0,    -- answers that could be used
  fell_back INTEGER NOT NULL DEFAULT 0,  -- a rule answered in its place
  last_ms INTEGER NOT NULL DEFAULT 0,
  total_ms INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT '',       -- of the last failure; empty where the last answer was good
  model TEXT NOT NULL DEFAULT '',
  at TEXT NOT NULL
) WITHOUT ROWID;
