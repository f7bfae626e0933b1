"""Letters as they are compared: without capitals and accents."""

from unicodedata import normalize


def fold(text: str) -> str:
    """A text without capitals and accents, as long as it was."""
    if text.isascii():
        return text.lower()
    return "".join(_bare(char) for char in text)


def _bare(char: str) -> str:
    found = normalize("NFD", char.lower())[:1]
    return {"’": "'", "‘": "'"}.get(found, found or char)
