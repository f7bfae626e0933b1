-- Memoranda, schema 4: conversations.

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
