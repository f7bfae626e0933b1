"""Find the words and names that only the purged records contained: they may be left in the names and summaries of
checkpoints, and in search queries."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from store.database.database import Database
from store.database.erasure.purge_state import KEY, NOTE
from store.database.erasure.purged_words import fold, spans_of, tokens_of
from store.database.erasure.tombstones import TIMES as DONE
from store.history.compression import every_row
from store.history.row_edits import primary_key
from store.purge.registry import COPY, DROPPED, HISTORY, INPUT, REBUILT, RECORD, tables
from store.purge.scan.column_scan import Ref, RemainingMatch, likely
from store.purge.scan.pattern import Find, Words, automaton, hits_of
from store.text.entities import named
from store.text.vocabulary import stop_words

FEWEST = 4  # letters
MOST = 10_000  # names of one purge: a purge of very many records need not count each of their words
TOGETHER = 1_000  # texts that are split into words at once
MANY = 40  # names from which on the whole history is read for them, instead of a query for each row


def distinct(
    database: Database, texts: Collection[str], going: Collection[Ref], places: Iterable[RemainingMatch]
) -> list[str]:
    """Return those words and names of these texts that no kept record contains, not even within a longer word; the
    texts are cut in `places`. Reads all of the memory, some 0.1 s for a megabyte."""
    names = {name.casefold(): name for name in named(texts, MOST)}
    for text in texts:
        for word, start, end in spans_of(text):
            if len(word) >= FEWEST and not word.isdigit() and word not in stop_words("search"):
                names.setdefault(text[start:end].casefold(), text[start:end])
    names = {low: name for low, name in list(names.items())[:MOST] if sum(map(str.isalnum, low)) >= FEWEST}
    if not names:
        return []
    cut = {(place.table, place.key) for place in places}
    words = Words(texts)
    spelled: set[str] = set()
    staying = set(_staying(database, going, cut, words))
    for some in _batches(staying):
        spelled.update(tokens_of("\n".join(some)))  # no word continues in the next text
    folded = {word: fold(word) for word in spelled}
    tokens = {low: _tokens(low) for low in names}
    # a word within a longer one counts as contained; a name of several words only where all its words are
    standing = _standing({token for some in tokens.values() for token in some}, "\0".join(set(folded.values())))
    left = {low: name for low, name in names.items() if not standing.issuperset(tokens[low])}
    phrases = {low: f" {' '.join(tokens[low])} " for low in names if low not in left and len(tokens[low]) > 1}
    if phrases:
        unsaid = set(phrases.values())
        find, wanted = _finder(unsaid)
        for some in _batches(staying):
            joined = " \n ".join([" ".join([folded[word] for word in tokens_of(text)]) for text in some])
            unsaid -= {wanted[which] for which, _, _ in hits_of(find, f" {joined} ")}
            if not unsaid:
                break
        left |= {low: names[low] for low, phrase in phrases.items() if phrase in unsaid}
    if left:
        find, wanted = _finder(left)
        for text in _past(database, going, list(left.values())):
            if not left.keys().isdisjoint({wanted[which] for which, _, _ in hits_of(find, text.casefold())}):
                for which, _, _ in hits_of(find, words.cut(text).casefold()):
                    left.pop(wanted[which], None)
    return sorted(left.values(), key=len, reverse=True)


def _standing(tokens: Iterable[str], text: str) -> set[str]:
    """Return those of these that a text contains."""
    find, wanted = _finder(tokens)
    return {wanted[which] for which, _, _ in hits_of(find, text)}


def _finder(wanted: Iterable[str]) -> tuple[Find, list[str]]:
    """Return a function that finds these strings in one pass, whatever their number, and the strings by index."""
    every = list(wanted)
    return automaton(every), every


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(texts)
    while some := list(islice(waiting, TOGETHER)):
        yield some


def said_elsewhere(database: Database, texts: Collection[str], going: Collection[Ref]) -> set[str]:
    """Return those of these texts that a kept record contains or quotes."""
    words = Words(texts)
    found: set[str] = set()
    for text in _staying(database, going, (), words):
        found |= words.which(text)
    return {text for text in texts if words.trimmed(text) in found}


def _tokens(text: str) -> list[str]:
    return [word for word, _, _ in spans_of(text)]


def _staying(database: Database, going: Collection[Ref], cut: Collection[Ref], words: Words) -> Iterator[str]:
    """Yield all texts of records, documents and the memory's own structure that remain once these are deleted: of
    history and of copies the names and other values, which are never cut."""
    # as the file holds it, without separators: a word may begin in one name and end in the next
    yield from (
        text for (text,) in database.rows("SELECT type || name || tbl_name || ifnull(sql, '') FROM sqlite_schema")
    )
    yield from OURS
    left_out = {(table, key) for table, key in going} | _summaries(database, going)
    for table, kept in tables(database):
        if kept.becomes == REBUILT and table not in SOURCES:
            continue
        columns = [
            name
            for name, kind in database.rows("SELECT name, type FROM pragma_table_info(?, 'main')", (table,))
            if kind == "TEXT"
        ]
        if kept.becomes in (COPY, INPUT, DROPPED, HISTORY):
            for name in (name for name in columns if name not in (*kept.words, *TIMES)):
                yield from (text for (text,) in database.rows(f"SELECT DISTINCT {name} FROM {table}") if text)
            continue
        if not columns:
            continue
        keys = ", ".join(primary_key(database.connection, table)) if kept.becomes == RECORD else ""
        sql = f"SELECT json_array({keys}), {', '.join(columns)} FROM {table}"
        for key, *texts in database.rows(sql):
            if (table, key) in left_out:
                continue
            for text in filter(None, texts):
                yield words.cut(text) if table in SOURCES or (table, key) in cut else text


OURS = ("purge", NOTE, DONE, KEY)  # what a purge itself writes
TIMES = ("at", "created_at", "recovered_at")  # without words, and another in each row
SOURCES = ("chunks", "documents")  # made again from files, and so kept


def _summaries(database: Database, going: Collection[Ref]) -> set[Ref]:
    """Return the summaries that are deleted with turns."""
    rows = database.rows(
        "SELECT DISTINCT json_array(s.id) FROM summaries s JOIN turns t ON t.session = s.session"
        " AND t.number BETWEEN s.first AND s.last JOIN json_each(?) g ON t.id = g.value",
        ("[" + ",".join(key[1:-1] for table, key in going if table == "turns") + "]",),
    )
    return {("summaries", key) for (key,) in rows}


def _past(database: Database, going: Collection[Ref], names: list[str]) -> Iterator[str]:
    """Yield the history of kept records, where it may contain one of these names."""
    condition, parameters = "true", list[str]()
    if len(names) <= MANY:
        condition, parameters = likely(["before", "after"], Words(names))
    for table, key, *states in database.rows(
        f"SELECT tbl, pk, before, after FROM {every_row(database)} WHERE purged <> 1 AND ({condition})", parameters
    ):
        if (table, key) not in going:
            yield from filter(None, states)
