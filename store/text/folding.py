"""Remove case and accents for comparison."""

from unicodedata import normalize as _form


def fold(text: str) -> str:
    """Remove capitals and accents without changing the length; make curly apostrophes straight."""
    if text.isascii():
        return text.lower()
    return "".join(_bare(char) for char in text)


def normalize(text: str, keep: str = "") -> str:
    """Remove capitals, accents and repeated spaces; the length may change.

    `keep`: letters that are not changed, as `ñ` where `año` is not `ano`.
    """
    text = text.casefold()
    if not text.isascii():
        parts = (char if char in keep else _stripped(char) for char in _form("NFC", text))
        text = "".join(parts)
    return " ".join(text.split())


def _bare(char: str) -> str:
    found = _form("NFD", char.lower())[:1]
    return {"’": "'", "‘": "'"}.get(found, found or char)


def _stripped(char: str) -> str:
    return "".join(part for part in _form("NFD", char) if not "\u0300" <= part <= "\u036f")
