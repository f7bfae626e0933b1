-- Memoranda, schema 8: agents that read and write.

-- recorded: when a person said that a decision which an agent logged holds; NULL until then
ALTER TABLE decisions ADD COLUMN confirmed_at TEXT;
-- journal: who told of a commit; git once it was read from the repository
ALTER TABLE commits ADD COLUMN origin TEXT NOT NULL DEFAULT 'git';

-- those that every pack thinks of first
CREATE INDEX facts_pinned ON facts(importance DESC, last_confirmed_at DESC, id) WHERE pinned AND status = 'active';

-- operational: which agent a session is of (store/doors/session/pack.py)
CREATE TABLE agent_sessions(
  session TEXT PRIMARY KEY NOT NULL,
  client TEXT NOT NULL,             -- claude-code, codex …
  model TEXT NOT NULL DEFAULT '',   -- as the agent says
  started_at TEXT NOT NULL,
  last_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX agent_sessions_client ON agent_sessions(client, last_at);

-- operational: what agents asked of a door, the newest some thousand (store/doors/session/calls.py)
CREATE TABLE agent_calls(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  door TEXT NOT NULL CHECK(door IN ('mcp', 'hook')),
  name TEXT NOT NULL,               -- of the tool or of the event
  milliseconds REAL NOT NULL,
  tokens INTEGER NOT NULL,          -- of what was answered, as store/base/token_count.py counts
  problem TEXT NOT NULL DEFAULT '', -- code of an error; empty if there was none
  reads TEXT NOT NULL DEFAULT '[]', -- a JSON list of citations that were sent
  writes TEXT NOT NULL DEFAULT '[]' -- a JSON list of citations that were made
);
CREATE INDEX agent_calls_client ON agent_calls(client, at);

-- operational: what was put into an agent's context, the newest some hundred (store/doors/session/pack.py)
CREATE TABLE injections(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  event TEXT NOT NULL,              -- start, prompt, context, recovery
  question TEXT NOT NULL,           -- the prompt that it was made for; empty at a start
  text TEXT NOT NULL,               -- as it was sent
  tokens INTEGER NOT NULL
);
CREATE INDEX injections_session ON injections(session, id);
-- the records that were in one, why, and whether the reply cited them
CREATE TABLE injected(
  injection INTEGER NOT NULL REFERENCES injections(id) ON DELETE CASCADE,
  key INTEGER NOT NULL,             -- store/base/record_keys.py
  why TEXT NOT NULL,                -- in our own words
  used INTEGER NOT NULL DEFAULT 0 CHECK(used IN (0, 1)),
  PRIMARY KEY(injection, key)
) WITHOUT ROWID;
CREATE INDEX injected_key ON injected(key, injection);
