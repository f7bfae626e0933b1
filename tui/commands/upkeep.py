"""export, index."""

import os

from tui.commands import Outcome, Session, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.arguments import Given


def export(session: Session, given: "Given") -> Outcome:
    from store.errors import Declined
    from store.exchange.export import document, save

    if not given.file:
        return Outcome(document=lambda: document(session.memory.database))
    path = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.file)))
    replace = given.yes
    if os.path.lexists(path) and not replace:
        replace = session.ask(f"{path} is there already. Replace it?")
        if not replace:
            raise Declined("Nothing was written.")
    size = save(session.memory.database, path, replace)
    return Outcome(f"Exported to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def index(session: Session, given: "Given") -> Outcome:
    from store.errors import Conflict, ForeignFile, InvalidInput
    from store.search import corpus

    database = session.memory.database
    if given.what not in (None, "rebuild"):
        raise InvalidInput("index is checked, or rebuilt.", "memoranda index rebuild")
    if given.what:
        rows = corpus.rebuild(database)
        return Outcome(f"Made the index again: {count(rows, 'record')}.", lambda: {"records": rows})
    try:
        rows = corpus.check(database)
    except ForeignFile:
        raise Conflict(
            "The search index does not agree with the records.", "memoranda index rebuild mends it."
        ) from None
    return Outcome(f"The index agrees with the records: {count(rows, 'record')}.", lambda: {"records": rows})
