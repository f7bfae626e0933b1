-- Memoranda, schema 11: what can be found is found by passage.

DROP TRIGGER corpus_insert;
DROP TRIGGER corpus_update;
DROP TRIGGER corpus_delete;
DROP TRIGGER corpus_meant_insert;
DROP TRIGGER corpus_meant_update;
DROP TRIGGER corpus_meant_delete;
DROP TABLE corpus_words;
DROP TABLE corpus_fts;

-- Derived. The passages of each row of the corpus (store/text/passages.py): characters start to end of its text, from
-- `line` on. id = the passage's number in its text * 2^40 + the row: the first passage's id is the row's own.
CREATE TABLE passages(
  id INTEGER PRIMARY KEY,
  row INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  line INTEGER NOT NULL,
  code INTEGER NOT NULL             -- code, a log, a table, what a tool printed
);
CREATE INDEX passages_row ON passages(row);

-- what of a passage is looked through: `identifiers` gives the words inside of names like getUserName
CREATE VIEW passage_texts(id, title, text, context, status) AS
  SELECT p.id, c.title, substr(c.text, p.start + 1, p.end - p.start),
    c.context || identifiers(substr(c.text, p.start + 1, p.end - p.start)), c.status || iif(p.code, ' code', '')
  FROM passages p JOIN corpus c ON c.id = p.row;

CREATE VIRTUAL TABLE corpus_fts USING fts5(
  title, text, context, status,     -- status among them, so that a search need not look every match up
  content = 'passage_texts', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2',
  prefix = '1 2 3'
);
CREATE VIRTUAL TABLE corpus_words USING fts5vocab('corpus_fts', 'row');

-- passages whose vector is missing, or that are gone and may still stand in a cache of vectors; `rank` says what goes
-- first: facts and decisions, then a person's own words, then the words of others. Code has no vectors:
-- in one chat about code (18 questions) as much was found without them, and half of its text is code
DROP TABLE embedding_queue;
CREATE TABLE embedding_queue(id INTEGER PRIMARY KEY, rank INTEGER NOT NULL DEFAULT 0);
CREATE INDEX embedding_queue_first ON embedding_queue(rank, (id & 0xFFFFFFFFFF) DESC);
CREATE VIEW passage_ranks(id, row, rank) AS
  SELECT p.id, p.row, CASE WHEN p.row & 15 < 2 THEN 0
    WHEN p.row & 15 = 8 OR EXISTS (SELECT 1 FROM turns t WHERE p.row & 15 = 7 AND t.id = p.row >> 4 AND t.role <> 'user')
      THEN 2 ELSE 1 END
  FROM passages p WHERE NOT p.code OR p.row & 15 < 2;

CREATE TRIGGER passages_meant_insert AFTER INSERT ON passages BEGIN
  INSERT OR IGNORE INTO embedding_queue(id, rank) SELECT id, rank FROM passage_ranks WHERE id = new.id;
END;
CREATE TRIGGER passages_meant_delete AFTER DELETE ON passages BEGIN
  DELETE FROM vectors WHERE key IN (old.id * 2, old.id * 2 + 1);
  INSERT OR IGNORE INTO embedding_queue(id, rank) VALUES (old.id, 0);
END;

CREATE TRIGGER corpus_insert AFTER INSERT ON corpus BEGIN
  INSERT INTO passages SELECT new.id | (j.key << 40), new.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3
    FROM json_each(passages_of(new.text)) j;
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
    FROM json_each(passages_of(new.text)) j WHERE old.title IS NOT new.title OR old.text IS NOT new.text;
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    SELECT id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = new.id);
END;

-- a short turn is found by its neighbours' words too, if they are short: the two before and the one after it
DROP TRIGGER turns_found_insert;
DROP TRIGGER turns_found_update;
DROP TRIGGER turns_found_delete;
DROP VIEW corpus_turn;
CREATE VIEW corpus_turn(id, kind, record_id, title, text, context, at, status, evergreen) AS
  SELECT t.id * 16 + 7, 'turn', t.id, t.speaker, t.text,
    ltrim(substr(t.at, 9, 2), '0') || ' ' || (SELECT words FROM month_words WHERE month = substr(t.at, 6, 2))
      || ' ' || substr(t.at, 1, 4) || char(10)
      || iif(length(t.text) > 400, '', coalesce((SELECT group_concat(n.text, char(10)) FROM turns n
        WHERE n.session = t.session AND n.number BETWEEN t.number - 2 AND t.number + 1 AND n.id <> t.id
          AND length(n.text) <= 400), '')),
    t.at, 'active', 0 FROM turns t;
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

-- vectors were of whole texts: what was made of those of one passage is found again by its digest
DELETE FROM vectors;
DELETE FROM vector_blocks;
DELETE FROM meaning_space;
DELETE FROM meta WHERE key GLOB 'embedding.bits.*';
UPDATE corpus SET context = (SELECT context FROM corpus_turn v WHERE v.record_id = corpus.record_id) WHERE kind = 'turn';
INSERT INTO passages SELECT c.id | (j.key << 40), c.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3
  FROM corpus c, json_each(passages_of(c.text)) j;
INSERT INTO corpus_fts(corpus_fts) VALUES ('rebuild');
