-- Memoranda, schema 3.

-- operational ----------------------------------------------------------------------------------------------------

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
