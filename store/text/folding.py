"""Remove case and accents for comparison."""

from unicodedata import normalize as _form


def fold(text: str) -> str:
    """Remove capitals and accents without changing the length; make curly apostrophes straight."""
    return text.lower() if text.isascii() else text.translate(_BARE)


def normalize(text: str, keep: str = "") -> str:
    """Remove capitals, accents and repeated spaces; the length may change.

    `keep`: letters that are not changed, as `ñ` where `año` is not `ano`.
    """
    text = text.casefold()
    if not text.isascii():
        parts = (char if char in keep else _stripped(char) for char in _form("NFC", text))
        text = "".join(parts)
    return " ".join(text.split())


class _Bare(dict[int, str]):
    """Code point of a character → the letter without capitals and accents, noted when it is first met."""

    def __missing__(self, code: int) -> str:
        found = _form("NFD", chr(code).lower())[:1]
        self[code] = bare = {"’": "'", "‘": "'"}.get(found, found)
        return bare


_BARE = _Bare()


def _stripped(char: str) -> str:
    return "".join(part for part in _form("NFD", char) if not "\u0300" <= part <= "\u036f")
