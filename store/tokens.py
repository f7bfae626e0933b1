"""Tokens, estimated: a quarter of a text's UTF-8 bytes, rounded up.

No model's own count, which differs from model to model; English comes out a little high, code and Spanish near, and
Chinese or Japanese at three quarters of a token a character.
"""

BYTES = 4  # of a token


def count(text: str) -> int:
    """How many tokens a text takes."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES)


def cut(text: str, limit: int) -> str:
    """The text, or as much of its beginning as `limit` tokens hold, ending in `…`."""
    if count(text) <= limit:
        return text
    room = limit * BYTES - len("…".encode())
    return text.encode("utf-8", "replace")[: max(0, room)].decode("utf-8", "ignore").rstrip() + "…"
