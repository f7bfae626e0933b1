"""The versions of other tools' files that guard keeps: find the words that are purged in them, and cut them out."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from store.base.errors import MemorandaError, NotFound
from store.guard import database, files, forgetting
from store.guard.forgetting import KeptContent
from store.purge.documents import stretches
from store.purge.scan.byte_scanner import ByteSearch, pieces
from store.purge.scan.column_scan import RemainingMatch
from store.purge.scan.pattern import Words

TABLE = "guard"
WHAT = "kept by guard"
UNREAD = "guard cannot read what it keeps"


Holds = Callable[[KeptContent], bool]


def places(words: Words) -> list[RemainingMatch]:
    """List the files of which a version that is kept contains the words, one place for each."""
    if not words or not database.there():
        return []
    found: dict[str, list[KeptContent]] = {}
    holds = _holding(words)
    try:
        with database.opened() as kept:
            for one in forgetting.contents(kept):
                if holds(one):
                    found.setdefault(one.file.path, []).append(one)
    except NotFound:
        return []
    except MemorandaError as error:
        return [RemainingMatch(TABLE, TABLE, database.place(), f"{UNREAD}: {error.message}", "", can=False)]
    return [_place(path, several, words) for path, several in found.items()]


def texts() -> Iterator[str]:
    """Yield every text that is kept, as far as it can be read."""
    if database.there():
        with suppress(MemorandaError), database.opened() as kept:
            for one in forgetting.contents(kept):
                yield one.readable


def bytes_left(texts: Sequence[str]) -> tuple[int, set[str]] | None:
    """Look for texts in every byte that is kept, unsealed: (how many those are, the encodings in which one was found);
    None if nothing is kept. Raise StorageError where not all can be read."""
    if not database.there():
        return None
    search, size, found = ByteSearch(pieces(list(texts)), []), 0, set[str]()
    try:
        with database.opened() as kept:
            for one in forgetting.contents(kept):
                for part in (one.raw, os.fsencode(one.file.path)):
                    search.into(part, found)
                    size += len(part)
    except NotFound:
        return None
    return size, found


def _place(path: str, several: Sequence[KeptContent], words: Words) -> RemainingMatch:
    last = several[-1]
    what = f"{WHAT}, {len(several):,} version{'s' * (len(several) > 1)} of a file of {files.title(last.file.tool)}"
    note = "the file itself has it too: edit it there" if any(one.now for one in several) else ""
    home = os.path.join(os.path.expanduser("~"), "")
    name = f"~/{path.removeprefix(home)}" if path.startswith(home) else path
    return RemainingMatch(f"{TABLE}:{name}", TABLE, path, what, words.around(last.readable), note=note)


def _holding(words: Words) -> Holds:
    """Return what tells whether a version contains the words; a database spreads a text over pages."""
    search = ByteSearch(pieces(list(words.texts)), [])

    def holds(one: KeptContent) -> bool:
        found = set[str]()
        if one.file.database:
            search.into(one.raw, found)
        return bool(found) or words.inside(one.readable) or words.inside(one.file.path)

    return holds


def cut(chosen: Iterable[RemainingMatch], words: Words) -> dict[RemainingMatch, str]:
    """Cut the words out of these places; return why some were not, by place."""
    wanted = [place for place in chosen if place.table == TABLE]
    if not wanted:
        return {}
    try:
        with database.opened(locked=True) as kept:
            paths = {place.key for place in wanted}
            forgetting.cut(kept, paths, _holding(words), words.inside, _without(words))
    except MemorandaError as error:
        return dict.fromkeys(wanted, error.message)
    return {}


def _without(words: Words) -> Callable[[str], str]:
    def without(text: str) -> str:
        for start, end in reversed(stretches(text, words)):
            text = text[:start] + text[end:]
        return text

    return without
