-- Memoranda, schema 4: conversations.

-- operational: turns that are still to be read ----------------------------------------------------------------------

-- What the agent has yet to do with a turn (store/pending.py). An entry comes with its turn and goes with what was
-- learned from it; without a foreign key, for a turn may be purged first.
CREATE TABLE pending_extraction(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn INTEGER NOT NULL,
  task TEXT NOT NULL CHECK(task IN ('extract_facts', 'reconfirm')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at TEXT NOT NULL,            -- not before then
  error TEXT NOT NULL DEFAULT '',   -- of the last attempt, without any record's text
  UNIQUE(turn, task)
);
CREATE INDEX pending_extraction_next ON pending_extraction(attempts, next_at);
