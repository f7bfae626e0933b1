"""Looks for texts in the bytes of files: a process of its own, run by its path, with no more than Python and SQLite.

Standard input is a JSON object, `texts`, their `digests` and `files`; standard output a list, one object a file:
`file`, `size` (-1 if it could not be read), and `found`, the encodings in which a text, or a long piece of one, stands
there.

Five encodings: raw UTF-8, the same in other capitals, with any space between words and with accents composed or not;
escaped as JSON; UTF-16 of either end; base64 at its three alignments. Files that end in .gz are unpacked first, and
of a memory its packed history too, whose compressed bytes tell nothing.
"""

import base64
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from unicodedata import normalize

SQLITE = b"SQLite format 3\0"
CHUNK = 4 << 20
PIECE = 64  # letters: a longer text is looked for in pieces too, since SQLite spreads it over pages
LEAST_BASE64 = 8  # signs: fewer would be met by chance

MANY = 8  # texts: more are sifted, part by part, before each is looked for in all its ways of being written
DIGEST = "digest"  # the plain one that a memory keeps beside a text: whoever guesses a text can tell it by that
SIGNS = re.compile(rb"[A-Za-z0-9+/_-]{8,}")

Finder = Callable[[bytes, bytes], bool]  # a part of a file, and the same in small letters
Sift = Callable[[bytes], set[str]]  # a part in small letters → the texts that may stand in it


def main() -> None:
    wanted = json.load(sys.stdin)
    texts = pieces(wanted["texts"])
    finders = {name: [(text, finder(text)) for text in texts] for name, finder in ENCODINGS.items()}
    sift = sifting(texts) if len(texts) > MANY else None
    overlap = 24 * max(map(len, texts), default=0) + 64
    digests = [digest.encode() for digest in wanted["digests"]]
    told = [look(file, finders, sift, overlap, digests) for file in wanted["files"]]
    json.dump(told, sys.stdout)


def pieces(texts: list[str]) -> list[str]:
    """The texts, and the pieces of long ones."""
    found = dict.fromkeys(text.strip() for text in texts if text.strip())
    for text in list(found):
        if len(text) > 2 * PIECE:
            found.update(dict.fromkeys(text[at : at + PIECE].strip() for at in range(0, len(text) - PIECE + 1, PIECE)))
            del found[text]
    return list(found)


def look(
    file: str,
    finders: dict[str, list[tuple[str, Finder]]],
    sift: "Sift | None",
    overlap: int,
    digests: list[bytes],
) -> dict[str, object]:
    found: list[str] = []
    size = 0
    try:
        for part in parts(file, overlap):
            size += len(part)
            small = part.lower()
            likely = sift(small) if sift else None
            if DIGEST not in found and any(digest in small for digest in digests):
                found.append(DIGEST)
            for name, among in finders.items():
                if name in found:
                    continue
                if name == "base64" and sift:
                    part = b"\n".join(SIGNS.findall(part))  # all that may be base64: little, in most files
                if any(
                    finder(part, small)
                    for text, finder in among
                    if likely is None or name == "base64" or text in likely
                ):
                    found.append(name)
    except (OSError, EOFError):
        return {"file": file, "size": -1, "found": []}
    return {"file": file, "size": size, "found": [name for name in (*finders, DIGEST) if name in found]}


def parts(file: str, overlap: int) -> Iterator[bytes]:
    """A file in parts, each of which begins with the end of the one before."""
    opened = gzip.open(file) if file.endswith(".gz") else open(file, "rb")  # noqa: SIM115
    with opened as stream:
        tail = b""
        first = True
        memory = False
        while chunk := stream.read(CHUNK):
            memory = memory or (first and chunk.startswith(SQLITE))
            first = False
            yield tail + chunk
            tail = chunk[-overlap:]
    if memory:
        yield from packed(file)


def packed(file: str) -> Iterator[bytes]:
    """What is in the blocks of packed history of a memory (store/blocks.py). One that cannot be read as such is only
    its bytes."""
    import apsw

    try:
        connection = apsw.Connection(file, flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return
    try:
        for blobs in connection.execute("SELECT directory, texts FROM history_block"):
            for blob in blobs:
                yield zlib.decompress(blob)
    except (apsw.Error, zlib.error, TypeError):
        return
    finally:
        connection.close()


# many texts at once


def sifting(texts: list[str]) -> Sift:
    """Tells which texts may stand in a part. Part and text are brought to one plain form, escapes undone, all space one
    space, letters beyond ASCII one sign, UTF-16's zeros gone; what stands there in any encoding, stands there in it."""
    plain = {
        text: {
            BEYOND.sub(b"?", SPACE.sub(b" ", normalize(form, case).encode("utf-8", "replace").lower()))
            for case in (text, text.lower(), text.upper())
            for form in ("NFC", "NFD")
        }
        for text in texts
    }
    # a writing beyond the first 256 letters leaves other bytes in UTF-16: nothing can be told of it beforehand
    always = {text for text in texts if any(ord(letter) > 255 for letter in normalize("NFC", text))}

    def sift(small: bytes) -> set[str]:
        unescaped = ESCAPED.sub(lambda match: UNESCAPED.get(match[0][1:2], match[0][1:2]), small)
        forms = [BEYOND.sub(b"?", SPACE.sub(b" ", form)) for form in (small, unescaped, small.replace(b"\0", b""))]
        return always | {text for text, ways in plain.items() if any(way in form for way in ways for form in forms)}

    return sift


SPACE = re.compile(rb"\s+")
BEYOND = re.compile(rb"[\x80-\xff]+")
ESCAPED = re.compile(rb"(?:\\u[0-9a-f]{4})+|\\[nrt\"\\/bf]")
UNESCAPED = {b"n": b" ", b"r": b" ", b"t": b" ", b"u": b"\xff", b"b": b" ", b"f": b" "}


# a letter in the ways in which it may be written


def ways(letter: str) -> list[str]:
    """A letter small and large, composed and not."""
    cases = (letter, letter.lower(), letter.upper(), letter.casefold())
    return list(dict.fromkeys(normalize(form, case) for case in cases for form in ("NFC", "NFD")))


def spelled(text: str, encode: Callable[[str], list[bytes]], space: bytes) -> bytes:
    """A pattern for a text: each letter as any of its encodings, in small letters where they are ASCII's."""
    words = []
    for word in normalize("NFC", text).split():
        letters = []
        for letter in word:
            found = list(dict.fromkeys(re.escape(way) for way in encode(letter)))
            letters.append(found[0] if len(found) == 1 else b"(?:" + b"|".join(found) + b")")
        words.append(b"".join(letters))
    return space.join(words)


def probe(text: str) -> bytes:
    """The longest run of ASCII letters and figures: a part that lacks it holds nothing of the text."""
    return max(re.findall(rb"[a-z0-9]+", text.lower().encode()), key=len, default=b"")


def searching(text: str, pattern: bytes, probe: bytes) -> Finder:
    search = re.compile(pattern).search
    return lambda part, small: probe in small and search(small) is not None


def raw(text: str) -> Finder:
    def encode(letter: str) -> list[bytes]:
        return [way.encode("utf-8", "replace").lower() for way in ways(letter)]

    return searching(text, spelled(text, encode, rb"\s+"), probe(text))


def escaped(text: str) -> Finder:
    """As JSON writes it, with or without the letters beyond ASCII; at least one sign must be escaped."""

    def encode(letter: str) -> list[bytes]:
        both = (json.dumps(way, ensure_ascii=only)[1:-1] for way in ways(letter) for only in (True, False))
        return [way.encode("utf-8", "replace").lower() for way in both]

    found = re.compile(spelled(text, encode, rb"(?:\s|\\[nrt])+")).finditer
    part_of = probe(text)
    return lambda part, small: part_of in small and any(b"\\" in match[0] for match in found(small))


def sixteen(order: str) -> Callable[[str], Finder]:
    def finder(text: str) -> Finder:
        def encode(letter: str) -> list[bytes]:
            return [way.encode(f"utf-16-{order}", "replace").lower() for way in ways(letter)]

        space = b"(?:" + b"|".join(re.escape(sign.encode(f"utf-16-{order}")) for sign in " \n\r\t\u00a0") + b")+"
        return searching(
            text,
            spelled(text, encode, space),
            b"\0".join(bytes([byte]) for byte in probe(text)),
        )

    return finder


def based(text: str) -> Finder:
    """Base64 of the text as it is, small, composed and not: what the signs around it have no part in."""
    cores = set[bytes]()
    for case in (text, text.lower()):
        for form in ("NFC", "NFD"):
            told = normalize(form, case).encode("utf-8", "replace")
            for shift in range(3):
                signs = base64.b64encode(b"\0" * shift + told)
                start = (0, 2, 3)[shift]
                core = signs[start : (shift + len(told)) // 3 * 4]
                if len(core) >= LEAST_BASE64:
                    cores |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return lambda part, small: any(core in part for core in cores)


ENCODINGS: dict[str, Callable[[str], Finder]] = {
    "raw": raw,
    "JSON": escaped,
    "UTF-16LE": sixteen("le"),
    "UTF-16BE": sixteen("be"),
    "base64": based,
}

if __name__ == "__main__":
    main()
