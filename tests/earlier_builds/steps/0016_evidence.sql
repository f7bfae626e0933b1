-- Memoranda, schema 16: evidence that is looked at again (store/evidence).

-- as in `facts`: citations, and what a person bound a decision to
ALTER TABLE decisions ADD COLUMN evidence TEXT NOT NULL DEFAULT '[]';

-- operational: what was seen the last time, of every item of a record's evidence that can be looked at
CREATE TABLE evidence_looks(
  record INTEGER NOT NULL,          -- store/base/record_keys.py
  item TEXT NOT NULL,               -- as in the record's evidence
  state INTEGER NOT NULL CHECK(state BETWEEN 0 AND 4), -- 0 not looked at, 1 holds, 2 moved, 3 changed, 4 gone
  place TEXT NOT NULL DEFAULT '',   -- where it is now, if it moved or changed
  digest TEXT NOT NULL DEFAULT '',  -- of what a command or an address gave the first time it was run here
  at TEXT NOT NULL,
  PRIMARY KEY(record, item)
) WITHOUT ROWID;

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
