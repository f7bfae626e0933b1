"""The corpus table: one row for each searchable record. Triggers of the schema maintain it; `rebuild` makes it anew."""

from store.base.record_keys import NUMBERS
from store.database.database import Database

PASSAGES = (
    "SELECT c.id | (j.key << 40), c.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3"
    " FROM corpus c, json_each(passages_of(CAST(c.text AS BLOB))) j"
)
"""SQL for the passages of every row, as the schema's triggers make them."""


def rebuild(database: Database) -> int:
    """Delete corpus and index and make them again from the records; return the number of rows.

    The corpus's triggers are dropped meanwhile: they would delete old rows one by one from the old index, which a
    damaged index refuses.
    """
    with database.write("agent", "index") as write:
        triggers = list(
            write.rows(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'corpus' ORDER BY name"
            )
        )
        for name, _ in triggers:
            write.execute(f"DROP TRIGGER {name}")
        write.execute("DELETE FROM corpus")
        for kind in NUMBERS:
            write.execute(f"INSERT INTO corpus SELECT * FROM corpus_{kind}")
        write.execute("DELETE FROM passages")
        write.execute(f"INSERT INTO passages {PASSAGES}")
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('rebuild')")
        for _, sql in triggers:
            write.execute(sql)
        count: int = write.execute("SELECT count(*) FROM corpus").get
        return count


def check(database: Database) -> int:
    """Run FTS5's integrity check of the index against the corpus; return the number of rows. Raise ForeignFile if they
    disagree."""
    with database.write("agent", "check") as write:
        write.discard()
        write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('integrity-check', 1)")
        count: int = write.execute("SELECT count(*) FROM corpus").get
        return count
