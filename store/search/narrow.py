"""The filters that look at the records themselves: tags, pins, ageing, and who wrote it."""

from store import tags
from store.ageing import STATES, state_sql
from store.database import Database
from store.keys import NUMBERS
from store.search.query import Query

_COLUMNS = {"commit": "author", "turn": "speaker || ' ' || origin"}

# kind → where who wrote it stands; nobody says who wrote a file
_AUTHORS = {
    kind: f"SELECT {_COLUMNS.get(kind, 'origin')} FROM {kind}s WHERE id = c.id / 16"
    for kind in NUMBERS
    if kind != "document"
}


def clauses(database: Database, asked: Query) -> tuple[list[str], dict[str, object]]:
    """(conditions on a row `c` of the corpus, their parameters) for what a query asks of its records."""
    found: list[str] = []
    parameters: dict[str, object] = {}
    facts: list[str] = []
    if asked.tags:
        tags.register(database)
    for place, tag in enumerate(asked.tags):
        facts.append(tags.TAGGED.format(f":tag{place}"))
        parameters[f"tag{place}"] = tags.key(tag)
    if asked.pinned:
        facts.append("pinned")
    if asked.ageing:
        facts.append(" AND ".join(f"{state_sql(asked.now)} = {STATES.index(state)}" for state in asked.ageing))
    if facts:
        found.append(
            f"c.id % 16 = {NUMBERS['fact']} AND c.id / 16 IN (SELECT id FROM facts WHERE {' AND '.join(facts)})"
        )
    for place, author in enumerate(asked.authors):
        database.connection.create_scalar_function("holds", _holds, 2, deterministic=True)
        cases = " ".join(f"WHEN {NUMBERS[kind]} THEN ({sql})" for kind, sql in _AUTHORS.items())
        found.append(f"holds(CASE c.id % 16 {cases} END, :author{place})")
        parameters[f"author{place}"] = author.casefold()
    return found, parameters


def _holds(*values: object) -> bool:
    """Whether a text holds some folded characters; SQLite folds the case of ASCII only."""
    text, part = values
    return str(part) in str(text).casefold()
