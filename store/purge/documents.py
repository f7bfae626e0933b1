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
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

from store.base.citations import Citation
from store.base.errors import InvalidInput
from store.base.location import checkout_root
from store.conversations import session_snapshot
from store.database.database import Database, Transaction
from store.database.files import is_database
from store.database.values import Verbatim, clean
from store.documents.atomic_write import owned, replace
from store.documents.paths import DocumentRoots, Root, Unreadable, decoded, read_bytes
from store.exchange.export_schema import FORMAT
from store.purge import registry
from store.purge.row_eraser import embeddings
from store.purge.scan.byte_scanner import GZIP, ByteSearch, look, pieces
from store.purge.scan.column_scan import RemainingMatch, likely
from store.purge.scan.pattern import Words

IN_GIT = "git's history keeps what was ever committed of it, out of reach"
HEAD = 200  # bytes within which an export of ours identifies itself
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?)*")
_WHOLE = re.compile(r"[ \t]*(?:\||#{1,6}[ \t])")  # tables and headings
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_ESCAPED = re.compile(r"\\([^A-Za-z0-9\s])")
_END = re.compile(
    r"""[.!?\u2026]+["'\u00bb\u201d\u2019)\]*_`]*(?=\s|$)|[\u3002\uff01\uff1f]"""
)  # no space follows in CJK


def places(database: Database, lie: DocumentRoots, words: Words) -> list[RemainingMatch]:
    """List every match in files: those that can be cut out of documents, and those that are only named."""
    found = list(documents(database, lie, words))
    return [*found, *_named(database, lie, words)] if words else found


def documents(database: Database, places: DocumentRoots, words: Words) -> Iterator[RemainingMatch]:
    """Yield the matches in documents, one for each sentence or line. A file is read if the index finds the words in it,
    does not have its current state, or leaves a section out, as of files that are kept in sync."""
    known = {
        path: (size, modified)
        for path, size, modified in database.rows("SELECT path, size, modified_ns FROM documents")
    }
    holding = {*indexed(database, words), *(path for (path,) in database.rows("SELECT path FROM synced_files"))}
    for document in places.walk(lambda name, why: None):
        name = document.place.name
        if name in holding or known.get(name) != (document.size, document.modified_ns):
            try:
                yield from _in(document.place, places, words)
            except (Unreadable, FileNotFoundError):
                continue  # `memoranda index documents` reports what it cannot read


def _in(place: Root, places: DocumentRoots, words: Words) -> Iterator[RemainingMatch]:
    raw, _ = read_bytes(place)
    text, _ = decoded(raw)
    if not words.inside(text):
        return
    git = IN_GIT if checkout_root(os.path.dirname(place.path)) else ""
    why = "it lies elsewhere" if os.path.isabs(place.name) else owned(place)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    digest = sha256(raw).digest()
    for start, end in stretches(text, words):
        first = text.count("\n", 0, start) + 1
        last = first + text.count("\n", start, max(start, end - 1))
        cut = " ".join(clean(text[start:end]).split())
        what = f"your file: edit it, for {why}" if why else "your file"
        cited = str(Citation("document", place.name, first, last))
        yield RemainingMatch(cited, "file", place.name, what, cut, not why, note=git, span=(start, end), digest=digest)


def stretches(text: str, words: Words) -> list[tuple[int, int]]:
    """Return what would be cut out of a text, as (start, end); none overlaps another."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(_around(text, *span) for span in words.spans(text)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the sentence, or the lines, that contain a stretch of text."""
    first = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    last = len(text) if after < 0 else after
    lines = first, last + (after >= 0)
    if _WHOLE.match(text, first) or len(_FENCE.findall(text, 0, first)) % 2:
        return lines
    marker = _MARKER.match(text, first)
    begin = min(start, marker.end() if marker else first)
    ends = [match.end() for match in _END.finditer(text, begin, start)]
    at = ends[-1] if ends else begin
    stop = _END.search(text, end, last)
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


def cut(places: DocumentRoots, chosen: Iterable[RemainingMatch]) -> dict[RemainingMatch, str]:
    """Cut these places, all `found` as "file", out of their files; return why some were skipped, by place."""
    by_path: dict[str, list[RemainingMatch]] = {}
    for one in chosen:
        by_path.setdefault(one.key, []).append(one)
    left: dict[RemainingMatch, str] = {}
    for path, some in by_path.items():
        try:
            place = places.named(path)
            raw, _ = read_bytes(place)
            if sha256(raw).digest() != some[0].digest:
                raise Unreadable("it was changed meanwhile")
            text = raw.decode()
            for start, end in sorted((one.span for one in some), reverse=True):
                text = text[:start] + text[end:]
            replace(place, some[0].digest, text.encode())
            session_snapshot.rename_without_words(place.path)
        except FileNotFoundError:
            continue  # the file was deleted, and the words with it
        except (Unreadable, InvalidInput) as error:
            left |= dict.fromkeys(some, error.message)
    return left


# what the index holds of them


def indexed(database: Database, words: Words) -> list[str]:
    """List the documents in which the index finds the words."""
    sql, parameters = likely(["c.text", "c.heading"], words)
    rows = database.rows(
        f"SELECT d.path, c.heading, c.text FROM chunks c JOIN documents d ON d.id = c.document_id WHERE {sql}",
        parameters,
    )
    return list(dict.fromkeys(path for path, *fields in rows if any(map(words.inside, fields))))


def drop(write: Transaction, paths: Collection[str]) -> set[int]:
    """Remove documents from the index, to be read again; return the vectors made from them."""
    vectors = set[int]()
    for path in paths:
        number = write.execute("SELECT id FROM documents WHERE path = ?", (Verbatim(path),)).get
        if number is None:
            continue
        for (chunk,) in list(write.rows("SELECT id FROM chunks WHERE document_id = ?", (number,))):
            vectors |= embeddings(write, [("document", chunk)])
            write.execute("DELETE FROM redactions WHERE tbl = 'chunks' AND record = ?", (chunk,))
        write.execute("DELETE FROM chunks WHERE document_id = ?", (number,))
        write.execute("DELETE FROM documents WHERE id = ?", (number,))
    return vectors


# files that are only named


def _named(database: Database, lie: DocumentRoots, words: Words) -> Iterator[RemainingMatch]:
    """Yield the files of the registry that a purge cannot change, if they contain the words; no document, of which the
    words are cut out."""
    cut = {os.path.realpath(found.place.path) for found in lie.walk(lambda name, why: None)}
    for file, files in registry.of_person(database, lie.base):
        if os.path.realpath(file) in cut:
            continue
        try:
            text = next((text for text in _texts(file, words) if words.inside(text)), None)
        except (OSError, EOFError, UnicodeDecodeError, zlib.error):
            continue  # damaged, or not text: the proof reads every byte of it
        if text is not None:
            name = os.path.relpath(file, lie.base) if lie.base and file.startswith(os.path.join(lie.base, "")) else file
            yield RemainingMatch(name, "export", file, files.what, words.around(text), can=False)


def _held(path: str, texts: list[str]) -> list[str]:
    """Return one of these texts that the bytes of a file hold, if they hold any: looked for all at once, then in each
    time a half of them."""

    def holds(some: list[str]) -> bool:
        return bool(look(path, ByteSearch(pieces(some), []))["found"])

    if not holds(texts):
        return []
    while len(texts) > 1:
        half = texts[: len(texts) // 2]
        texts = half if holds(half) else texts[len(half) :]
    return texts


def _texts(path: str, words: Words) -> Iterator[str]:
    """Yield the texts of a file: of a JSON document the lines, if it is an export of ours, each one row without the
    comma at its end; of a backup one of the words that it contains; of others all, without the escapes of Markdown."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return
    if is_database(path):
        yield from _held(path, list(words.texts))
        return
    with open(path, "rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    with gzip.open(path) if packed else open(path, "rb") as file:
        head = file.readline(HEAD)
        if FORMAT.encode() not in head:
            if not (path.endswith(registry.EXPORTS) and head.startswith((b"{", b"["))):
                yield _ESCAPED.sub(r"\1", (head + file.read()).decode())
            return
        for line in file:
            yield line.decode().rstrip().rstrip(",")
