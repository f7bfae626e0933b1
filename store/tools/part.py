"""What this part does for the rest of Memoranda: it says what other tools keep, for a first start; and for a purge it
finds words in the versions that guard keeps, and cuts them out."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from store.base.runtime import Part
from store.purge.byte_scanner import ByteSearch, split_long_texts
from store.purge.file_eraser import GUARD_LABEL, GUARD_TABLE, SealedTexts, find_cut_spans
from store.purge.word_search import PurgedTexts, RemainingMatch
from store.text.display import tilde_path
from store.tools.guard_database import (
    KeptContent,
    cut_from_versions,
    delete_guard,
    guarded_tool_title,
    kept_contents,
    open_guard,
)
from store.tools.source_import import FOREIGN_MEMORIES


def find_matches(words: PurgedTexts) -> list[RemainingMatch]:
    """List the matches in versions that guard keeps, one for each file."""
    found: dict[str, list[KeptContent]] = {}
    holds = _make_version_test(words)
    with open_guard() as kept:
        for one in kept_contents(kept):
            if holds(one):
                found.setdefault(one.file.path, []).append(one)
    return [_guard_match(path, several, words) for path, several in found.items()]


def read_texts() -> Iterator[str]:
    """Yield every text that guard keeps."""
    with open_guard() as kept:
        for one in kept_contents(kept):
            yield one.readable_text


def search_bytes(texts: Sequence[str]) -> tuple[int, set[str]]:
    """Look for texts in every byte that is kept, unsealed; return how many bytes there are, and the encodings in
    which a text was found."""
    search, size, found = ByteSearch(split_long_texts(list(texts)), []), 0, set[str]()
    with open_guard() as kept:
        for one in kept_contents(kept):
            for part in (one.raw, os.fsencode(one.file.path)):
                search.search_part(part, found)
                size += len(part)
    return size, found


def _guard_match(path: str, several: Sequence[KeptContent], words: PurgedTexts) -> RemainingMatch:
    """Return the match for a file, from its versions that contain the words."""
    last = several[-1]
    what = (
        f"{GUARD_LABEL}, {len(several):,} version{'s' * (len(several) > 1)} of "
        f"a file of {guarded_tool_title(last.file.tool)}"
    )
    note = "the file itself has it too: edit it there" if any(one.now for one in several) else ""
    return RemainingMatch(
        f"{GUARD_TABLE}:{tilde_path(path)}",
        GUARD_TABLE,
        path,
        what,
        words.excerpt(last.readable_text),
        note=note,
    )


def _make_version_test(words: PurgedTexts) -> Callable[[KeptContent], bool]:
    """Return what tells whether a version contains the words; a database spreads a text over pages."""
    search = ByteSearch(split_long_texts(list(words.texts)), [])

    def holds(one: KeptContent) -> bool:
        found = set[str]()
        if one.file.is_database:
            search.search_part(one.raw, found)
        return bool(found) or words.occur_in(one.readable_text) or words.occur_in(one.file.path)

    return holds


def cut_out(chosen: Collection[RemainingMatch], words: PurgedTexts) -> None:
    """Cut the words out of these places."""

    def without(text: str) -> str:
        for start, end in reversed(find_cut_spans(text, words)):
            text = text[:start] + text[end:]
        return text

    with open_guard(locked=True) as kept:
        cut_from_versions(kept, {one.key for one in chosen}, _make_version_test(words), words.occur_in, without)


PART = Part((SealedTexts(find_matches, read_texts, search_bytes, cut_out, delete_guard), FOREIGN_MEMORIES))
