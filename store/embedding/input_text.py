"""The text of a record that is embedded, and the digest that is its key in the cache."""

from hashlib import sha256

from store.embedding.provider import LONGEST
from store.text.small_talk import says_something


def form(kind: str, title: str, text: str) -> str:
    """Return the text to embed for a passage; empty if there is none, or it says nothing by itself: such a text is
    similar to everything.

    A turn is prefixed with its speaker: "speaker: text" found twice as much as the text alone.
    """
    title, text = title.strip(), text.strip()
    if not says_something(text if kind == "turn" else f"{title} {text}"):
        return ""
    if kind == "turn" and title and text:
        return f"{title}: {text}"[:LONGEST]
    return "\n".join(part for part in (title, text) if part)[:LONGEST]


def digest(fingerprint: str, text: str) -> bytes:
    """Return the cache key of a text's vector: 16 bytes, different for each model."""
    return sha256(f"{fingerprint}\0{text}".encode("utf-8", "replace")).digest()[:16]
