"""What may be a name at all: one line of a text. A module of its own, for it is on the way of every hook."""

ONE_LINE = 200  # characters


def one_line(name: str) -> str:
    """What a session or a person is called, as it may be kept: one line of it, of ONE_LINE characters."""
    plain = "".join(char if char.isprintable() else " " for char in name[: 10 * ONE_LINE])
    return " ".join(plain.split())[:ONE_LINE].rstrip()
