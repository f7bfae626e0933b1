"""What of a record is embedded, and the name that text has in the cache."""

from store.base.hashing import sha256
from store.embedding.provider import LONGEST


def form(kind: str, title: str, text: str) -> str:
    """The text that stands for a row of the corpus; empty if there is nothing to embed.

    A turn goes with its speaker: "speaker: text" found twice as much as the text alone.
    """
    title, text = title.strip(), text.strip()
    if kind == "turn" and title and text:
        return f"{title}: {text}"[:LONGEST]
    return "\n".join(part for part in (title, text) if part)[:LONGEST]


def digest(fingerprint: str, text: str) -> bytes:
    """The name of a text's vector: 16 bytes, other ones for another model."""
    return sha256(f"{fingerprint}\0{text}".encode("utf-8", "replace")).digest()[:16]
