"""Check the file itself: SQLite's own checks, references between records, and the index against its source."""

from collections.abc import Iterator

from store.base.errors import ForeignFile
from store.base.record_keys import NUMBERS
from store.database.schema.tables import DERIVED
from store.health.finding import NOTE, OK, SHOWN, WRONG, CheckContext, Finding, named, salvage

MOST = 20  # errors that SQLite is asked for
REBUILD = ("memoranda index rebuild makes it again.", "index rebuild")
# a row of the corpus that differs from its record
STALE = """
SELECT v.record_id FROM corpus_{kind} v LEFT JOIN corpus c ON c.id = v.id
WHERE c.id IS NULL OR c.kind IS NOT v.kind OR c.record_id IS NOT v.record_id OR c.title IS NOT v.title
  OR c.text IS NOT v.text OR c.context IS NOT v.context OR c.at IS NOT v.at OR c.status IS NOT v.status
  OR c.evergreen IS NOT v.evergreen
LIMIT {most}
"""


def file(visit: CheckContext) -> Iterator[Finding]:
    """Check every page of the file, and every index against its table; with `quick`, without the indexes."""
    check = "quick_check" if visit.quick else "integrity_check"
    visit.progress("every page of the file", 0, 0)
    messages = [row[0] for row in visit.database.rows(f"PRAGMA {check}({MOST})")]
    # `keywords` reports what FTS5 finds in its own index
    damage = [
        line for line in messages if line != "ok" and not line.startswith(("malformed inverted", "unable to valid"))
    ]
    if damage:
        first = damage[0].splitlines()[-1]
        yield Finding("file", WRONG, f"SQLite finds damage: {first}.", *salvage(visit.database.path))
    else:
        yield Finding("file", OK, visit.database.path)
    for warning in visit.database.warnings:
        yield Finding("file", NOTE, warning)


def references(visit: CheckContext) -> Iterator[Finding]:
    """Check that each record that another refers to exists."""
    visit.progress("references between records", 0, 0)
    broken: dict[str, int] = {}
    for table, *_ in visit.database.connection.execute("PRAGMA foreign_key_check"):
        broken[table] = broken.get(table, 0) + 1
    derived = {table: broken.pop(table) for table in [*broken] if table in DERIVED}
    if derived:
        says = f"What was made from records names some that are not there: {named([*derived])}."
        yield Finding("links", WRONG, says, *REBUILD)
    if broken:
        text = named([f"{count:,} of {table}" for table, count in broken.items()])
        yield Finding("links", WRONG, f"Records name others that are not there: {text}.", *salvage(visit.database.path))
    if not broken and not derived:
        yield Finding("links", OK, "Every record that another names is there.")


def keywords(visit: CheckContext) -> Iterator[Finding]:
    """Check the index against the corpus, and the corpus against the records."""
    from store.search import corpus

    database = visit.database
    if database.read_only:
        yield Finding("keywords", NOTE, "This file may only be read, so its index was not checked.")
        return
    visit.progress("the search index", 0, len(NUMBERS))
    try:
        rows = corpus.check(database)
    except ForeignFile:
        yield Finding("keywords", WRONG, "The index does not agree with the records.", *REBUILD)
        return
    if not visit.quick:
        for number, kind in enumerate(NUMBERS):
            visit.progress("the search index", number, len(NUMBERS))
            with visit.database.read_snapshot():
                stale = database.rows(STALE.format(kind=kind, most=SHOWN + 1))
                there, due = database.rows(
                    f"SELECT (SELECT count(*) FROM corpus WHERE kind = '{kind}'), count(*) FROM corpus_{kind}"
                )[0]
            if stale or there != due:
                says = (
                    f"What can be found of the {'summaries' if kind == 'summary' else kind + 's'} is not what they say."
                )
                yield Finding("keywords", WRONG, says, *REBUILD)
                return
    yield Finding("keywords", OK, f"The index agrees with the records: {rows:,} record{'' if rows == 1 else 's'}.")
