-- Memoranda, schema 17: decisions and tasks have tags, as facts have.

ALTER TABLE decisions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tasks ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';

-- found by them too; without one nothing of what is found changes
DROP TRIGGER decisions_found_update;
DROP VIEW corpus_decision;
CREATE VIEW corpus_decision(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 1, 'decision', id, title, chosen || char(10) || context || char(10) || rationale,
    alternatives || ' ' || phase || iif(tags = '[]', '', ' ' || tags), decided_at, status, 0 FROM decisions;
CREATE TRIGGER decisions_found_update AFTER UPDATE OF title, chosen, context, rationale, alternatives, phase, decided_at, status, tags ON decisions BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_decision WHERE record_id = new.id)
    WHERE id = new.id * 16 + 1;
END;

DROP TRIGGER tasks_found_update;
DROP VIEW corpus_task;
CREATE VIEW corpus_task(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 5, 'task', id, '', text, iif(tags = '[]', '', tags), created_at, 'active', 0 FROM tasks;
CREATE TRIGGER tasks_found_update AFTER UPDATE OF text, created_at, tags ON tasks BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_task WHERE record_id = new.id)
    WHERE id = new.id * 16 + 5;
END;
