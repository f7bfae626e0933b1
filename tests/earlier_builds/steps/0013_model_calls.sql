-- Memoranda, schema 13: the last calls of the model can be looked at.

-- For a day (store/librarian/call_log.py). No text of it is searched or sent to a model.
CREATE TABLE model_calls(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  task TEXT NOT NULL,
  model TEXT NOT NULL,
  ms INTEGER NOT NULL,
  answer TEXT NOT NULL,              -- empty where none came
  dropped TEXT NOT NULL DEFAULT '',  -- why the answer, or a part of it, was not used
  fallback TEXT NOT NULL DEFAULT ''  -- what was used in its place
);
