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

SQLITE = b"SQLite format 3\0"
GZIP = b"\x1f\x8b"
READ, MEMORY, URI = 0x1, 0x6, 0x40  # SQLITE_OPEN_READONLY; _READWRITE and _CREATE; _URI
CHUNK = 4 << 20
PIECE = 64  # letters: a longer text is also looked for in pieces, since SQLite spreads it over pages
LEAST_BASE64 = 8  # characters: fewer would match by chance

FEWEST = 3  # letters and figures needed to find a text
CASED = 4  # letters, in a script in which each has several forms
WAYS = 256  # spellings of so many letters, in one encoding
SPARE = 200  # bytes around a text, and around a word of it, that may be spaces in it
DIGEST = "digest"  # the plain digest that a memory keeps beside a text: a guessed text can be confirmed by it
BASE64 = "base64"
WORD = re.compile(r"\w+")
PLAIN = re.compile(r"[A-Za-z0-9]+")

Encode = Callable[[str], list[bytes]]  # the spellings of a letter, in small letters where they are ASCII
Finder = Callable[[bytes], bool]  # whether some bytes, in small letters, contain a text
Needle = tuple[bytes, tuple[str, ...]]  # bytes that a part must contain, and the encodings of a text with them
Run = tuple[bytes, int, int]  # letters and figures, and their start and end in a text
Near = tuple[bytes, int, int]  # bytes that must be within so many bytes before, and so many behind
Meant = tuple[str, tuple[str, ...], tuple[Near, ...], int]  # a text, encodings, bytes that must be near it, and how far


def main() -> None:
    wanted = json.load(sys.stdin)
    search = ByteSearch(pieces(wanted["texts"]), [digest.encode() for digest in wanted["digests"]])
    json.dump([look(file, search) for file in wanted["files"]], sys.stdout)


def pieces(texts: list[str]) -> list[str]:
    """Return the texts and the pieces of long ones."""
    found = dict.fromkeys(text.strip() for text in texts if text.strip())
    for text in list(found):
        if len(text) > 2 * PIECE:
            found.update(dict.fromkeys(text[at : at + PIECE].strip() for at in range(0, len(text) - PIECE + 1, PIECE)))
            del found[text]
    return list(found)


def look(file: str, search: "ByteSearch") -> dict[str, object]:
    found = set[str]()
    size = 0
    try:
        for part in parts(file, search.overlap):
            size += len(part)
            search.into(part, found)
    except (OSError, EOFError):
        return {"file": file, "size": -1, "found": []}
    return {"file": file, "size": size, "found": [name for name in (*ENCODINGS, BASE64, DIGEST) if name in found]}


def parts(file: str, overlap: int) -> Iterator[bytes]:
    """Read a file in parts, each of which begins with the end of the one before. Raise OSError or EOFError."""
    with open(file, "rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    if packed:
        yield from unpacked(file, overlap)
    head = b""
    with open(file, "rb") as stream:
        tail = b""
        while chunk := stream.read(CHUNK):
            head = head or chunk[: len(SQLITE)]
            if not packed:
                yield tail + chunk
                tail = chunk[-overlap:]
    if head.startswith(SQLITE):
        yield from history(file)


def unpacked(file: str, overlap: int) -> Iterator[bytes]:
    """Yield what gzip packed, in parts; of a memory its packed history too."""
    kept: list[bytes] | None = None
    tail = b""
    try:
        with gzip.open(file) as stream:
            while chunk := stream.read(CHUNK):
                if not tail and chunk.startswith(SQLITE):
                    kept = []
                if kept is not None:
                    kept.append(chunk)
                yield tail + chunk
                tail = chunk[-overlap:]
    except zlib.error:
        raise EOFError from None
    if kept:
        yield from history(file, b"".join(kept))


def history(file: str, content: bytes = b"") -> Iterator[bytes]:
    """Yield the content of a memory's blocks of packed history (store/history/block_table.py), given a file or its
    bytes. Yield nothing where it cannot be read as a memory."""
    import apsw

    try:
        if content:
            connection = apsw.Connection(":memory:", flags=MEMORY)
        elif os.path.exists(f"{file}-wal"):
            connection = apsw.Connection(file, flags=READ)
        else:  # no other process has it open, and no log may be left beside it
            connection = apsw.Connection(f"file:{quote(os.path.abspath(file))}?immutable=1", flags=READ | URI)
    except apsw.Error:
        return
    try:
        if content:  # a log beside it would have been packed separately
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
        from ahocorasick_rs import BytesAhoCorasick

        self.overlap = 24 * max(map(len, texts), default=0) + 64
        self._made: dict[tuple[str, str], Finder] = {}
        placed = {text: runs(text) for text in texts}
        often = frequency(placed)
        self._plain = {text: rarest_first({run for run, _, _ in parts}, often) for text, parts in placed.items()}
        about: dict[bytes, list[Meant]] = {digest: [] for digest in digests}
        self._always: list[str] = []  # texts without a run to filter by
        for text, parts in placed.items():
            rarest = next((run for run in self._plain[text] if len(run) >= FEWEST), b"")
            found = [*(plain(rarest) if rarest else needles(text))]
            if not found:
                self._always.append(text)
            for needle, names in found:
                beside = (
                    neighbours(parts, rarest, self._plain[text], wide if names == WIDE else bytes) if rarest else ()
                )
                about.setdefault(needle, []).append((text, names, beside, 24 * len(text) + SPARE))
        self._about = list(about.values())
        self._find = BytesAhoCorasick(list(about)).find_matches_as_indexes
        self._coded = BytesAhoCorasick({core for text in texts for core in based(text)}).find_matches_as_indexes

    def into(self, part: bytes, found: set[str]) -> None:
        """Add to `found` the encodings in which a text occurs in a part of a file."""
        if BASE64 not in found and self._coded(part):
            found.add(BASE64)
        small = part.lower()
        find = small.find
        for which, start, end in self._find(small, True):
            meant = self._about[which]
            if not meant:
                found.add(DIGEST)
            for text, names, beside, reach in meant:
                for run, before, behind in beside:
                    if find(run, start - before if start > before else 0, end + behind) < 0:
                        break
                else:
                    self._around(text, names, small[max(0, start - reach) : end + reach], found)
        for text in self._always:
            self._around(text, tuple(ENCODINGS), small, found)

    def _around(self, text: str, names: tuple[str, ...], small: bytes, found: set[str]) -> None:
        dense = None
        for name in names:
            if name in found or not any(sign in small for sign in ENCODED.get(name, (b"",))):
                continue
            if name in WIDE:
                dense = small.replace(b"\0", b"") if dense is None else dense
            among = dense if name in WIDE and dense is not None else small
            if all(run in among for run in self._plain[text]) and self._finder(name, text)(small):
                found.add(name)

    def _finder(self, name: str, text: str) -> Finder:
        made = self._made.get((name, text))
        if made is None:
            made = self._made[name, text] = finder(name, text)
        return made


def runs(text: str) -> list[Run]:
    """Return the runs of plain ASCII letters and figures of a text, in small letters, and their positions. Every
    encoding but base64 leaves them unchanged."""
    return [(match[0].lower().encode(), *match.span()) for match in PLAIN.finditer(normalize("NFC", text))]


def frequency(placed: dict[str, list[Run]]) -> Counter[bytes]:
    """Count how often each run of these texts occurs in them, also within longer runs."""
    from ahocorasick_rs import BytesAhoCorasick

    every = {run: None for runs in placed.values() for run, _, _ in runs}
    patterns = list(every)
    hits = BytesAhoCorasick(patterns).find_matches_as_indexes(
        b" ".join(run for runs in placed.values() for run, _, _ in runs), True
    )
    return Counter(patterns[which] for which, _, _ in hits)


def rarest_first(runs: set[bytes], often: Counter[bytes]) -> list[bytes]:
    return sorted(runs, key=lambda run: (often[run], -len(run), run))


def plain(run: bytes) -> Iterator[Needle]:
    """Yield the needles for a run of plain letters and figures."""
    yield run, NARROW
    yield wide(run), WIDE


def wide(run: bytes) -> bytes:
    return b"\0".join(bytes([byte]) for byte in run)


def neighbours(runs: list[Run], run: bytes, rarest: list[bytes], write: Callable[[bytes], bytes]) -> tuple[Near, ...]:
    """Return the bytes that must be around the first of these runs that equals `run`, wherever their text occurs: the
    adjacent runs and the rarest of the others, the most selective first."""
    words = [word for word, _, _ in runs]
    place = words.index(run)
    least = next((words.index(word) for word in rarest if word != run), place)
    found: list[Near] = []
    for at in sorted({place - 1, place + 1, least} - {-1, place, len(words)}, key=lambda at: rarest.index(words[at])):
        first, second = sorted((place, at))
        apart = 24 * (runs[second][1] - runs[first][2]) + 2 * len(words[at]) + SPARE
        found.append((write(words[at]), *((0, apart) if at > place else (apart, 0))))
    return tuple(found)


def needles(text: str) -> Iterator[Needle]:
    """Yield the needles for a text without such a run: the beginning of its longest word in every spelling."""
    word = max(WORD.findall(normalize("NFC", text)), key=len, default="")
    found: dict[bytes, set[str]] = {}
    for name, encode in ENCODINGS.items():
        each: list[list[bytes]] = []
        for letter in word[:CASED]:
            forms = sorted({way.lower() for way in encode(letter)})
            if prod(map(len, [*each, forms])) > WAYS:
                break
            each.append(forms)
        if len(each) < 2:
            return
        for together in product(*each):
            found.setdefault(b"".join(together), set()).add(name)
    for needle, names in found.items():
        yield needle, tuple(names)


# spellings of a letter


def ways(letter: str) -> list[str]:
    """Return a letter in small and capital form, composed and decomposed."""
    cases = (letter, letter.lower(), letter.upper(), letter.casefold())
    return list(dict.fromkeys(normalize(form, case) for case in cases for form in ("NFC", "NFD")))


def spelled(text: str, encode: Encode, space: bytes) -> bytes:
    """Return a pattern for a text: each letter in any of its encodings, in small letters where they are ASCII."""
    words = []
    for word in normalize("NFC", text).split():
        letters = []
        for letter in word:
            found = list(dict.fromkeys(re.escape(way) for way in encode(letter)))
            letters.append(found[0] if len(found) == 1 else b"(?:" + b"|".join(found) + b")")
        words.append(b"".join(letters))
    return space.join(words)


def raw(letter: str) -> list[bytes]:
    return [way.encode("utf-8", "replace").lower() for way in ways(letter)]


def escaped(letter: str) -> list[bytes]:
    """Encode as JSON, with and without escapes for letters beyond ASCII."""
    both = (json.dumps(way, ensure_ascii=only)[1:-1] for way in ways(letter) for only in (True, False))
    return [way.encode("utf-8", "replace").lower() for way in both]


def percent(letter: str) -> list[bytes]:
    """Encode as in an address."""
    raws = [way.encode("utf-8", "replace") for way in ways(letter)]
    escaped = ["".join(f"%{byte:02x}" for byte in raw).encode() for raw in raws]
    return [*escaped, *(raw.lower() for raw in raws if raw.isalnum() or raw in b"-._~!$&'()*,;=:@/?")]


def sixteen(order: str) -> Encode:
    return lambda letter: [way.encode(f"utf-16-{order}", "replace").lower() for way in ways(letter)]


ENCODINGS: dict[str, Encode] = {
    "raw": raw,
    "JSON": escaped,
    "UTF-16LE": sixteen("le"),
    "UTF-16BE": sixteen("be"),
    "percent": percent,
}
WIDE = ("UTF-16LE", "UTF-16BE")
NARROW = ("raw", "JSON", "percent")
SPACES = {
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
ENCODED = {"JSON": (b"\\",), "percent": (b"%", b"+")}  # a match must contain one of these, else it is raw


def finder(name: str, text: str) -> Finder:
    found = re.compile(spelled(text, ENCODINGS[name], SPACES[name])).finditer
    signs = ENCODED.get(name, (b"",))
    return lambda small: any(any(sign in match[0] for sign in signs) for match in found(small))


def based(text: str) -> set[bytes]:
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
