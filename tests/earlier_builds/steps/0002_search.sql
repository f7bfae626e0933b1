-- Memoranda, schema 2: conversations, documents and meaning join what can be found.

-- journal --------------------------------------------------------------------------------------------------------

CREATE TABLE turns(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  number INTEGER NOT NULL CHECK(number > 0),
  role TEXT NOT NULL CHECK(role IN ('user', 'assistant')),
  speaker TEXT NOT NULL,            -- a name, where the source has one
  text TEXT NOT NULL,
  at TEXT NOT NULL,
  origin TEXT NOT NULL,
  UNIQUE(session, number)
);
CREATE INDEX turns_at ON turns(at, id);

-- operational ----------------------------------------------------------------------------------------------------

-- what was asked in the search bar, newest last; a query asked again moves to the end
CREATE TABLE queries(
  text TEXT PRIMARY KEY NOT NULL,
  at TEXT NOT NULL
) WITHOUT ROWID;

-- how often a person opened a record: one of the signals of its importance [002]
CREATE TABLE accesses(
  key INTEGER PRIMARY KEY,          -- store/keys.py
  count INTEGER NOT NULL,
  at TEXT NOT NULL
);

-- derived --------------------------------------------------------------------------------------------------------

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

CREATE TABLE chunks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL CHECK(last >= first),
  heading TEXT NOT NULL,            -- the headings above it, outermost first, joined by ' › '
  text TEXT NOT NULL
);
CREATE INDEX chunks_document ON chunks(document_id, first);

-- Meaning. A text is embedded once for each model: `embeddings` holds the vectors (32-bit floats, little-endian, unit
-- length) by a digest of model and text, those that nothing refers to any more being a cache. `vectors` says which one
-- is whose: key = the corpus id * 2 + the model's slot. While a new model's are made in one slot, the other serves.
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
CREATE TABLE embeddings(
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  vector BLOB NOT NULL,
  used_at TEXT NOT NULL
);
CREATE TABLE vectors(
  key INTEGER PRIMARY KEY,
  embedding INTEGER NOT NULL REFERENCES embeddings(id)
);
CREATE INDEX vectors_embedding ON vectors(embedding);
-- rows of the corpus whose vector is missing, or that are gone and may still stand in a cache of vectors
CREATE TABLE embedding_queue(id INTEGER PRIMARY KEY);
CREATE INDEX embedding_queue_first ON embedding_queue(id) WHERE id & 15 < 2;  -- facts and decisions go first

CREATE TRIGGER corpus_meant_insert AFTER INSERT ON corpus BEGIN
  INSERT OR IGNORE INTO embedding_queue(id) VALUES (new.id);
END;
CREATE TRIGGER corpus_meant_update AFTER UPDATE ON corpus
  WHEN old.title IS NOT new.title OR old.text IS NOT new.text
BEGIN
  DELETE FROM vectors WHERE key IN (old.id * 2, old.id * 2 + 1);
  INSERT OR IGNORE INTO embedding_queue(id) VALUES (new.id);
END;
CREATE TRIGGER corpus_meant_delete AFTER DELETE ON corpus BEGIN
  DELETE FROM vectors WHERE key IN (old.id * 2, old.id * 2 + 1);
  INSERT OR IGNORE INTO embedding_queue(id) VALUES (old.id);
END;
INSERT INTO embedding_queue SELECT id FROM corpus;

-- the words of a date, so that "last May" or "en mayo" meets what was said then
CREATE TABLE month_words(month TEXT PRIMARY KEY NOT NULL, words TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO month_words VALUES
  ('01', 'january enero'), ('02', 'february febrero'), ('03', 'march marzo'), ('04', 'april abril'),
  ('05', 'may mayo'), ('06', 'june junio'), ('07', 'july julio'), ('08', 'august agosto'),
  ('09', 'september septiembre'), ('10', 'october octubre'), ('11', 'november noviembre'),
  ('12', 'december diciembre');

-- a turn is found by its neighbours' words too: the two before and the two after it (RETRIEVAL §1: ten points)
CREATE VIEW corpus_turn(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT t.id * 16 + 7, 'turn', t.id, t.speaker, t.text,
    ltrim(substr(t.at, 9, 2), '0') || ' ' || (SELECT words FROM month_words WHERE month = substr(t.at, 6, 2))
      || ' ' || substr(t.at, 1, 4) || char(10)
      || coalesce((SELECT group_concat(n.text, char(10)) FROM turns n
        WHERE n.session = t.session AND n.number BETWEEN t.number - 2 AND t.number + 2 AND n.id <> t.id), ''),
    t.at, 'active', 0 FROM turns t;
CREATE TRIGGER turns_found_insert AFTER INSERT ON turns BEGIN
  INSERT INTO corpus SELECT * FROM corpus_turn WHERE record_id = new.id;
  UPDATE corpus SET context = (SELECT context FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = new.session AND number BETWEEN new.number - 2 AND new.number + 2 AND id <> new.id);
END;
CREATE TRIGGER turns_found_update AFTER UPDATE OF session, number, speaker, text, at ON turns BEGIN
  UPDATE corpus SET (title, text, context, at) =
    (SELECT title, text, context, at FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = new.session AND number BETWEEN new.number - 2 AND new.number + 2);
END;
CREATE TRIGGER turns_found_delete AFTER DELETE ON turns BEGIN
  DELETE FROM corpus WHERE id = old.id * 16 + 7;
  UPDATE corpus SET context = (SELECT context FROM corpus_turn v WHERE v.record_id = corpus.record_id)
    WHERE id IN (SELECT id * 16 + 7 FROM turns
      WHERE session = old.session AND number BETWEEN old.number - 2 AND old.number + 2);
END;

CREATE VIEW corpus_document(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT c.id * 16 + 8, 'document', c.id, c.heading, c.text,
    d.path || ' ' || ltrim(substr(d.at, 9, 2), '0') || ' '
      || (SELECT words FROM month_words WHERE month = substr(d.at, 6, 2)) || ' ' || substr(d.at, 1, 4),
    d.at, 'active', d.evergreen FROM chunks c JOIN documents d ON d.id = c.document_id;
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

-- what the vectors of this memory have in common, so that it can be taken out of them (store/search/space.py)
CREATE TABLE meaning_space(
  slot INTEGER PRIMARY KEY CHECK(slot IN (0, 1)),
  fingerprint TEXT NOT NULL,
  vectors INTEGER NOT NULL,         -- how many there were
  centres BLOB NOT NULL,            -- three vectors: of all, of the English, of the Spanish
  turn BLOB NOT NULL                -- a symmetric matrix, dimension × dimension
);
