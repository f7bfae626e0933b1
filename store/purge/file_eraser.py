"""The words in a person's own files: find what would be cut out of a file, and cut exactly that.

A line with nothing else in it is cut whole, and so is one of a table, a heading or a block of code; of other lines the
sentence is cut. A cut never extends into a line that does not contain the words, and every other byte is unchanged.
Exports beside the memory are only named: their checksums would no longer match.
"""

import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

from store.base.citations import Citation
from store.base.errors import InvalidInput, MemorandaError, NotFound
from store.base.location import checkout_root, personal_memory_path
from store.base.runtime import require_extension
from store.conversations.sessions import rename_cut_snapshot
from store.database.database import Database, Transaction
from store.database.files import is_database
from store.database.values import Verbatim, clean_text
from store.documents.files import (
    ChangedFile,
    DocumentPath,
    DocumentRoots,
    Unreadable,
    decode_text,
    read_document_bytes,
    replace_file,
    why_not_replaceable,
)
from store.exchange.export_schema import EXPORT_FORMAT
from store.purge.byte_scanner import GZIP_MAGIC, ByteSearch, search_file_bytes, split_long_texts
from store.purge.registry import EXPORT_ENDINGS, list_person_files
from store.purge.row_eraser import find_record_vectors
from store.purge.word_search import PurgedTexts, RemainingMatch, likely_rows_condition

GIT_KEEPS_NOTE = "git's history keeps what was ever committed of it, out of reach"
# bytes within which an export of ours identifies itself
EXPORT_HEAD_BYTES = 200
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?)*")
# tables and headings
_TABLE_OR_HEADING = re.compile(r"[ \t]*(?:\||#{1,6}[ \t])")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([^A-Za-z0-9\s])")
_SENTENCE_END = re.compile(
    r"""[.!?\u2026]+["'\u00bb\u201d\u2019)\]*_`]*(?=\s|$)|[\u3002\uff01\uff1f]"""
)  # no space follows in CJK


def find_file_matches(database: Database, lie: DocumentRoots, words: PurgedTexts) -> list[RemainingMatch]:
    """List every match in files: what can be cut out of documents, and what is only named."""
    found = list(find_document_matches(database, lie, words))
    return [*found, *_find_in_other_files(database, lie, words)] if words else found


def find_document_matches(
    database: Database, places: DocumentRoots, words: PurgedTexts
) -> Iterator[RemainingMatch]:
    """Yield the matches in documents, one for each sentence or line. A file is read if the index finds the words in it,
    does not have its current state, or leaves a section out, as of files that are kept in sync."""
    known = {
        path: (size, modified)
        for path, size, modified in database.rows("SELECT path, size, modified_ns FROM documents")
    }
    holding = {
        *find_indexed_documents(database, words),
        *database.column("SELECT path FROM synced_files"),
    }
    for document in places.walk(lambda name, why: None):
        name = document.place.name
        if name in holding or known.get(name) != (document.size, document.modified_ns):
            try:
                yield from _find_in_document(document.place, places, words)
            except (Unreadable, FileNotFoundError):
                # `memoranda health --index documents` reports what it cannot read
                continue


def _find_in_document(place: DocumentPath, places: DocumentRoots, words: PurgedTexts) -> Iterator[RemainingMatch]:
    """Yield the matches in one document, with why it cannot be changed if it cannot."""
    raw, _ = read_document_bytes(place)
    text, _ = decode_text(raw)
    if not words.occur_in(text):
        return
    git = GIT_KEEPS_NOTE if checkout_root(os.path.dirname(place.path)) else ""
    why = "it lies elsewhere" if os.path.isabs(place.name) else why_not_replaceable(place)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    digest = sha256(raw).digest()
    for start, end in find_cut_spans(text, words):
        first = text.count("\n", 0, start) + 1
        last = first + text.count("\n", start, max(start, end - 1))
        cut = " ".join(clean_text(text[start:end]).split())
        what = f"your file: edit it, for {why}" if why else "your file"
        cited = str(Citation("document", place.name, first, last))
        yield RemainingMatch(
            cited, "file", place.name, what, cut, not why, note=git, span=(start, end), digest=digest
        )


def find_cut_spans(text: str, words: PurgedTexts) -> list[tuple[int, int]]:
    """Return what would be cut out of a text, as (start, end); none overlaps another."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(_expand_span(text, *span) for span in words.spans(text)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _expand_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the sentence, or the lines, that contain a span of a text."""
    first = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    last = len(text) if after < 0 else after
    lines = first, last + (after >= 0)
    if _TABLE_OR_HEADING.match(text, first) or len(_FENCE.findall(text, 0, first)) % 2:
        return lines
    marker = _MARKER.match(text, first)
    begin = min(start, marker.end() if marker else first)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, begin, start)]
    at = ends[-1] if ends else begin
    stop = _SENTENCE_END.search(text, end, last)
    until = stop.end() if stop else last
    if not text[begin:at].strip() and not text[until:last].strip():
        return lines
    while at < start and text[at].isspace():
        at += 1
    if text[until:last].strip():
        while text[until].isspace():
            until += 1
    else:  # at the end of a line: cut the space before it, keep the line's end
        until = last - text[:last].endswith("\r")
        while text[at - 1] in " \t":
            at -= 1
    return at, until


def cut_from_documents(places: DocumentRoots, chosen: Iterable[RemainingMatch]) -> dict[RemainingMatch, str]:
    """Cut these places, all `found` as "file", out of their files; return why some were skipped, by place."""
    by_path: dict[str, list[RemainingMatch]] = {}
    for one in chosen:
        by_path.setdefault(one.key, []).append(one)
    left: dict[RemainingMatch, str] = {}
    for path, some in by_path.items():
        try:
            place = places.find_document(path)
            raw, _ = read_document_bytes(place)
            if sha256(raw).digest() != some[0].digest:
                raise ChangedFile
            text = raw.decode()
            for start, end in sorted((one.span for one in some), reverse=True):
                text = text[:start] + text[end:]
            replace_file(place, some[0].digest, text.encode())
            rename_cut_snapshot(place.path)
        except FileNotFoundError:
            # the file was deleted, and the words with it
            continue
        except (Unreadable, InvalidInput) as error:
            left |= dict.fromkeys(some, error.message)
    return left


# what the index holds of them


def find_indexed_documents(database: Database, words: PurgedTexts) -> list[str]:
    """List the documents in which the index finds the words."""
    sql, parameters = likely_rows_condition(["c.text", "c.heading"], words)
    rows = database.rows(
        f"SELECT d.path, c.heading, c.text FROM chunks c JOIN documents d ON d.id = c.document_id WHERE {sql}",
        parameters,
    )
    return list(dict.fromkeys(path for path, *fields in rows if any(map(words.occur_in, fields))))


def drop_from_index(write: Transaction, paths: Collection[str]) -> set[int]:
    """Remove documents from the index, to be read again; return the vectors made from them."""
    vectors = set[int]()
    for path in paths:
        number = write.first("SELECT id FROM documents WHERE path = ?", (Verbatim(path),))
        if number is None:
            continue
        for (chunk,) in list(write.rows("SELECT id FROM chunks WHERE document_id = ?", (number,))):
            vectors |= find_record_vectors(write, [("document", chunk)])
            write.execute("DELETE FROM redactions WHERE tbl = 'chunks' AND record = ?", (chunk,))
        write.execute("DELETE FROM chunks WHERE document_id = ?", (number,))
        write.execute("DELETE FROM documents WHERE id = ?", (number,))
    return vectors


# files that are only named


def _find_in_other_files(database: Database, lie: DocumentRoots, words: PurgedTexts) -> Iterator[RemainingMatch]:
    """Yield the files of the registry that a purge cannot change, if they contain the words; no document, of which the
    words are cut out."""
    cut = {os.path.realpath(found.place.path) for found in lie.walk(lambda name, why: None)}
    for file, files in list_person_files(database, lie.base):
        if os.path.realpath(file) in cut:
            continue
        try:
            text = next((text for text in _read_file_texts(file, words) if words.occur_in(text)), None)
        except (OSError, EOFError, UnicodeDecodeError, zlib.error):
            # damaged, or not text: the proof reads every byte of it
            continue
        if text is not None:
            name = (
                os.path.relpath(file, lie.base)
                if lie.base and file.startswith(os.path.join(lie.base, ""))
                else file
            )
            yield RemainingMatch(name, "export", file, files.what, words.excerpt(text), can=False)


def _find_held_text(path: str, texts: list[str]) -> list[str]:
    """Return a list with one text that the bytes of a file hold; empty if they hold none. All are looked for at
    once, then a half at a time."""

    def holds(some: list[str]) -> bool:
        return bool(search_file_bytes(path, ByteSearch(split_long_texts(some), []))["found"])

    if not holds(texts):
        return []
    while len(texts) > 1:
        half = texts[: len(texts) // 2]
        texts = half if holds(half) else texts[len(half) :]
    return texts


def _read_file_texts(path: str, words: PurgedTexts) -> Iterator[str]:
    """Yield the texts of a file without the escapes of Markdown; of an export of ours its lines, each a row; of a
    backup a text that it contains."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    if is_database(path):
        yield from _find_held_text(path, list(words.texts))
        return
    with open(path, "rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    with gzip.open(path) if packed else open(path, "rb") as file:
        head = file.readline(EXPORT_HEAD_BYTES)
        if EXPORT_FORMAT.encode() not in head:
            if not (path.endswith(EXPORT_ENDINGS) and head.startswith((b"{", b"["))):
                yield _ESCAPED.sub(r"\1", (head + file.read()).decode())
            return
        for line in file:
            yield line.decode().rstrip().rstrip(",")


# The versions of other tools' files that guard keeps, sealed: the part `tools` alone can read them.

GUARD_TABLE = "guard"
GUARD_LABEL = "kept by guard"
GUARD_UNREADABLE = "guard cannot read what it keeps"


class SealedTexts(NamedTuple):
    """What the part `tools` does with the versions that guard keeps: lists the places that have the words; yields every
    text, as far as it can be read; says how many bytes there are, and in which encodings a text was found; cuts the
    words out of places; deletes all of it. Each but the second raises MemorandaError."""

    find_matches: Callable[[PurgedTexts], list[RemainingMatch]]
    read_texts: Callable[[], Iterator[str]]
    search_bytes: Callable[[Sequence[str]], tuple[int, set[str]]]
    cut_out: Callable[[Collection[RemainingMatch], PurgedTexts], None]
    delete: Callable[[], int]


def guard_path() -> str:
    """Return where the database of the kept versions of this person is."""
    return os.path.join(os.path.dirname(personal_memory_path()), "guard.db")


def has_kept_versions() -> bool:
    """Tell whether anything was ever kept."""
    return os.path.lexists(guard_path())


def require_sealed_texts() -> SealedTexts:
    """Return what reads the kept versions. Raise Unsupported where the part is not installed."""
    return require_extension("tools", SealedTexts)


def find_guard_matches(words: PurgedTexts) -> list[RemainingMatch]:
    """List the matches in versions that guard keeps, one for each file."""
    if not words or not has_kept_versions():
        return []
    try:
        return require_sealed_texts().find_matches(words)
    except NotFound:
        return []
    except MemorandaError as error:
        why = f"{GUARD_UNREADABLE}: {error.message}"
        return [RemainingMatch(GUARD_TABLE, GUARD_TABLE, guard_path(), why, "", can=False)]


def read_guard_texts() -> Iterator[str]:
    """Yield every text that guard keeps, as far as it can be read."""
    if has_kept_versions():
        with suppress(MemorandaError):
            yield from require_sealed_texts().read_texts()


def search_guard_bytes(texts: Sequence[str]) -> tuple[int, set[str]] | None:
    """Look for texts in every byte that is kept, unsealed; return how many bytes there are, and the encodings in
    which a text was found. Return None if nothing is kept. Raise MemorandaError if not all can be read."""
    if not has_kept_versions():
        return None
    try:
        return require_sealed_texts().search_bytes(texts)
    except NotFound:
        return None


def cut_from_guard(chosen: Iterable[RemainingMatch], words: PurgedTexts) -> dict[RemainingMatch, str]:
    """Cut the words out of these places; return why some were not, by place."""
    wanted = [place for place in chosen if place.table == GUARD_TABLE]
    if not wanted:
        return {}
    try:
        require_sealed_texts().cut_out(wanted, words)
    except MemorandaError as error:
        return dict.fromkeys(wanted, error.message)
    return {}
