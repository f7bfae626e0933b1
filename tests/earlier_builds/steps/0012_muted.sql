-- Memoranda, schema 12: decisions, tasks and summaries that no agent is sent.

-- operational: records besides facts that a person keeps out of agents' contexts (store/records/mutes.py). Mutes of facts
-- are recorded, in `mutes`.
CREATE TABLE muted(
  key INTEGER PRIMARY KEY NOT NULL, -- store/base/record_keys.py
  at TEXT NOT NULL
);
