-- Memoranda, schema 7: facts of one session.

-- the session that a fact of scope `session` belongs to, and ends with; empty for every other
ALTER TABLE facts ADD COLUMN session TEXT NOT NULL DEFAULT '';
CREATE INDEX facts_session ON facts(session) WHERE session <> '' AND status = 'active';
