-- Memoranda, schema 4: conversations.

-- recorded: proposals ----------------------------------------------------------------------------------------------

-- What is not a person's own word waits here (store/inbox.py). The facts it is about are named without a foreign key:
-- one that goes meanwhile is told, and not kept from going.
CREATE TABLE proposals(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK(kind IN ('add', 'correct', 'confirm', 'supersede', 'merge', 'forget', 'conflict')),
  text TEXT NOT NULL,               -- the fact that would be, or that it is about
  asked TEXT NOT NULL,              -- digest of the question: the same one is not asked twice
  change TEXT NOT NULL DEFAULT '{}',  -- JSON: what else that fact would have: domain, confidence, tags …
  target INTEGER,                   -- the fact it is about
  others TEXT NOT NULL DEFAULT '[]',  -- JSON: citations of the other facts it is about
  based_on TEXT NOT NULL DEFAULT '',  -- digest of these facts as they were then
  evidence TEXT NOT NULL DEFAULT '[]',  -- JSON: {citation, quote}
  reason TEXT NOT NULL DEFAULT '',  -- why it is asked, in a sentence
  origin TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'accepted', 'rejected')),
  created_at TEXT NOT NULL,
  decided_at TEXT,
  made INTEGER                      -- the fact that came of it
);
CREATE INDEX proposals_waiting ON proposals(state, created_at, id);
CREATE INDEX proposals_asked ON proposals(asked, origin);

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
