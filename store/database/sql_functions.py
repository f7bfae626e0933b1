"""The functions that the schema's triggers and views call, given to every connection.

They are innocuous to SQLite: what a file's schema may call decides `trusted_schema`, and these only read their text.
What they import is imported when a text is first written.
"""

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from apsw import SQLiteValue


def register(connection: apsw.Connection) -> None:
    """Give a connection `passages_of(text)` and `identifiers(text)`."""
    for name, function in (("passages_of", _passages_of), ("identifiers", _identifiers)):
        connection.create_scalar_function(name, function, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def _passages_of(*texts: "SQLiteValue") -> str:
    """The passages of a text as JSON: [[start, end, line, code], …]; one of a blank text too."""
    from store.text.passages import passages

    said = str(texts[0] or "")
    found = [(one.start, one.end, one.line, int(one.code)) for one in passages(said)] or [(0, len(said), 1, 0)]
    return str([list(one) for one in found])


def _identifiers(*texts: "SQLiteValue") -> str:
    from store.text.identifiers import words

    return words(str(texts[0] or ""))
