"""Look for texts in the bytes of files: a separate process, run by its path, which imports nothing of Memoranda.

Standard input is a JSON object, `texts`, their `digests` and `files`; standard output a list, one object a file:
`file`, `size` (-1 if it could not be read), and `found`, the encodings in which a text, or a long piece of one, occurs.

Six encodings: raw UTF-8, in any capitals, with any space between words and with accents composed or not; escaped as
JSON; UTF-16 of either byte order; base64 at its three alignments; percent-encoded as in addresses. Content packed by
gzip is unpacked first, whatever the file's name. The packed history of a memory is unpacked too, also if the memory
itself is packed, since its compressed bytes cannot be searched.

A file is read once, however many the texts: an automaton finds a few letters of each, and the full comparison in all
spellings runs only around those.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from unicodedata import normalize
from urllib.parse import quote

import apsw
from ahocorasick_rs import BytesAhoCorasick

SQLITE_MAGIC = b"SQLite format 3\0"
GZIP_MAGIC = b"\x1f\x8b"
# SQLITE_OPEN_READONLY; _READWRITE and _CREATE; _URI
OPEN_READ_ONLY, OPEN_IN_MEMORY, OPEN_URI = 0x1, 0x6, 0x40
READ_CHUNK_BYTES = 4 << 20
# letters: a longer text is also looked for in pieces, since SQLite spreads it over pages
MAX_PIECE_LENGTH = 64
# characters: fewer would match by chance
LEAST_BASE64 = 8

# letters and figures needed to find a text
MIN_RUN_LENGTH = 3
# letters, in a script in which each has several forms
MAX_CASED_LETTERS = 4
# spellings of so many letters, in one encoding
MAX_SPELLINGS = 256
# bytes around a text, and around a word of it, that may be spaces in it
SPARE_BYTES = 200
DIGEST_ENCODING = (
    # the plain digest that a memory keeps beside a text: a guessed text can be confirmed by it
    "digest"
)
BASE64_ENCODING = "base64"
ANY_WORD = re.compile(r"\w+")
ASCII_RUN = re.compile(r"[A-Za-z0-9]+")

# the spellings of a letter, in small letters where they are ASCII
EncodeLetter = Callable[[str], list[bytes]]
# whether some bytes, in small letters, contain a text
FindInBytes = Callable[[bytes], bool]
# bytes that a part must contain, and the encodings of a text with them
Needle = tuple[bytes, tuple[str, ...]]
# letters and figures, and their start and end in a text
AsciiRun = tuple[bytes, int, int]
# bytes that must be within so many bytes before, and so many behind
NearbyBytes = tuple[bytes, int, int]
NeedleMeaning = tuple[
    str, tuple[str, ...], tuple[NearbyBytes, ...], int
]  # a text, encodings, bytes that must be near it, and how far


def main() -> None:
    wanted = json.load(sys.stdin)
    search = ByteSearch(split_long_texts(wanted["texts"]), [digest.encode() for digest in wanted["digests"]])
    json.dump([search_file_bytes(file, search) for file in wanted["files"]], sys.stdout)


def split_long_texts(texts: list[str]) -> list[str]:
    """Return the texts and the pieces of long ones."""
    found = dict.fromkeys(text.strip() for text in texts if text.strip())
    for text in list(found):
        if len(text) > 2 * MAX_PIECE_LENGTH:
            found.update(
                dict.fromkeys(
                    text[at : at + MAX_PIECE_LENGTH].strip()
                    for at in range(0, len(text) - MAX_PIECE_LENGTH + 1, MAX_PIECE_LENGTH)
                )
            )
            del found[text]
    return list(found)


def search_file_bytes(file: str, search: ByteSearch) -> dict[str, object]:
    """Return for a file its name, its size and the encodings in which a text was found; size -1 if it could not be
    read."""
    found = set[str]()
    size = 0
    try:
        for part in read_parts(file, search.overlap):
            size += len(part)
            search.search_part(part, found)
    except (OSError, EOFError):
        return {"file": file, "size": -1, "found": []}
    return {
        "file": file,
        "size": size,
        "found": [name for name in (*ENCODINGS, BASE64_ENCODING, DIGEST_ENCODING) if name in found],
    }


def read_parts(file: str, overlap: int) -> Iterator[bytes]:
    """Read a file in parts, each of which begins with the end of the one before. Raise OSError or EOFError."""
    with open(file, "rb") as stream:
        packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    if packed:
        yield from read_gzip_parts(file, overlap)
    head = b""
    with open(file, "rb") as stream:
        tail = b""
        while chunk := stream.read(READ_CHUNK_BYTES):
            head = head or chunk[: len(SQLITE_MAGIC)]
            if not packed:
                yield tail + chunk
                tail = chunk[-overlap:]
    if head.startswith(SQLITE_MAGIC):
        yield from read_packed_history(file)


def read_gzip_parts(file: str, overlap: int) -> Iterator[bytes]:
    """Yield what gzip packed, in parts; of a memory its packed history too."""
    kept: list[bytes] | None = None
    tail = b""
    try:
        with gzip.open(file) as stream:
            while chunk := stream.read(READ_CHUNK_BYTES):
                if not tail and chunk.startswith(SQLITE_MAGIC):
                    kept = []
                if kept is not None:
                    kept.append(chunk)
                yield tail + chunk
                tail = chunk[-overlap:]
    except zlib.error:
        raise EOFError from None
    if kept:
        yield from read_packed_history(file, b"".join(kept))


def read_packed_history(file: str, content: bytes = b"") -> Iterator[bytes]:
    """Yield the content of a memory's blocks of packed history (store/history/compression.py), given a file or its
    bytes. Yield nothing where it cannot be read as a memory."""
    try:
        if content:
            connection = apsw.Connection(":memory:", flags=OPEN_IN_MEMORY)
        elif os.path.exists(f"{file}-wal"):
            connection = apsw.Connection(file, flags=OPEN_READ_ONLY)
        else:  # no other process has it open, and no log may be left beside it
            connection = apsw.Connection(
                f"file:{quote(os.path.abspath(file))}?immutable=1", flags=OPEN_READ_ONLY | OPEN_URI
            )
    except apsw.Error:
        return
    try:
        # a log beside it would have been packed separately
        if content:
            connection.deserialize("main", content[:18] + b"\1\1" + content[20:])
        for blobs in connection.execute("SELECT directory, texts FROM history_block"):
            for blob in blobs:
                yield zlib.decompress(blob)
    except (apsw.Error, zlib.error, TypeError):
        return
    finally:
        connection.close()


# many texts at once


class ByteSearch:
    """Search for texts, and for digests as they are. `overlap` is how many bytes two parts of a file must share."""

    def __init__(self, texts: list[str], digests: list[bytes]) -> None:
        self.overlap = 24 * max(map(len, texts), default=0) + 64
        self._made: dict[tuple[str, str], FindInBytes] = {}
        placed = {text: find_ascii_runs(text) for text in texts}
        often = count_runs(placed)
        self._plain = {
            text: sort_rarest_first({run for run, _, _ in parts}, often) for text, parts in placed.items()
        }
        about: dict[bytes, list[NeedleMeaning]] = {digest: [] for digest in digests}
        # texts without a run to filter by
        self._always: list[str] = []
        for text, parts in placed.items():
            rarest = next((run for run in self._plain[text] if len(run) >= MIN_RUN_LENGTH), b"")
            found = [*(plain_needles(rarest) if rarest else spelled_needles(text))]
            if not found:
                self._always.append(text)
            for needle, names in found:
                beside = (
                    required_neighbours(
                        parts, rarest, self._plain[text], widen if names == WIDE_ENCODINGS else bytes
                    )
                    if rarest
                    else ()
                )
                about.setdefault(needle, []).append((text, names, beside, 24 * len(text) + SPARE_BYTES))
        self._about = list(about.values())
        self._find = BytesAhoCorasick(list(about)).find_matches_as_indexes
        self._coded = BytesAhoCorasick(
            {core for text in texts for core in base64_spellings(text)}
        ).find_matches_as_indexes

    def search_part(self, part: bytes, found: set[str]) -> None:
        """Add to `found` the encodings in which a text occurs in a part of a file."""
        if BASE64_ENCODING not in found and self._coded(part):
            found.add(BASE64_ENCODING)
        small = part.lower()
        find = small.find
        for which, start, end in self._find(small, True):
            meant = self._about[which]
            if not meant:
                found.add(DIGEST_ENCODING)
            for text, names, beside, reach in meant:
                for run, before, behind in beside:
                    if find(run, start - before if start > before else 0, end + behind) < 0:
                        break
                else:
                    self._compare_around(text, names, small[max(0, start - reach) : end + reach], found)
        for text in self._always:
            self._compare_around(text, tuple(ENCODINGS), small, found)

    def _compare_around(self, text: str, names: tuple[str, ...], small: bytes, found: set[str]) -> None:
        """Add to `found` the encodings in which a text occurs in these bytes, by the full comparison."""
        dense = None
        for name in names:
            if name in found or not any(sign in small for sign in REQUIRED_SIGNS.get(name, (b"",))):
                continue
            if name in WIDE_ENCODINGS:
                dense = small.replace(b"\0", b"") if dense is None else dense
            among = dense if name in WIDE_ENCODINGS and dense is not None else small
            if all(run in among for run in self._plain[text]) and self._cached_finder(name, text)(small):
                found.add(name)

    def _cached_finder(self, name: str, text: str) -> FindInBytes:
        """Return the full comparison of a text in an encoding, made once."""
        made = self._made.get((name, text))
        if made is None:
            made = self._made[name, text] = make_finder(name, text)
        return made


def find_ascii_runs(text: str) -> list[AsciiRun]:
    """Return the runs of plain ASCII letters and figures of a text, in small letters, and their positions. Every
    encoding but base64 leaves them unchanged."""
    return [(match[0].lower().encode(), *match.span()) for match in ASCII_RUN.finditer(normalize("NFC", text))]


def count_runs(placed: dict[str, list[AsciiRun]]) -> Counter[bytes]:
    """Count how often each run of these texts occurs in them, also within longer runs."""
    every = {run: None for runs in placed.values() for run, _, _ in runs}
    patterns = list(every)
    hits = BytesAhoCorasick(patterns).find_matches_as_indexes(
        b" ".join(run for runs in placed.values() for run, _, _ in runs), True
    )
    return Counter(patterns[which] for which, _, _ in hits)


def sort_rarest_first(runs: set[bytes], often: Counter[bytes]) -> list[bytes]:
    """Return these runs, the rarest first; of equally rare runs the longest."""
    return sorted(runs, key=lambda run: (often[run], -len(run), run))


def plain_needles(run: bytes) -> Iterator[Needle]:
    """Yield the needles for a run of plain letters and figures."""
    yield run, NARROW_ENCODINGS
    yield widen(run), WIDE_ENCODINGS


def widen(run: bytes) -> bytes:
    """Return ASCII bytes with a NUL between them, as UTF-16 has it."""
    return b"\0".join(bytes([byte]) for byte in run)


def required_neighbours(
    runs: list[AsciiRun], run: bytes, rarest: list[bytes], write: Callable[[bytes], bytes]
) -> tuple[NearbyBytes, ...]:
    """Return the bytes that must be around the first of these runs that equals `run`, wherever their text occurs: the
    adjacent runs and the rarest of the others, the most selective first."""
    words = [word for word, _, _ in runs]
    place = words.index(run)
    least = next((words.index(word) for word in rarest if word != run), place)
    found: list[NearbyBytes] = []
    for at in sorted(
        {place - 1, place + 1, least} - {-1, place, len(words)}, key=lambda at: rarest.index(words[at])
    ):
        first, second = sorted((place, at))
        apart = 24 * (runs[second][1] - runs[first][2]) + 2 * len(words[at]) + SPARE_BYTES
        found.append((write(words[at]), *((0, apart) if at > place else (apart, 0))))
    return tuple(found)


def spelled_needles(text: str) -> Iterator[Needle]:
    """Yield the needles for a text without such a run: the beginning of its longest word in every spelling."""
    word = max(ANY_WORD.findall(normalize("NFC", text)), key=len, default="")
    found: dict[bytes, set[str]] = {}
    for name, encode in ENCODINGS.items():
        each: list[list[bytes]] = []
        for letter in word[:MAX_CASED_LETTERS]:
            forms = sorted({way.lower() for way in encode(letter)})
            if prod(map(len, [*each, forms])) > MAX_SPELLINGS:
                break
            each.append(forms)
        if len(each) < 2:
            return
        for together in product(*each):
            found.setdefault(b"".join(together), set()).add(name)
    for needle, names in found.items():
        yield needle, tuple(names)


# spellings of a letter


def letter_forms(letter: str) -> list[str]:
    """Return a letter in small and capital form, composed and decomposed."""
    cases = (letter, letter.lower(), letter.upper(), letter.casefold())
    return list(dict.fromkeys(normalize(form, case) for case in cases for form in ("NFC", "NFD")))


def spelling_regex(text: str, encode: EncodeLetter, space: bytes) -> bytes:
    """Return a pattern for a text: each letter in any of its encodings, in small letters where they are ASCII."""
    words = []
    for word in normalize("NFC", text).split():
        letters = []
        for letter in word:
            found = list(dict.fromkeys(re.escape(way) for way in encode(letter)))
            letters.append(found[0] if len(found) == 1 else b"(?:" + b"|".join(found) + b")")
        words.append(b"".join(letters))
    return space.join(words)


def raw_spellings(letter: str) -> list[bytes]:
    """Encode a letter as UTF-8, in all its forms."""
    return [way.encode("utf-8", "replace").lower() for way in letter_forms(letter)]


def json_spellings(letter: str) -> list[bytes]:
    """Encode a letter as JSON, with and without escapes beyond ASCII."""
    both = (json.dumps(way, ensure_ascii=only)[1:-1] for way in letter_forms(letter) for only in (True, False))
    return [way.encode("utf-8", "replace").lower() for way in both]


def percent_spellings(letter: str) -> list[bytes]:
    """Encode a letter as in an address."""
    raws = [way.encode("utf-8", "replace") for way in letter_forms(letter)]
    escaped = ["".join(f"%{byte:02x}" for byte in raw).encode() for raw in raws]
    return [*escaped, *(raw.lower() for raw in raws if raw.isalnum() or raw in b"-._~!$&'()*,;=:@/?")]


def utf16_spellings(order: str) -> EncodeLetter:
    """Return a function that encodes a letter as UTF-16 of a byte order."""
    return lambda letter: [way.encode(f"utf-16-{order}", "replace").lower() for way in letter_forms(letter)]


ENCODINGS: dict[str, EncodeLetter] = {
    "raw": raw_spellings,
    "JSON": json_spellings,
    "UTF-16LE": utf16_spellings("le"),
    "UTF-16BE": utf16_spellings("be"),
    "percent": percent_spellings,
}
WIDE_ENCODINGS = ("UTF-16LE", "UTF-16BE")
NARROW_ENCODINGS = ("raw", "JSON", "percent")
SPACE_PATTERNS = {
    "raw": rb"\s+",
    "JSON": rb"(?:\s|\\[nrt])+",
    "percent": rb"(?:\+|%20|%0a|%0d|%09|%c2%a0)+",
    **{
        f"UTF-16{order}": b"(?:"
        + b"|".join(re.escape(sign.encode(f"utf-16-{order.lower()}")) for sign in " \n\r\t\u00a0")
        + b")+"
        for order in ("LE", "BE")
    },
}
# a match must contain one of these, else it is raw
REQUIRED_SIGNS = {"JSON": (b"\\",), "percent": (b"%", b"+")}


def make_finder(name: str, text: str) -> FindInBytes:
    """Return a function that tells whether bytes contain a text in an encoding."""
    found = re.compile(spelling_regex(text, ENCODINGS[name], SPACE_PATTERNS[name])).finditer
    signs = REQUIRED_SIGNS.get(name, (b"",))
    return lambda small: any(any(sign in match[0] for sign in signs) for match in found(small))


def base64_spellings(text: str) -> set[bytes]:
    """Return the base64 of the text as it is and in small letters, composed and decomposed, without the characters that
    depend on adjacent bytes."""
    cores = set[bytes]()
    for case in (text, text.lower()):
        for form in ("NFC", "NFD"):
            data = normalize(form, case).encode("utf-8", "replace")
            for shift in range(3):
                signs = base64.b64encode(b"\0" * shift + data)
                start = (0, 2, 3)[shift]
                core = signs[start : (shift + len(data)) // 3 * 4]
                if len(core) >= LEAST_BASE64:
                    cores |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return cores


if __name__ == "__main__":
    main()
