"""Read records of any kind by citation or by key."""

from collections.abc import Iterable, Sequence

from store.base.citations import Citation
from store.base.errors import MemorandaError, NotFound
from store.base.record_keys import pack, unpack
from store.database.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Record


_KINDS = {"chunk": "document", "globalfact": "global"}


def lookup(database: Database, citation: Citation) -> "Record":
    """Return the record that a citation names. Raise NotFound, or Conflict for an ambiguous sha."""
    target = citation.target
    if citation.kind == "commit":
        from store.records.timeline.commits import Commits

        return Commits(database).get(str(target))
    if citation.kind == "document":
        from store.documents.documents import Documents

        return Documents(database).cited(citation)
    found = many(database, citation.kind, [int(target)])
    if not found:
        kind = "global fact" if citation.kind == "global" else citation.kind
        raise NotFound(f"There is no {kind} {citation} in this memory.", "Search for it, or look at the lists.")
    return found[0]


def there(database: Database, citations: Iterable[Citation]) -> "list[Record]":
    """Return the records of these citations; skip those that cannot be found."""
    found: list[Record] = []
    for citation in citations:
        try:
            found.append(lookup(database, citation))
        except MemorandaError:
            continue
    return found


def kind_of(record: "Record") -> str:
    """Return the record's kind, as in `record_keys.NUMBERS`."""
    name = type(record).__name__.lower()
    return _KINDS.get(name, name)


def key(record: "Record") -> int:
    """Return the key of a record (store/base/record_keys.py)."""
    return pack(kind_of(record), record.id)


def by_key(database: Database, keys: Sequence[int]) -> "dict[int, Record]":
    """Return the records with these keys that exist, by key; one query for each kind."""
    wanted: dict[str, list[int]] = {}
    for key in keys:
        kind, number = unpack(key)
        wanted.setdefault(kind, []).append(number)
    return {
        pack(kind, record.id): record for kind, numbers in wanted.items() for record in many(database, kind, numbers)
    }


def many(database: Database, kind: str, numbers: Sequence[int]) -> "Sequence[Record]":
    """Return the records of one kind with these ids. Import only the module of that kind."""
    if kind == "fact":
        from store.records.facts import Facts

        return Facts(database).many(numbers)
    if kind == "global":
        from store.personal import global_facts

        return global_facts.cited(database, numbers)
    if kind == "decision":
        from store.records.decisions import Decisions

        return Decisions(database).many(numbers)
    if kind == "commit":
        from store.records.timeline.commits import Commits

        return Commits(database).many(numbers)
    if kind == "event":
        from store.records.timeline.events import Events

        return Events(database).many(numbers)
    if kind == "iteration":
        from store.records.timeline.iterations import Iterations

        return Iterations(database).many(numbers)
    if kind == "task":
        from store.records.tasks import Tasks

        return Tasks(database).many(numbers)
    if kind == "turn":
        from store.conversations.turns import Turns

        return Turns(database).many(numbers)
    if kind == "summary":
        from store.conversations.summaries import Summaries

        return Summaries(database).many(numbers)
    if kind == "document":
        from store.documents.documents import Documents

        return Documents(database).many(numbers)
    if kind == "proposal":
        from store.records import proposals

        return proposals.many(database, numbers)
    from store.history.checkpoints import Checkpoints

    return Checkpoints(database).many(numbers)


def oldest(database: Database, query: str) -> "list[Record]":
    """Return the oldest record that passes the filters of a query, as a list of one or none."""
    from store.search.query.filters import Filters, parsed

    filters = Filters(database, parsed(database, query))
    where = " AND ".join([filters.holding, *filters.clauses])
    sql = f"SELECT c.id FROM corpus c WHERE {where} ORDER BY {filters.at}, c.id LIMIT 1"
    rows = database.rows(sql, filters.parameters)
    return list(by_key(database, [key for (key,) in rows]).values())
