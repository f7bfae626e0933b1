"""Reduce a name to one line. A separate module, since every hook imports it."""

ONE_LINE = 200  # characters


def one_line(name: str) -> str:
    """Return the name of a session or a person as it may be stored: one line, of ONE_LINE characters."""
    plain = "".join(char if char.isprintable() else " " for char in name[: 10 * ONE_LINE])
    return " ".join(plain.split())[:ONE_LINE].rstrip()
