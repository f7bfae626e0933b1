-- The schema of a memory, whole: a new one is made of this file at once, in one transaction (store/database/schema.py).
-- Ids are AUTOINCREMENT: a citation never comes to mean another record. Times are UTC, ISO 8601 with milliseconds, as
-- text. No primary key may be NULL: sessions would not see the row. A file is known by a digest of its statements, the
-- comments inside of them included, so what a table is for is told before it. A `key` is of store/base/vocabulary.py.

-- recorded: every change is kept in history, can be undone and restored -----------------------------------------------

-- What is known, a sentence each. `session` is the session that a fact of scope `session` belongs to, and ends with;
-- empty for every other. `evidence` and `tags` are JSON lists.
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
, session TEXT NOT NULL DEFAULT '');

-- What was decided, instead of what and why. `confirmed_at` says when a person confirmed a decision that an agent
-- logged; NULL until then. `evidence` is as in `facts`: citations, and what a person bound a decision to.
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
, confirmed_at TEXT, evidence TEXT NOT NULL DEFAULT '[]', tags TEXT NOT NULL DEFAULT '[]');

-- Which commit has to do with which decision.
CREATE TABLE commit_links(
  commit_id INTEGER NOT NULL REFERENCES commits(id),
  decision_id INTEGER NOT NULL REFERENCES decisions(id),
  link_type TEXT NOT NULL CHECK(link_type IN ('implements', 'reverts', 'relates')),
  origin TEXT NOT NULL,
  PRIMARY KEY(commit_id, decision_id)
) WITHOUT ROWID;

-- What is to be done.
CREATE TABLE tasks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('pending', 'in_progress', 'done')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  iteration_id INTEGER REFERENCES iterations(id),
  origin TEXT NOT NULL
, tags TEXT NOT NULL DEFAULT '[]');

-- What is not a person's own word waits here (store/inbox). The facts it is about are named without a foreign key: one
-- that goes meanwhile is told, and not kept from going.
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

-- Facts that a person keeps out of every context (store/records/mutes.py). Without a foreign key: a mute keeps no fact
-- from going, and numbers are never given twice.
CREATE TABLE mutes(
  fact_id INTEGER PRIMARY KEY NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL
) WITHOUT ROWID;

-- journal: rows are only added ----------------------------------------------------------------------------------------

-- Runs of a command of work, with their phases and what they made.
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

-- Commits of the project's repository. `origin` says who told of one: git once it was read from the repository.
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
, origin TEXT NOT NULL DEFAULT 'git');

-- What happened while an iteration ran, or outside of any.
CREATE TABLE events(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iteration_id INTEGER REFERENCES iterations(id),
  event_type TEXT NOT NULL,
  phase TEXT NOT NULL DEFAULT '',
  payload TEXT NOT NULL DEFAULT 'null',
  created_at TEXT NOT NULL,
  origin TEXT NOT NULL
);

-- States that can be gone back to, and what an agent needs to go on from there. `digest` is of all but `recovered_at`
-- (store/history/checkpoint_payload.py); empty for one of schema 1 or 2.
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
  entities TEXT NOT NULL DEFAULT '[]',  -- JSON: what these texts name, as they write it
  digest BLOB NOT NULL DEFAULT x''  -- of all these but recovered_at (store/contents.py); empty before this schema
);

-- What was said in conversations. `tokens` is NULL until it was counted; `continuity` is the calibrated similarity to
-- the turn before, NULL while it is unknown.
CREATE TABLE turns(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  number INTEGER NOT NULL CHECK(number > 0),
  role TEXT NOT NULL CHECK(role IN ('user', 'assistant')),
  speaker TEXT NOT NULL,            -- a name, where the source has one
  text TEXT NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL, tokens INTEGER CHECK(tokens >= 0), continuity REAL,
  UNIQUE(session, number)
);

-- Three turns in a few words, written once; the newest four of a session are its active ones.
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

-- The steps of history, a chain of digests: one for each transaction that changed a recorded table.
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

-- The rows that a step changed.
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

-- packed: a journal too, in another form ------------------------------------------------------------------------------

-- Rows of history_row that are old, about a thousand together (store/history/compression.py): a row stands here or
-- there, never in both.
CREATE TABLE history_block(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  purged INTEGER NOT NULL,          -- how many of them are of records that were purged
  records BLOB NOT NULL,            -- which records are in it: sorted hashes of 32 bits, little-endian
  directory BLOB NOT NULL,          -- zlib: of each row all but its texts
  texts BLOB NOT NULL,              -- zlib: before and after
  salts BLOB NOT NULL               -- and the leaves of rows that have no salt
);

-- operational: of this machine and this moment, without history, not exported -----------------------------------------

-- What is known of the file: `schema_version`, `created_at`, `fts_enabled`, `identity`, and what parts of the store
-- keep here.
CREATE TABLE meta(
  key TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Who does the background work, and until when (store/database/lease.py).
CREATE TABLE leases(
  name TEXT PRIMARY KEY NOT NULL,
  holder TEXT NOT NULL,
  expires_at TEXT NOT NULL
) WITHOUT ROWID;

-- What was asked in the search bar, newest last; a query asked again moves to the end. `times` counts how often
-- somebody went on from it.
CREATE TABLE queries(
  text TEXT PRIMARY KEY NOT NULL,
  at TEXT NOT NULL
, times INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;

-- The last searches that somebody went on from: figures, and none of their words.
CREATE TABLE searches(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  milliseconds REAL NOT NULL,
  meaning INTEGER NOT NULL CHECK(meaning IN (0, 1)),  -- whether a model had a part in the answer
  found INTEGER NOT NULL
);

-- How often a person opened a record: one of the signals of its importance.
CREATE TABLE accesses(
  key INTEGER PRIMARY KEY,          -- store/keys.py
  count INTEGER NOT NULL,
  at TEXT NOT NULL
);

-- The words of a date, so that “last May” or “en mayo” meets what was said then.
CREATE TABLE month_words(month TEXT PRIMARY KEY NOT NULL, words TEXT NOT NULL) WITHOUT ROWID;

-- The backups that were made of this memory, by their names in `backups` beside it.
CREATE TABLE backups(
  name TEXT PRIMARY KEY NOT NULL,
  made_at TEXT NOT NULL,
  scheduled INTEGER NOT NULL CHECK(scheduled IN (0, 1)),  -- by hand: kept until somebody removes it
  step INTEGER NOT NULL,            -- of history, the newest in it
  sums TEXT NOT NULL,               -- a JSON object: each table's checksum, as an export has it
  digest TEXT NOT NULL,             -- SHA-256 of the file
  verified_at TEXT,
  problem TEXT NOT NULL DEFAULT ''  -- what the last look found; empty if it was whole
) WITHOUT ROWID;

-- A keyed hash of each text that was purged, never the text (store/database/erasure); the key is in `meta`.
CREATE TABLE tombstones(
  hash BLOB PRIMARY KEY NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;

-- What a writer from outside was answered, by the digest of the key it gave: asked again, it gets the same answer.
CREATE TABLE answers(
  key TEXT PRIMARY KEY NOT NULL,
  answer TEXT NOT NULL,             -- the ids that were made, parted by spaces
  at TEXT NOT NULL
) WITHOUT ROWID;

-- Where a secret was cut out of what was written: the place and the rule, never the value nor anything made from it.
-- One row for a field and a rule, of the first time.
CREATE TABLE redactions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  rule TEXT NOT NULL,               -- a label of store/redaction
  tbl TEXT NOT NULL,
  record INTEGER NOT NULL,          -- the row's id
  field TEXT NOT NULL,              -- a column
  count INTEGER NOT NULL,
  actor TEXT NOT NULL,
  door TEXT NOT NULL,
  UNIQUE(tbl, record, field, rule)
);

-- Where a conversation came from, and whether it is over.
CREATE TABLE sessions(
  id TEXT PRIMARY KEY NOT NULL,     -- what turns call it
  started_at TEXT NOT NULL,
  ended_at TEXT,
  source TEXT NOT NULL DEFAULT '',  -- the file that it was read from; empty if its turns were told one by one
  cwd TEXT NOT NULL DEFAULT '',
  flushed INTEGER NOT NULL DEFAULT 0  -- up to which number its turns were flushed (store/flushing.py)
) WITHOUT ROWID;

-- How far a file of turns was read, and how to see that it is not the same any more.
CREATE TABLE sources(
  path TEXT PRIMARY KEY NOT NULL,
  size INTEGER NOT NULL,            -- bytes that were read
  looked INTEGER NOT NULL DEFAULT 0,  -- how many there were when it was last looked at: the last line may be unfinished
  lines INTEGER NOT NULL,
  mark BLOB NOT NULL,               -- a digest of the first of them and the last
  at TEXT NOT NULL
) WITHOUT ROWID;

-- What was read once, by a keyed digest of what tells one line from another: it is not taken in again.
CREATE TABLE ingested(key BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;

-- Greetings, thanks, what tools wrote: for a day, and never in a search or a prompt.
CREATE TABLE discarded(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL
);

-- Turns that are still to be read for facts, by rule or by a model. An entry comes with its turn and goes with what was
-- learned from it; without a foreign key, for a turn may be purged first.
CREATE TABLE "pending_extraction"(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  turn INTEGER NOT NULL,
  task TEXT NOT NULL CHECK(task IN ('extract_facts', 'reconfirm', 'model.extract_facts', 'model.reconfirm')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at TEXT NOT NULL,            -- not before then
  error TEXT NOT NULL DEFAULT '',   -- of the last attempt, without any record's text
  UNIQUE(turn, task)
);

-- Facts that their person has just remembered, and that nobody compared with the others yet.
CREATE TABLE uncompared(fact INTEGER PRIMARY KEY NOT NULL);

-- Which of the thresholds of its context window a session has passed, in percent; 0 for none.
CREATE TABLE context_usage(
  session TEXT PRIMARY KEY NOT NULL,
  threshold INTEGER NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;

-- The contexts that agents were handed, the newest some hundred.
CREATE TABLE contexts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session TEXT NOT NULL,
  turn INTEGER NOT NULL,            -- the number of the session's last turn then; 0 while none was known
  question TEXT NOT NULL,
  tokens INTEGER NOT NULL,          -- of all of it, as store/tokens.py counts
  answered INTEGER                  -- whether its answer had the form that was asked for; NULL until it came
);

-- The records that were in one of `contexts`, and whether its answer cited them.
CREATE TABLE sent(
  context INTEGER NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
  key INTEGER NOT NULL,             -- store/keys.py
  tokens INTEGER NOT NULL,
  cited INTEGER NOT NULL DEFAULT 0 CHECK(cited IN (0, 1)),
  PRIMARY KEY(context, key)
) WITHOUT ROWID;

-- Answers to questions whose answer does not depend on the moment, a day at most.
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

-- How often a model was asked for each task, and what came of it.
CREATE TABLE model_use(
  task TEXT PRIMARY KEY NOT NULL,
  asked INTEGER NOT NULL DEFAULT 0,
  valid INTEGER NOT NULL DEFAULT 0,    -- answers that could be used
  fell_back INTEGER NOT NULL DEFAULT 0,  -- a rule answered in its place
  last_ms INTEGER NOT NULL DEFAULT 0,
  total_ms INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT '',       -- of the last failure; empty where the last answer was good
  model TEXT NOT NULL DEFAULT '',
  at TEXT NOT NULL
) WITHOUT ROWID;

-- The last calls of the model, for a day. No text of it is searched or sent to a model.
CREATE TABLE model_calls(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  task TEXT NOT NULL,
  model TEXT NOT NULL,
  ms INTEGER NOT NULL,
  answer TEXT NOT NULL,              -- empty where none came
  dropped TEXT NOT NULL DEFAULT '',  -- why the answer, or a part of it, was not used
  fallback TEXT NOT NULL DEFAULT ''  -- what was used in its place
);

-- Which agent a session is of.
CREATE TABLE agent_sessions(
  session TEXT PRIMARY KEY NOT NULL,
  client TEXT NOT NULL,             -- claude-code, codex …
  model TEXT NOT NULL DEFAULT '',   -- as the agent says
  started_at TEXT NOT NULL,
  last_at TEXT NOT NULL
) WITHOUT ROWID;

-- What agents asked for, the newest some thousand. `step` is the step of history that a call made; NULL if none.
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
, step INTEGER);

-- Which entry of an agent's list became which task. Without a foreign key: a person may take the task away, and it does
-- not come back.
CREATE TABLE agent_tasks(
  task INTEGER PRIMARY KEY NOT NULL,
  session TEXT NOT NULL,
  number TEXT NOT NULL,             -- the client's own number for the entry; empty where it has none
  said TEXT NOT NULL,               -- the entry as the agent wrote it
  seen TEXT NOT NULL                -- when the task last followed the entry: another moment in it is somebody else's
);

-- What was put into an agent's context, the newest some hundred.
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

-- The records that were in one of `injections`, why, and whether the reply cited them.
CREATE TABLE injected(
  injection INTEGER NOT NULL REFERENCES injections(id) ON DELETE CASCADE,
  key INTEGER NOT NULL,             -- store/base/record_keys.py
  why TEXT NOT NULL,                -- in our own words
  used INTEGER NOT NULL DEFAULT 0 CHECK(used IN (0, 1)),
  PRIMARY KEY(injection, key)
) WITHOUT ROWID;

-- Records besides facts that a person keeps out of agents' contexts. Mutes of facts are recorded, in `mutes`.
CREATE TABLE muted(
  key INTEGER PRIMARY KEY NOT NULL, -- store/base/record_keys.py
  at TEXT NOT NULL
);

-- The files that a person asked to keep in sync (store/sync).
CREATE TABLE synced_files(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,        -- as documents are cited
  version INTEGER NOT NULL,         -- of the section that was written last
  digest BLOB NOT NULL DEFAULT x'', -- of the content that was read or written last
  modified_ns INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  inode INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,  -- of history, up to which the file has everything
  day TEXT NOT NULL DEFAULT '',     -- when it was looked at: facts age by the day
  head TEXT NOT NULL DEFAULT '',    -- the commit that was checked out then; empty outside of git
  own TEXT NOT NULL DEFAULT '[]',   -- digests of the lines outside of the section that a person accepted
  problem TEXT NOT NULL DEFAULT ''  -- why it could not be read or written the last time
);

-- The lines of a file's section, by the fact that each cites, and from which version to which.
CREATE TABLE synced_lines(
  file INTEGER NOT NULL REFERENCES synced_files(id) ON DELETE CASCADE,
  fact INTEGER NOT NULL,
  first INTEGER NOT NULL,
  seen INTEGER NOT NULL CHECK(seen IN (0, 1)), -- 1: not written so, but read from a file of that version and taken
  last INTEGER,                     -- NULL while the newest version has it
  digest BLOB NOT NULL,             -- of the text, keyed: the text itself is in the file
  PRIMARY KEY(file, fact, first, seen)
) WITHOUT ROWID;

-- What was changed in a file and waits in the inbox; a fact of 0 is a new line, an empty digest a deleted one.
CREATE TABLE synced_proposals(
  file INTEGER NOT NULL REFERENCES synced_files(id) ON DELETE CASCADE,
  fact INTEGER NOT NULL,
  digest BLOB NOT NULL,
  proposal INTEGER NOT NULL,
  last INTEGER,                     -- the version in which the change still was when it was decided
  PRIMARY KEY(file, fact, digest)
) WITHOUT ROWID;

-- What was seen the last time, of every item of a record's evidence that can be looked at (store/evidence).
CREATE TABLE evidence_looks(
  record INTEGER NOT NULL,          -- store/base/record_keys.py
  item TEXT NOT NULL,               -- as in the record's evidence
  state INTEGER NOT NULL CHECK(state BETWEEN 0 AND 4), -- 0 not looked at, 1 holds, 2 moved, 3 changed, 4 gone
  place TEXT NOT NULL DEFAULT '',   -- where it is now, if it moved or changed
  digest TEXT NOT NULL DEFAULT '',  -- of what a command or an address gave the first time it was run here
  at TEXT NOT NULL,
  PRIMARY KEY(record, item)
) WITHOUT ROWID;

-- One row for each move of a fact between a project's memory and the person's own one, in both files under the same
-- token. It has begun in the project's file before anything is changed; what is found so when the file is opened is
-- finished or taken back (store/history/two_files.py).
CREATE TABLE moves(
  token TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('out', 'in', 'undo')),  -- to the personal memory, from it, either taken back
  state TEXT NOT NULL CHECK(state IN ('begun', 'done')),
  door TEXT NOT NULL,
  fact INTEGER,                     -- in the project's file
  own INTEGER,                      -- in the personal one
  step INTEGER,                     -- of history here
  other INTEGER,                    -- of history in the personal file
  undoes INTEGER,                   -- the step of history here that is taken back
  project TEXT NOT NULL DEFAULT '', -- in the personal file: the file of the project
  at TEXT NOT NULL
) WITHOUT ROWID;

-- derived: made anew from the others, by store/search/corpus.py, store/documents and store/embedding ------------------

-- Markdown files that are searched.
CREATE TABLE documents(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,        -- as it is cited: below the root with /, else absolute
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  digest BLOB NOT NULL,
  at TEXT NOT NULL,                 -- the date in its name, else when it was changed
  evergreen INTEGER NOT NULL CHECK(evergreen IN (0, 1)),
  lines INTEGER NOT NULL,
  problem TEXT NOT NULL             -- why it, or the rest of it, is not in the index; empty if all of it is
);

-- The parts of a document, as its headings divide it.
CREATE TABLE chunks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK(last >= first),
  heading TEXT NOT NULL,            -- the headings above it, outermost first, joined by ' › '
  text TEXT NOT NULL
);

-- One row for each thing that can be found. id = record_id * 16 + the kind's number, so that a rebuild, an undo and a
-- redo all give the row the same id. The views corpus_* say what each kind gives; triggers keep it.
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

-- Where in the project a record was made, its key as in `corpus`.
CREATE TABLE checkouts(id INTEGER PRIMARY KEY, branch TEXT NOT NULL, worktree TEXT NOT NULL, folder TEXT NOT NULL,
  UNIQUE(branch, worktree, folder));
CREATE TABLE made_in(key INTEGER PRIMARY KEY, checkout INTEGER NOT NULL REFERENCES checkouts(id));

-- The passages of each row of the corpus (store/text/passages.py): characters start to end of its text, from `line` on.
-- id = the passage's number in its text * 2^40 + the row: the first passage's id is the row's own.
CREATE TABLE passages(
  id INTEGER PRIMARY KEY,
  row INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  line INTEGER NOT NULL,
  code INTEGER NOT NULL             -- code, a log, a table, what a tool printed
);

-- The words of the passages.
CREATE VIRTUAL TABLE corpus_fts USING fts5(
  title, text, context, status,     -- status among them, so that a search need not look every match up
  content = 'passage_texts', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2',
  prefix = '1 2 3'
);

-- Each of these words, and how often it occurs.
CREATE VIRTUAL TABLE corpus_words USING fts5vocab('corpus_fts', 'row');

-- Meaning: the models of which there are vectors. While a new model's are made in one slot, the other serves.
CREATE TABLE embedding_models(
  slot INTEGER PRIMARY KEY CHECK(slot IN (0, 1)),
  fingerprint TEXT NOT NULL,        -- provider, model, dimension, and the form of what is embedded
  dimension INTEGER NOT NULL,
  zero REAL NOT NULL,               -- the cosine of unrelated texts (median): calibrated similarity 0
  one REAL NOT NULL,                -- the cosine of paraphrases (median): calibrated similarity 1
  mean BLOB NOT NULL,               -- the mean vector of the calibration texts: what all texts have in common
  serving INTEGER NOT NULL CHECK(serving IN (0, 1)),
  created_at TEXT NOT NULL
);

-- Vectors (32-bit floats, little-endian, unit length) by a digest of model and text, so that a text is embedded once
-- for each model; those that nothing refers to any more are a cache.
CREATE TABLE embeddings(
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  vector BLOB NOT NULL,
  used_at TEXT NOT NULL
);

-- Which of the embeddings is whose: key = the passage's id * 2 + the model's slot.
CREATE TABLE vectors(
  key INTEGER PRIMARY KEY,
  embedding INTEGER NOT NULL REFERENCES embeddings(id)
);

-- The signs of the vectors' numbers, packed: by them a search by meaning chooses which vectors it compares. Some
-- thousand records of one kind together.
CREATE TABLE vector_blocks(
  id INTEGER PRIMARY KEY,           -- block * 2 + the model's slot
  ids BLOB NOT NULL,                -- rows of the corpus: whole numbers of 64 bits, little-endian
  signs BLOB NOT NULL               -- for each of them its vector's signs, in whole words of 64 bits
);

-- Passages whose vector is missing, or that are gone and may still stand in a cache of vectors; `rank` says what goes
-- first: see passage_ranks. It is sorted when it is read, once in some seconds.
CREATE TABLE embedding_queue(id INTEGER PRIMARY KEY, rank INTEGER NOT NULL DEFAULT 0);

-- What the vectors of this memory have in common, so that it can be taken out of them.
CREATE TABLE meaning_space(
  slot INTEGER PRIMARY KEY CHECK(slot IN (0, 1)),
  fingerprint TEXT NOT NULL,
  vectors INTEGER NOT NULL,         -- how many there were
  centres BLOB NOT NULL,            -- three vectors: of all, of the English, of the Spanish
  turn BLOB NOT NULL                -- a symmetric matrix, dimension × dimension
);

-- indexes -------------------------------------------------------------------------------------------------------------

CREATE INDEX facts_supersedes ON facts(supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX facts_text_hash ON facts(text_hash) WHERE status = 'active';
-- the last two columns: to count states
CREATE INDEX facts_age ON facts(status, last_confirmed_at, id, confidence, pinned);
CREATE INDEX facts_domain ON facts(status, domain, last_confirmed_at, id);
-- what was forgotten or superseded is asked for by its text before old words may bring it back
CREATE INDEX facts_text_hash_gone ON facts(text_hash) WHERE status <> 'active';
CREATE INDEX facts_session ON facts(session) WHERE session <> '' AND status = 'active';
-- those that every pack thinks of first
CREATE INDEX facts_pinned ON facts(importance DESC, last_confirmed_at DESC, id) WHERE pinned AND status = 'active';
CREATE INDEX idx_decisions_iteration ON decisions(iteration_id);
CREATE INDEX decisions_supersedes ON decisions(supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX decisions_at ON decisions(decided_at, id);
CREATE INDEX commit_links_decision ON commit_links(decision_id);
CREATE INDEX tasks_iteration ON tasks(iteration_id);
CREATE INDEX proposals_waiting ON proposals(state, created_at, id);
CREATE INDEX proposals_asked ON proposals(asked, origin);
CREATE INDEX idx_iterations_status ON iterations(status);
CREATE INDEX iterations_at ON iterations(started_at, id);
CREATE INDEX idx_commits_iteration ON commits(iteration_id);
CREATE INDEX commits_at ON commits(committed_at, id);
CREATE INDEX idx_events_iteration ON events(iteration_id);
CREATE INDEX idx_events_type ON events(event_type);
CREATE INDEX events_at ON events(created_at, id);
CREATE INDEX checkpoints_at ON checkpoints(created_at, id);
CREATE INDEX checkpoints_level ON checkpoints(level, id);
CREATE INDEX checkpoints_session ON checkpoints(session, id);
CREATE INDEX turns_at ON turns(at, id);
CREATE INDEX turns_uncounted ON turns(id) WHERE tokens IS NULL;
CREATE INDEX summaries_at ON summaries(created_at, id);
CREATE INDEX history_undoes ON history(undoes) WHERE undoes IS NOT NULL;
CREATE INDEX history_undone_by ON history(undone_by) WHERE undone_by IS NOT NULL;
-- an actor's steps in force are found by it too, as few are undone; the step's number is part of every index
CREATE INDEX history_actor ON history(actor);
CREATE INDEX history_row_pk ON history_row(tbl, pk, seq);
CREATE INDEX history_row_purged ON history_row(tbl, pk, seq) WHERE purged = 1;
CREATE INDEX history_block_seq ON history_block(first_seq, last_seq);
CREATE INDEX backups_at ON backups(made_at);
CREATE INDEX answers_at ON answers(at);
CREATE INDEX redactions_at ON redactions(at, id);
CREATE INDEX sessions_open ON sessions(started_at) WHERE ended_at IS NULL;
CREATE INDEX discarded_at ON discarded(at);
-- the order in which they are taken
CREATE INDEX pending_extraction_next ON pending_extraction(attempts, id);
-- the same, of those for a model
CREATE INDEX pending_extraction_model ON pending_extraction(attempts, id DESC) WHERE task GLOB 'model.*';
CREATE INDEX contexts_session ON contexts(session, turn);
CREATE INDEX answers_cache_at ON answers_cache(at);
CREATE INDEX agent_sessions_client ON agent_sessions(client, last_at);
CREATE INDEX agent_calls_client ON agent_calls(client, at);
CREATE INDEX agent_calls_session ON agent_calls(session, step) WHERE step IS NOT NULL;
CREATE INDEX agent_tasks_session ON agent_tasks(session);
CREATE INDEX injections_session ON injections(session, id);
CREATE INDEX injected_key ON injected(key, injection);
CREATE INDEX moves_step ON moves(step) WHERE step IS NOT NULL;
CREATE INDEX moves_begun ON moves(at) WHERE state = 'begun';
CREATE INDEX moves_own ON moves(own);
CREATE INDEX moves_fact ON moves(fact);
CREATE INDEX chunks_document ON chunks(document_id, first);
CREATE INDEX corpus_at ON corpus(at, id);
CREATE INDEX passages_row ON passages(row);
CREATE INDEX vectors_embedding ON vectors(embedding);

-- views: what each kind gives to the corpus, and what the passages are ------------------------------------------------

CREATE VIEW corpus_fact(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16, 'fact', id, '', fact, domain || ' ' || tags, created_at, status, pinned FROM facts;

CREATE VIEW corpus_decision(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 1, 'decision', id, title, chosen || char(10) || context || char(10) || rationale,
    alternatives || ' ' || phase || iif(tags = '[]', '', ' ' || tags), decided_at, status, 0 FROM decisions;

CREATE VIEW corpus_commit(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 2, 'commit', id, substr(message, 1, instr(message || char(10), char(10)) - 1), substr(message, instr(message || char(10), char(10)) + 1), author, committed_at, 'active', 0 FROM commits;

CREATE VIEW corpus_event(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 3, 'event', id, event_type, phase, payload, created_at, 'active', 0 FROM events;

CREATE VIEW corpus_iteration(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 4, 'iteration', id, command, description, '', started_at, 'active', 0 FROM iterations;

CREATE VIEW corpus_task(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 5, 'task', id, '', text, iif(tags = '[]', '', tags), created_at, 'active', 0 FROM tasks;

-- those taken every few minutes say what the next says again, and are gone within days: they are not searched
CREATE VIEW corpus_checkpoint(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT id * 16 + 6, 'checkpoint', id, name, summary,
    coalesce((SELECT group_concat(value, ' ') FROM json_each(iif(json_valid(entities), entities, '[]'))), ''), created_at, 'active', 0
  FROM checkpoints WHERE trigger <> 'interval' OR level = 'archival';

-- a short turn is found by its neighbours' words too, if they are short: the two before and the one after it
CREATE VIEW corpus_turn(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT t.id * 16 + 7, 'turn', t.id, t.speaker, t.text,
    ltrim(substr(t.at, 9, 2), '0') || ' ' || (SELECT words FROM month_words WHERE month = substr(t.at, 6, 2))
      || ' ' || substr(t.at, 1, 4) || char(10)
      || iif(length(t.text) > 400, '', coalesce((SELECT group_concat(n.text, char(10)) FROM turns n
        WHERE n.session = t.session AND n.number BETWEEN t.number - 2 AND t.number + 1 AND n.id <> t.id
          AND length(n.text) <= 400), '')),
    t.at, 'active', 0 FROM turns t;

CREATE VIEW corpus_document(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT c.id * 16 + 8, 'document', c.id, c.heading, c.text,
    d.path || ' ' || ltrim(substr(d.at, 9, 2), '0') || ' '
      || (SELECT words FROM month_words WHERE month = substr(d.at, 6, 2)) || ' ' || substr(d.at, 1, 4),
    d.at, 'active', d.evergreen FROM chunks c JOIN documents d ON d.id = c.document_id;

CREATE VIEW corpus_summary(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT s.id * 16 + 9, 'summary', s.id, s.topic,
    trim((SELECT coalesce(group_concat(value, '; '), '') FROM json_each(s.discussed)) || char(10) || s.outcome || char(10)
      || (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(s.decisions)) || char(10)
      || (SELECT coalesce(group_concat(value, char(10)), '') FROM json_each(s.open_questions)), char(10)),
    '', s.created_at, 'active', 0 FROM summaries s;

-- what of a passage is looked through: `identifiers` gives the words inside of names like getUserName; functions are
-- given text as bytes, as a damaged file may hold text that is not UTF-8
CREATE VIEW passage_texts(id, title, text, context, status) AS
  SELECT p.id, c.title, substr(c.text, p.start + 1, p.end - p.start),
    c.context || identifiers(CAST(substr(c.text, p.start + 1, p.end - p.start) AS BLOB)),
    c.status || iif(p.code, ' code', '')
  FROM passages p JOIN corpus c ON c.id = p.row;

-- what is embedded first: facts and decisions, then a person's own words, then the words of others. Code has no
-- vectors: in one chat about code (18 questions) as much was found without them, and half of its text is code
CREATE VIEW passage_ranks(id, row, rank) AS
  SELECT p.id, p.row, CASE WHEN p.row & 15 < 2 THEN 0
    WHEN p.row & 15 = 8 OR EXISTS (SELECT 1 FROM turns t WHERE p.row & 15 = 7 AND t.id = p.row >> 4 AND t.role <> 'user')
      THEN 2 ELSE 1 END
  FROM passages p WHERE NOT p.code OR p.row & 15 < 2;

-- triggers ------------------------------------------------------------------------------------------------------------

-- the corpus follows the records
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
CREATE TRIGGER decisions_found_insert AFTER INSERT ON decisions BEGIN
  INSERT INTO corpus SELECT * FROM corpus_decision WHERE record_id = new.id;
END;
CREATE TRIGGER decisions_found_update AFTER UPDATE OF title, chosen, context, rationale, alternatives, phase, decided_at, status, tags ON decisions BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_decision WHERE record_id = new.id)
    WHERE id = new.id * 16 + 1;
END;
CREATE TRIGGER decisions_found_delete AFTER DELETE ON decisions BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 1;
END;
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
CREATE TRIGGER tasks_found_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO corpus SELECT * FROM corpus_task WHERE record_id = new.id;
END;
CREATE TRIGGER tasks_found_update AFTER UPDATE OF text, created_at, tags ON tasks BEGIN
  UPDATE corpus SET (title, text, context, at, status, evergreen) =
    (SELECT title, text, context, at, status, evergreen FROM corpus_task WHERE record_id = new.id)
    WHERE id = new.id * 16 + 5;
END;
CREATE TRIGGER tasks_found_delete AFTER DELETE ON tasks BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 5;
END;
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
CREATE TRIGGER turns_found_insert AFTER INSERT ON turns BEGIN
  INSERT INTO corpus SELECT * FROM corpus_turn WHERE record_id = new.id;
  UPDATE corpus SET context = (SELECT context FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE length(new.text) <= 400 AND id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = new.session AND number BETWEEN new.number - 1 AND new.number + 2 AND id <> new.id);
END;
CREATE TRIGGER turns_found_update AFTER UPDATE OF session, number, speaker, text, at ON turns BEGIN
  UPDATE corpus SET (title, text, context, at) =
    (SELECT title, text, context, at FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = new.session AND number BETWEEN new.number - 1 AND new.number + 2);
END;
CREATE TRIGGER turns_found_delete AFTER DELETE ON turns BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 7;
  UPDATE corpus SET context = (SELECT context FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE length(old.text) <= 400 AND id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = old.session AND number BETWEEN old.number - 1 AND old.number + 2);
END;
CREATE TRIGGER chunks_found_insert AFTER INSERT ON chunks BEGIN
  INSERT INTO corpus SELECT * FROM corpus_document WHERE record_id = new.id;
END;
CREATE TRIGGER chunks_found_update AFTER UPDATE OF heading, text ON chunks BEGIN
  UPDATE corpus SET (title, text, context, at, evergreen) =
    (SELECT title, text, context, at, evergreen FROM corpus_document WHERE record_id = new.id)
    WHERE id = new.id * 16 + 8;
END;
CREATE TRIGGER chunks_found_delete AFTER DELETE ON chunks BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 8;
END;
CREATE TRIGGER documents_found_update AFTER UPDATE OF path, at, evergreen ON documents BEGIN
  UPDATE corpus SET (title, text, context, at, evergreen) =
    (SELECT title, text, context, at, evergreen FROM corpus_document v WHERE v.record_id = corpus.record_id)
    WHERE id IN (SELECT id * 16 + 8 FROM chunks WHERE document_id = new.id);
END;
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

-- the passages and the words follow the corpus. Most texts are one short line of words, so one passage: its row and its
-- words are written as they are, without JSON and without reading both rows back
CREATE TRIGGER corpus_insert AFTER INSERT ON corpus WHEN one_passage(CAST(new.text AS BLOB)) BEGIN
  INSERT INTO passages VALUES (new.id, new.id, 0, length(new.text), 1, 0);
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    VALUES (new.id, new.title, new.text, new.context || identifiers(CAST(new.text AS BLOB)), new.status);
END;
CREATE TRIGGER corpus_insert_passages AFTER INSERT ON corpus WHEN NOT one_passage(CAST(new.text AS BLOB)) BEGIN
  INSERT INTO passages SELECT new.id | (j.key << 40), new.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3
    FROM json_each(passages_of(CAST(new.text AS BLOB))) j;
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    SELECT id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = new.id);
END;
CREATE TRIGGER corpus_leave BEFORE UPDATE ON corpus
  WHEN old.title IS NOT new.title OR old.text IS NOT new.text OR old.context IS NOT new.context
    OR old.status IS NOT new.status
BEGIN
  INSERT INTO corpus_fts(corpus_fts, rowid, title, text, context, status)
    SELECT 'delete', id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = old.id);
  DELETE FROM passages WHERE row = old.id AND (old.title IS NOT new.title OR old.text IS NOT new.text);
END;
CREATE TRIGGER corpus_return AFTER UPDATE ON corpus
  WHEN old.title IS NOT new.title OR old.text IS NOT new.text OR old.context IS NOT new.context
    OR old.status IS NOT new.status
BEGIN
  INSERT INTO passages SELECT new.id | (j.key << 40), new.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3
    FROM json_each(passages_of(CAST(new.text AS BLOB))) j WHERE old.title IS NOT new.title OR old.text IS NOT new.text;
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    SELECT id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = new.id);
END;
CREATE TRIGGER corpus_delete BEFORE DELETE ON corpus BEGIN
  INSERT INTO corpus_fts(corpus_fts, rowid, title, text, context, status)
    SELECT 'delete', id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = old.id);
  DELETE FROM passages WHERE row = old.id;
END;

-- the vectors follow the passages
CREATE TRIGGER passages_meant_insert AFTER INSERT ON passages BEGIN
  INSERT OR IGNORE INTO embedding_queue(id, rank) SELECT id, rank FROM passage_ranks WHERE id = new.id;
END;
CREATE TRIGGER passages_meant_delete AFTER DELETE ON passages BEGIN
  DELETE FROM vectors WHERE key IN (old.id * 2, old.id * 2 + 1);
  INSERT OR IGNORE INTO embedding_queue(id, rank) VALUES (old.id, 0);
END;

-- what was seen of evidence goes with it
CREATE TRIGGER facts_evidence_update AFTER UPDATE OF evidence ON facts WHEN old.evidence IS NOT new.evidence BEGIN
  DELETE FROM evidence_looks WHERE record = new.id * 16
    AND item NOT IN (SELECT value FROM json_each(iif(json_valid(new.evidence), new.evidence, '[]')));
END;
CREATE TRIGGER facts_evidence_delete AFTER DELETE ON facts BEGIN
  DELETE FROM evidence_looks WHERE record = old.id * 16;
END;
CREATE TRIGGER decisions_evidence_update AFTER UPDATE OF evidence ON decisions WHEN old.evidence IS NOT new.evidence BEGIN
  DELETE FROM evidence_looks WHERE record = new.id * 16 + 1
    AND item NOT IN (SELECT value FROM json_each(iif(json_valid(new.evidence), new.evidence, '[]')));
END;
CREATE TRIGGER decisions_evidence_delete AFTER DELETE ON decisions BEGIN
  DELETE FROM evidence_looks WHERE record = old.id * 16 + 1;
END;

-- the rows that a new memory has --------------------------------------------------------------------------------------

INSERT INTO month_words(month, words) VALUES
  ('01', 'january enero'), ('02', 'february febrero'), ('03', 'march marzo'),
  ('04', 'april abril'), ('05', 'may mayo'), ('06', 'june junio'),
  ('07', 'july julio'), ('08', 'august agosto'), ('09', 'september septiembre'),
  ('10', 'october octubre'), ('11', 'november noviembre'), ('12', 'december diciembre');
-- 1, since no memory is made without FTS5: corpus_fts is one of its tables
INSERT INTO meta(key, value) VALUES ('fts_enabled', '1');
