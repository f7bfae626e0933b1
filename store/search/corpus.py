"""The corpus: one row for each thing that can be found. Kept by triggers (schema); rebuilt here from nothing."""

from store.database import Database
from store.keys import NUMBERS


def rebuild(database: Database) -> int:
    """Throw corpus and index away and make them again from the records; how many rows there are now."""
    with database.write("agent", "index") as write:
        write.execute("DELETE FROM corpus")
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('rebuild')")
        for kind in NUMBERS:
            write.execute(f"INSERT INTO corpus SELECT * FROM corpus_{kind}")
        write.execute("INSERT INTO corpus_fts(corpus_fts) VALUES ('optimize')")
        count: int = write.execute("SELECT count(*) FROM corpus").get
        return count


def check(database: Database) -> None:
    """FTS5's own integrity check against the corpus. Raises a MemorandaError if they disagree."""
    with database.write("agent", "check") as write:
        write.execute("INSERT INTO corpus_fts(corpus_fts, rank) VALUES ('integrity-check', 1)")
