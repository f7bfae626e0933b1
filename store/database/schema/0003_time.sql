-- Memoranda, schema 3: checkpoints hold what a session needs to go on.

-- journal: rebuilt, for a CHECK cannot be changed in place --------------------------------------------------------

CREATE TEMP TABLE checkpoints_before AS SELECT id, name, created_at, seq, trigger, origin, recovered_at FROM checkpoints;
CREATE TEMP TABLE checkpoints_last AS SELECT seq FROM sqlite_sequence WHERE name = 'checkpoints';
DROP VIEW corpus_checkpoint;
DROP TABLE checkpoints;

CREATE TABLE checkpoints(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,               -- empty for one that was taken by itself
  created_at TEXT NOT NULL,
  seq INTEGER NOT NULL,             -- everything up to this step of history
  trigger TEXT NOT NULL CHECK(trigger IN ('person', 'restore', 'interval', 'usage', 'session_end')),
  origin TEXT NOT NULL,
  level TEXT NOT NULL DEFAULT 'macro' CHECK(level IN ('micro', 'meso', 'macro', 'archival')),
  session TEXT NOT NULL DEFAULT '', -- whose turns the working window holds; empty if nothing was said yet
  used INTEGER,                     -- percent of the context window that was used, where somebody told
  tokens INTEGER NOT NULL DEFAULT 0,  -- what a recovery puts into a prompt, as store/tokens.py counts
  recovered_at TEXT,
  summary TEXT NOT NULL DEFAULT '', -- one line: what it was about
  changed TEXT NOT NULL DEFAULT '', -- and how much happened since the one before
  working TEXT NOT NULL DEFAULT '[]',   -- JSON: the last turns, {citation, role, speaker, text}
  tasks TEXT NOT NULL DEFAULT '[]',     -- JSON: those not done, {citation, status, text}
  decisions TEXT NOT NULL DEFAULT '[]', -- JSON: the latest, {citation, title, chosen, rationale, origin}
  entities TEXT NOT NULL DEFAULT '[]'   -- JSON: what these texts name, as they write it
);
INSERT INTO checkpoints(id, name, created_at, seq, trigger, origin, recovered_at) SELECT * FROM checkpoints_before;
DELETE FROM sqlite_sequence WHERE name = 'checkpoints';
INSERT INTO sqlite_sequence(name, seq) SELECT 'checkpoints', seq FROM checkpoints_last;
DROP TABLE temp.checkpoints_before;
DROP TABLE temp.checkpoints_last;

CREATE INDEX checkpoints_at ON checkpoints(created_at, id);
CREATE INDEX checkpoints_level ON checkpoints(level, id);
CREATE INDEX checkpoints_session ON checkpoints(session, id);

-- those taken every few minutes say what the next says again, and are gone within days: they are not searched
CREATE VIEW corpus_checkpoint(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 6, 'checkpoint', id, name, summary,
    coalesce((SELECT group_concat(value, ' ') FROM json_each(entities)), ''), created_at, 'active', 0
  FROM checkpoints WHERE trigger <> 'interval' OR level = 'archival';
CREATE TRIGGER checkpoints_found_insert AFTER INSERT ON checkpoints BEGIN
  INSERT INTO corpus SELECT * FROM corpus_checkpoint WHERE record_id = new.id;
END;
CREATE TRIGGER checkpoints_found_update AFTER UPDATE OF name, summary, entities, created_at ON checkpoints BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_checkpoint WHERE record_id = new.id)
    WHERE id = new.id * 16 + 6;
END;
CREATE TRIGGER checkpoints_found_delete AFTER DELETE ON checkpoints BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 6;
END;

-- operational ----------------------------------------------------------------------------------------------------

-- which of the thresholds of its context window a session has passed, in percent; 0 for none
CREATE TABLE context_usage(
  session TEXT PRIMARY KEY NOT NULL,
  threshold INTEGER NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;
