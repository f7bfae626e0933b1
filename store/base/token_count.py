"""Estimate tokens: a quarter of a text's UTF-8 bytes, rounded up.

Not the count of a model, which differs between models; the estimate is a little high for English, near for code and
Spanish, and three quarters of a token a character for Chinese or Japanese.
"""

BYTES = 4  # of a token


def count(text: str) -> int:
    """Return how many tokens a text takes."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES)


LEFT_OUT = "\n[… {:,} tokens left out …]\n"


def cut_middle(text: str, limit: int) -> tuple[str, int]:
    """Return (the text, or so much of its beginning and its end as `limit` tokens hold, one third and two thirds, with
    a mark between them; how many tokens are left out): in pasted text, the question is at one end."""
    if count(text) <= limit:
        return text, 0
    raw = text.encode("utf-8", "replace")
    room = max(0, (limit - count(LEFT_OUT.format(len(raw)))) * BYTES)
    first = raw[: room // 3].decode("utf-8", "ignore").rstrip()
    last = raw[len(raw) - (room - room // 3) :].decode("utf-8", "ignore").lstrip()
    gone = count(text) - count(first) - count(last)
    return f"{first}{LEFT_OUT.format(gone)}{last}", gone


def cut(text: str, limit: int) -> str:
    """Return the text, or as much of its beginning as `limit` tokens hold, ending in `…`."""
    if count(text) <= limit:
        return text
    room = limit * BYTES - len("…".encode())
    return text.encode("utf-8", "replace")[: max(0, room)].decode("utf-8", "ignore").rstrip() + "…"
