-- Memoranda, schema 10: what an agent wrote in one session is taken back in one step.

-- the step of history that a call made; NULL if none
ALTER TABLE agent_calls ADD COLUMN step INTEGER;
CREATE INDEX agent_calls_session ON agent_calls(session, step) WHERE step IS NOT NULL;
