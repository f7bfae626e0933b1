-- Memoranda, schema 4: conversations.

-- turns, sessions, summaries -------------------------------------------------------------------------------------

ALTER TABLE turns ADD COLUMN tokens INTEGER CHECK(tokens >= 0);  -- as store/counting.py counts; NULL until it did
ALTER TABLE turns ADD COLUMN continuity REAL;  -- calibrated similarity to the turn before; NULL while it is unknown
CREATE INDEX turns_uncounted ON turns(id) WHERE tokens IS NULL;
INSERT OR IGNORE INTO embedding_queue SELECT id * 16 + 7 FROM turns WHERE number > 1;  -- so that it gets known

-- journal: three turns in a few words, written once; the newest four of a session are its active ones
CREATE TABLE summaries(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  first INTEGER NOT NULL CHECK(first > 0),  -- the numbers of the turns that it stands for
  last INTEGER NOT NULL CHECK(last >= first),
  topic TEXT NOT NULL,
  discussed TEXT NOT NULL DEFAULT '[]',
  outcome TEXT NOT NULL DEFAULT '',
  decisions TEXT NOT NULL DEFAULT '[]',
  open_questions TEXT NOT NULL DEFAULT '[]',
  tokens INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  origin TEXT NOT NULL,
  UNIQUE(session, first)
);
CREATE INDEX summaries_at ON summaries(created_at, id);

-- operational: where a conversation came from, and whether it is over
CREATE TABLE sessions(
  id TEXT PRIMARY KEY NOT NULL,     -- what turns call it
  started_at TEXT NOT NULL,
  ended_at TEXT,
  source TEXT NOT NULL DEFAULT '',  -- the file that it was read from; empty if its turns were told one by one
  cwd TEXT NOT NULL DEFAULT '',
  flushed INTEGER NOT NULL DEFAULT 0  -- up to which number its turns were flushed (store/flushing.py)
) WITHOUT ROWID;
CREATE INDEX sessions_open ON sessions(started_at) WHERE ended_at IS NULL;
INSERT INTO sessions(id, started_at) SELECT session, min(at) FROM turns GROUP BY session;

-- how far a file of turns was read, and how to see that it is not the same any more
CREATE TABLE sources(
  path TEXT PRIMARY KEY NOT NULL,
  size INTEGER NOT NULL,            -- bytes that were read
  looked INTEGER NOT NULL DEFAULT 0,  -- how many there were when it was last looked at: the last line may be unfinished
  lines INTEGER NOT NULL,
  mark BLOB NOT NULL,               -- a digest of the first of them and the last
  at TEXT NOT NULL
) WITHOUT ROWID;
-- what was read once, by a keyed digest of what tells one line from another: it is not taken in again
CREATE TABLE ingested(key BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
-- greetings, thanks, what tools wrote: for a day, and never in a search or a prompt
CREATE TABLE discarded(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL
);
CREATE INDEX discarded_at ON discarded(at);

CREATE VIEW corpus_summary(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT s.id * 16 + 9, 'summary', s.id, s.topic,
    trim((SELECT coalesce(group_concat(value, '; '), '') FROM json_each(s.discussed)) || char(10) || s.outcome || char(10)
      || (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(s.decisions)) || char(10)
      || (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(s.open_questions)), char(10)),
    '', s.created_at, 'active', 0 FROM summaries s;
CREATE TRIGGER summaries_found_insert AFTER INSERT ON summaries BEGIN
  INSERT INTO corpus SELECT * FROM corpus_summary WHERE record_id = new.id;
END;
CREATE TRIGGER summaries_found_update
  AFTER UPDATE OF topic, discussed, outcome, decisions, open_questions, created_at ON summaries BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_summary WHERE record_id = new.id)
    WHERE id = new.id * 16 + 9;
END;
CREATE TRIGGER summaries_found_delete AFTER DELETE ON summaries BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 9;
END;

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
CREATE INDEX pending_extraction_next ON pending_extraction(attempts, id);  -- the order in which they are taken
-- what was forgotten or superseded is asked for by its text before old words may bring it back
CREATE INDEX facts_text_hash_gone ON facts(text_hash) WHERE status <> 'active';
-- operational: facts that their person has just remembered, and that nobody compared with the others yet
-- (store/comparing.py)
CREATE TABLE uncompared(fact INTEGER PRIMARY KEY NOT NULL);

-- recorded: mutes -----------------------------------------------------------------------------------------------------

-- Facts that a person keeps out of every context (store/mutes.py). Without a foreign key: a mute keeps no fact from
-- going, and numbers are never given twice.
CREATE TABLE mutes(
  fact_id INTEGER PRIMARY KEY NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL
) WITHOUT ROWID;

-- operational: what agents were sent, and what was answered ------------------------------------------------------------

-- The contexts that agents were handed (store/context/sent.py), the newest some hundred.
CREATE TABLE contexts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,            -- the number of the session's last turn then; 0 while none was known
  question TEXT NOT NULL,
  tokens INTEGER NOT NULL,          -- of all of it, as store/tokens.py counts
  answered INTEGER                  -- whether its answer had the form that was asked for; NULL until it came
);
CREATE INDEX contexts_session ON contexts(session, turn);
-- the records that were in one, and whether its answer cited them
CREATE TABLE sent(
  context INTEGER NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
  key INTEGER NOT NULL,             -- store/keys.py
  tokens INTEGER NOT NULL,
  cited INTEGER NOT NULL DEFAULT 0 CHECK(cited IN (0, 1)),
  PRIMARY KEY(context, key)
) WITHOUT ROWID;

-- Answers to questions whose answer does not depend on the moment (store/answers_cache.py), a day at most.
CREATE TABLE answers_cache(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  normal TEXT NOT NULL UNIQUE,      -- the question without capitals, accents and punctuation
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  citations TEXT NOT NULL,          -- a JSON list: what it rests on
  seq INTEGER NOT NULL,             -- the newest step of history when it was found
  basis TEXT NOT NULL,              -- digest of what the cited records said then
  found TEXT NOT NULL,              -- a JSON list: the keys of what a search for the question found then
  fingerprint TEXT NOT NULL,        -- of the model that made the vector; empty where there was none
  vector BLOB,                      -- of the question: 32-bit floats, little-endian
  at TEXT NOT NULL,
  hits INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX answers_cache_at ON answers_cache(at);

-- operational: how searches fared --------------------------------------------------------------------------------------

ALTER TABLE queries ADD COLUMN times INTEGER NOT NULL DEFAULT 1;  -- how often somebody went on from it
-- The last searches that somebody went on from (store/search/timed.py): figures, and none of their words.
CREATE TABLE searches(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  milliseconds REAL NOT NULL,
  meaning INTEGER NOT NULL CHECK(meaning IN (0, 1)),  -- whether a model had a part in the answer
  found INTEGER NOT NULL
);
