"""The corpus: one row for each thing that can be found. Kept by triggers (schema); rebuilt here from nothing."""

from store.base.record_keys import NUMBERS
from store.database.database import Database

PASSAGES = (
    "SELECT c.id | (j.key << 40), c.id, j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3"
    " FROM corpus c, json_each(passages_of(CAST(c.text AS BLOB))) j"
)
"""Of every row, as the schema's triggers make them."""


def rebuild(database: Database) -> int:
    """Throw corpus and index away and make them again from the records; how many rows there are now.

    The corpus's triggers are out of the way meanwhile: they would take the old rows out of the old index one by one,
    which a damaged index refuses.
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
    """FTS5's own integrity check of the index against the corpus; how many rows there are. Raises ForeignFile if they
    disagree."""
    with database.write("agent", "check") as write:
        write.discard()
        write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('integrity-check', 1)")
        count: int = write.execute("SELECT count(*) FROM corpus").get
        return count
