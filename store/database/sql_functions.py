"""The functions that the schema's triggers and views call, registered on every connection.

They are innocuous to SQLite: `trusted_schema` decides what a file's schema may call, and these only read their
arguments. Their imports are loaded when a text is first written.
"""

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from apsw import SQLiteValue


SHORT = 600  # characters; as store.text.passages.SIZE
MARKS = ".,'’!?¿¡"
NO_MARKS = {ord(mark): None for mark in f"{MARKS} "}
PERMISSIONS = frozenset("dlrwx")  # as `ls` lists them
# first words of what may be code or a log
CODE_WORDS = frozenset(
    "def class import from return if for else elif try except with const let var function public private export async"
    " await fn func struct enum SELECT INSERT UPDATE CREATE DELETE package using namespace DEBUG INFO WARN WARNING"
    " ERROR FATAL TRACE Traceback File at caused diff index ALTER DROP FROM WHERE LEFT INNER OUTER CROSS JOIN GROUP"
    " ORDER HAVING VALUES UNION WORKDIR COPY RUN CMD ENTRYPOINT EXPOSE npm commit E end static protected interface"
    " PASSED FAILED PASS FAIL SKIPPED".split()
)


def register(connection: apsw.Connection) -> None:
    """Register `passages_of(bytes)`, `one_passage(bytes)` and `identifiers(bytes)` on a connection; they take text
    too."""
    for name, function in (("passages_of", _passages_of), ("one_passage", _one_passage), ("identifiers", _identifiers)):
        connection.create_scalar_function(name, function, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def text_of(value: "SQLiteValue") -> str:
    """Return an argument of a function as text. Statements pass a text as a BLOB (`CAST(fact AS BLOB)`): a damaged file
    may hold bytes that are not UTF-8, for which APSW raises an error before the function is called; here each becomes
    U+FFFD."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _passages_of(*texts: "SQLiteValue") -> str:
    """Return the passages of a text as JSON: [[start, end, line, code], …]; one of a blank text too."""
    text = text_of(texts[0])
    if _is_plain(text):
        return f"[[0, {len(text)}, 1, 0]]"
    from store.text.passages import passages

    found = [(one.start, one.end, one.line, int(one.code)) for one in passages(text)] or [(0, len(text), 1, 0)]
    return str([list(one) for one in found])


def _one_passage(*texts: "SQLiteValue") -> bool:
    """Return whether a text is certainly one passage of speech. Deciding it costs less than finding the passages."""
    return _is_plain(text_of(texts[0]))


def _identifiers(*texts: "SQLiteValue") -> str:
    text = text_of(texts[0])
    if _has_no_identifier(text):
        return ""
    from store.text.identifiers import words

    return words(text)


def _is_plain(text: str) -> bool:
    """Return whether a text is one short line of words, for which no regular expression is loaded: loading them takes a
    command 10 of its 30 ms. Every such text is one passage of speech; others may be too."""
    words = text.split(" ", 1)
    return (
        len(text) <= SHORT
        and words[0].strip(MARKS).isalpha()
        and words[0].strip(MARKS) not in CODE_WORDS
        and text.translate(NO_MARKS).isalnum()
        and not set(words[0]) <= PERMISSIONS
    )


def _has_no_identifier(text: str) -> bool:
    """Return whether no word of a text has a capital or a digit inside of it."""
    return all(word[1:] == word[1:].lower() and (word.isalpha() or _marked(word)) for word in text.split())


def _marked(word: str) -> bool:
    """Return whether a word is letters, or digits, with punctuation around them."""
    inner = word.strip(MARKS)
    return not inner or inner.isalpha() or inner.isdigit()
