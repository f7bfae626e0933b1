-- Memoranda, schema 1. Every table is of one of four kinds (store/database/schema/tables.py): recorded, journal,
-- operational, derived. Ids are AUTOINCREMENT: a citation never comes to mean another record.
-- Times are UTC, ISO 8601 with milliseconds, as text. No primary key may be NULL: sessions would not see the row.

CREATE TABLE meta(
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- journal --------------------------------------------------------------------------------------------------------

CREATE TABLE iterations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'active' CHECK(status IN ('active', 'completed', 'abandoned')),
  started_at TEXT NOT NULL,
  completed_at TEXT,
  phases_completed TEXT NOT NULL DEFAULT '[]',
  artifacts TEXT NOT NULL DEFAULT '[]',
  origin TEXT NOT NULL
);
CREATE INDEX idx_iterations_status ON iterations(status);
CREATE INDEX iterations_at ON iterations(started_at, id);

CREATE TABLE commits(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  sha TEXT NOT NULL UNIQUE,
  message TEXT NOT NULL,
  author TEXT NOT NULL,
  files_changed INTEGER NOT NULL,
  insertions INTEGER NOT NULL,
  deletions INTEGER NOT NULL,
  committed_at TEXT NOT NULL,
  iteration_id INTEGER REFERENCES iterations(id),
  reachable INTEGER NOT NULL DEFAULT 1 CHECK(reachable IN (0, 1))
);
CREATE INDEX idx_commits_iteration ON commits(iteration_id);
CREATE INDEX commits_at ON commits(committed_at, id);

CREATE TABLE events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iteration_id INTEGER REFERENCES iterations(id),
  event_type TEXT NOT NULL,
  phase TEXT NOT NULL DEFAULT '',
  payload TEXT NOT NULL DEFAULT 'null',
  created_at TEXT NOT NULL,
  origin TEXT NOT NULL
);
CREATE INDEX idx_events_iteration ON events(iteration_id);
CREATE INDEX idx_events_type ON events(event_type);
CREATE INDEX events_at ON events(created_at, id);

CREATE TABLE checkpoints(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  seq INTEGER NOT NULL,             -- everything up to this step of history
  trigger TEXT NOT NULL CHECK(trigger IN ('person', 'restore')),
  origin TEXT NOT NULL,
  recovered_at TEXT
);
CREATE INDEX checkpoints_at ON checkpoints(created_at, id);

CREATE TABLE history(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  door TEXT NOT NULL,
  reason TEXT NOT NULL,             -- a verb and the citations or steps it was about, never a record's text
  undoes INTEGER REFERENCES history(seq),
  undone_by INTEGER REFERENCES history(seq),  -- the step in force that took this one back; not part of the digest
  changes INTEGER NOT NULL,
  rows_root BLOB NOT NULL,
  digest BLOB NOT NULL
);
CREATE INDEX history_undoes ON history(undoes) WHERE undoes IS NOT NULL;
CREATE INDEX history_undone_by ON history(undone_by) WHERE undone_by IS NOT NULL;
CREATE INDEX history_actor ON history(actor, seq);
CREATE INDEX history_in_force ON history(actor, seq) WHERE undone_by IS NULL;

CREATE TABLE history_row(
  seq INTEGER NOT NULL REFERENCES history(seq),
  n INTEGER NOT NULL,
  tbl TEXT NOT NULL,
  pk TEXT NOT NULL,                 -- a JSON list
  op TEXT NOT NULL CHECK(op IN ('INSERT', 'UPDATE', 'DELETE')),
  indirect INTEGER NOT NULL,
  before TEXT,                      -- JSON by column name; an update holds only what changed
  after TEXT,
  salt BLOB,
  leaf BLOB NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(seq, n)
) WITHOUT ROWID;
CREATE INDEX history_row_pk ON history_row(tbl, pk, seq);
CREATE INDEX history_row_purged ON history_row(tbl, pk, seq) WHERE purged = 1;

-- recorded -------------------------------------------------------------------------------------------------------

CREATE TABLE facts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain TEXT NOT NULL CHECK(domain IN
    ('work', 'preferences', 'decisions', 'personal', 'projects', 'general', 'self_correction')),
  fact TEXT NOT NULL,
  text_hash TEXT NOT NULL,          -- of the normalised text: the same thing said again is found by it
  confidence TEXT NOT NULL CHECK(confidence IN ('high', 'medium', 'low')),
  source TEXT NOT NULL CHECK(source IN ('explicit', 'inferred')),
  scope TEXT NOT NULL CHECK(scope IN ('global', 'project', 'session')),
  status TEXT NOT NULL CHECK(status IN ('active', 'superseded', 'contradicted', 'forgotten')),
  supersedes INTEGER REFERENCES facts(id),
  created_at TEXT NOT NULL,
  last_confirmed_at TEXT NOT NULL,
  importance REAL NOT NULL DEFAULT 0.5,
  pinned INTEGER NOT NULL DEFAULT 0 CHECK(pinned IN (0, 1)),
  origin TEXT NOT NULL,
  evidence TEXT NOT NULL DEFAULT '[]',
  tags TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX facts_supersedes ON facts(supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX facts_text_hash ON facts(text_hash) WHERE status = 'active';
CREATE INDEX facts_age ON facts(status, last_confirmed_at, id, confidence, pinned);  -- the last two: to count states
CREATE INDEX facts_domain ON facts(status, domain, last_confirmed_at, id);

CREATE TABLE decisions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iteration_id INTEGER REFERENCES iterations(id),
  title TEXT NOT NULL,
  context TEXT NOT NULL DEFAULT '',
  chosen TEXT NOT NULL,
  alternatives TEXT NOT NULL DEFAULT '[]',
  rationale TEXT NOT NULL DEFAULT '',
  impact TEXT NOT NULL CHECK(impact IN ('low', 'medium', 'high', 'critical')),
  phase TEXT NOT NULL DEFAULT '',
  decided_at TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('active', 'superseded', 'forgotten')),
  supersedes INTEGER REFERENCES decisions(id),
  origin TEXT NOT NULL
);
CREATE INDEX idx_decisions_iteration ON decisions(iteration_id);
CREATE INDEX decisions_supersedes ON decisions(supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX decisions_at ON decisions(decided_at, id);

CREATE TABLE commit_links(
  commit_id INTEGER NOT NULL REFERENCES commits(id),
  decision_id INTEGER NOT NULL REFERENCES decisions(id),
  link_type TEXT NOT NULL CHECK(link_type IN ('implements', 'reverts', 'relates')),
  origin TEXT NOT NULL,
  PRIMARY KEY(commit_id, decision_id)
) WITHOUT ROWID;
CREATE INDEX commit_links_decision ON commit_links(decision_id);

CREATE TABLE tasks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('pending', 'in_progress', 'done')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  iteration_id INTEGER REFERENCES iterations(id),
  origin TEXT NOT NULL
);
CREATE INDEX tasks_iteration ON tasks(iteration_id);

-- operational ----------------------------------------------------------------------------------------------------

CREATE TABLE leases(
  name TEXT PRIMARY KEY NOT NULL,
  holder TEXT NOT NULL,
  expires_at TEXT NOT NULL
) WITHOUT ROWID;

-- derived: rebuilt from nothing by search.corpus.rebuild ------------------------------------------------------------

-- one row for each thing that can be found. id = record_id * 16 + the kind's number, so that a rebuild, an undo and a
-- redo all give the row the same id
CREATE TABLE corpus(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  record_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  context TEXT NOT NULL,
  at TEXT NOT NULL,
  status TEXT NOT NULL,
  evergreen INTEGER NOT NULL
);
CREATE INDEX corpus_at ON corpus(at, id);

CREATE VIRTUAL TABLE corpus_fts USING fts5(
  title, text, context, status,     -- status among them, so that a search need not look every match up
  content = 'corpus', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2',
  prefix = '1 2 3'
);
CREATE VIRTUAL TABLE corpus_words USING fts5vocab('corpus_fts', 'row');

CREATE TRIGGER corpus_insert AFTER INSERT ON corpus BEGIN
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    VALUES (new.id, new.title, new.text, new.context, new.status);
END;
CREATE TRIGGER corpus_delete AFTER DELETE ON corpus BEGIN
  INSERT INTO corpus_fts(corpus_fts, rowid, title, text, context, status)
    VALUES ('delete', old.id, old.title, old.text, old.context, old.status);
END;
CREATE TRIGGER corpus_update AFTER UPDATE ON corpus
  WHEN old.title IS NOT new.title OR old.text IS NOT new.text OR old.context IS NOT new.context
    OR old.status IS NOT new.status
BEGIN
  INSERT INTO corpus_fts(corpus_fts, rowid, title, text, context, status)
    VALUES ('delete', old.id, old.title, old.text, old.context, old.status);
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    VALUES (new.id, new.title, new.text, new.context, new.status);
END;

-- what each kind gives to the corpus, and the triggers that keep it: INSERT, UPDATE and DELETE

CREATE VIEW corpus_fact(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16, 'fact', id, '', fact, domain || ' ' || tags, created_at, status, pinned FROM facts;
CREATE TRIGGER facts_found_insert AFTER INSERT ON facts BEGIN
  INSERT INTO corpus SELECT * FROM corpus_fact WHERE record_id = new.id;
END;
CREATE TRIGGER facts_found_update AFTER UPDATE OF domain, fact, tags, status, pinned, created_at ON facts BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_fact WHERE record_id = new.id)
    WHERE id = new.id * 16;
END;
CREATE TRIGGER facts_found_delete AFTER DELETE ON facts BEGIN
  DELETE FROM corpus WHERE id = old.id * 16;
END;

CREATE VIEW corpus_decision(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 1, 'decision', id, title, chosen || char(10) || context || char(10) || rationale, alternatives || ' ' || phase, decided_at, status, 0 FROM decisions;
CREATE TRIGGER decisions_found_insert AFTER INSERT ON decisions BEGIN
  INSERT INTO corpus SELECT * FROM corpus_decision WHERE record_id = new.id;
END;
CREATE TRIGGER decisions_found_update AFTER UPDATE OF title, chosen, context, rationale, alternatives, phase, decided_at, status ON decisions BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_decision WHERE record_id = new.id)
    WHERE id = new.id * 16 + 1;
END;
CREATE TRIGGER decisions_found_delete AFTER DELETE ON decisions BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 1;
END;

CREATE VIEW corpus_commit(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 2, 'commit', id, substr(message, 1, instr(message || char(10), char(10)) - 1), substr(message, instr(message || char(10), char(10)) + 1), author, committed_at, 'active', 0 FROM commits;
CREATE TRIGGER commits_found_insert AFTER INSERT ON commits BEGIN
  INSERT INTO corpus SELECT * FROM corpus_commit WHERE record_id = new.id;
END;
CREATE TRIGGER commits_found_update AFTER UPDATE OF message, author, committed_at ON commits BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_commit WHERE record_id = new.id)
    WHERE id = new.id * 16 + 2;
END;
CREATE TRIGGER commits_found_delete AFTER DELETE ON commits BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 2;
END;

CREATE VIEW corpus_event(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 3, 'event', id, event_type, phase, payload, created_at, 'active', 0 FROM events;
CREATE TRIGGER events_found_insert AFTER INSERT ON events BEGIN
  INSERT INTO corpus SELECT * FROM corpus_event WHERE record_id = new.id;
END;
CREATE TRIGGER events_found_update AFTER UPDATE OF event_type, phase, payload, created_at ON events BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_event WHERE record_id = new.id)
    WHERE id = new.id * 16 + 3;
END;
CREATE TRIGGER events_found_delete AFTER DELETE ON events BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 3;
END;

CREATE VIEW corpus_iteration(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 4, 'iteration', id, command, description, '', started_at, 'active', 0 FROM iterations;
CREATE TRIGGER iterations_found_insert AFTER INSERT ON iterations BEGIN
  INSERT INTO corpus SELECT * FROM corpus_iteration WHERE record_id = new.id;
END;
CREATE TRIGGER iterations_found_update AFTER UPDATE OF command, description, started_at ON iterations BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_iteration WHERE record_id = new.id)
    WHERE id = new.id * 16 + 4;
END;
CREATE TRIGGER iterations_found_delete AFTER DELETE ON iterations BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 4;
END;

CREATE VIEW corpus_task(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 5, 'task', id, '', text, '', created_at, 'active', 0 FROM tasks;
CREATE TRIGGER tasks_found_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO corpus SELECT * FROM corpus_task WHERE record_id = new.id;
END;
CREATE TRIGGER tasks_found_update AFTER UPDATE OF text, created_at ON tasks BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_task WHERE record_id = new.id)
    WHERE id = new.id * 16 + 5;
END;
CREATE TRIGGER tasks_found_delete AFTER DELETE ON tasks BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 5;
END;

CREATE VIEW corpus_checkpoint(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 6, 'checkpoint', id, name, '', '', created_at, 'active', 0 FROM checkpoints;
CREATE TRIGGER checkpoints_found_insert AFTER INSERT ON checkpoints BEGIN
  INSERT INTO corpus SELECT * FROM corpus_checkpoint WHERE record_id = new.id;
END;
CREATE TRIGGER checkpoints_found_update AFTER UPDATE OF name, created_at ON checkpoints BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_checkpoint WHERE record_id = new.id)
    WHERE id = new.id * 16 + 6;
END;
CREATE TRIGGER checkpoints_found_delete AFTER DELETE ON checkpoints BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 6;
END;

