-- Memoranda, schema 14: functions are given text as bytes.
--
-- A damaged file may hold text that is not UTF-8, which no function can be called with: every change of such a record,
-- and every rebuilding of the index, failed. `text_of` in store/database/sql_functions.py reads the bytes.

DROP TRIGGER corpus_insert;
DROP TRIGGER corpus_return;
DROP VIEW passage_texts;

CREATE VIEW passage_texts(id, title, text, context, status) AS
  SELECT p.id, c.title, substr(c.text, p.start + 1, p.end - p.start),
    c.context || identifiers(CAST(substr(c.text, p.start + 1, p.end - p.start) AS BLOB)),
    c.status || iif(p.code, ' code', '')
  FROM passages p JOIN corpus c ON c.id = p.row;

CREATE TRIGGER corpus_insert AFTER INSERT ON corpus BEGIN
  INSERT INTO passages SELECT new.id | (j.key << 40), new.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3
    FROM json_each(passages_of(CAST(new.text AS BLOB))) j;
  INSERT INTO corpus_fts(rowid, title, text, context, status)
    SELECT id, title, text, context, status FROM passage_texts
    WHERE id IN (SELECT id FROM passages WHERE row = new.id);
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
