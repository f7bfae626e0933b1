-- Memoranda, schema 9: the lists of tasks that agents keep for themselves.

-- operational: which entry of an agent's list became which task (store/doors/hooks/task_list.py). Without a foreign
-- key: a person may take the task away, and it does not come back.
CREATE TABLE agent_tasks(
  task INTEGER PRIMARY KEY NOT NULL,
  session TEXT NOT NULL,
  number TEXT NOT NULL,             -- the client's own number for the entry; empty where it has none
  said TEXT NOT NULL,               -- the entry as the agent wrote it
  seen TEXT NOT NULL                -- when the task last followed the entry: another moment in it is somebody else's
);
CREATE INDEX agent_tasks_session ON agent_tasks(session);
