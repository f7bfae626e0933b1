"""Clickable pieces of a line."""

from collections.abc import Sequence

from rich.cells import cell_len

from tui.theme.escape import visible

Piece = tuple[str, str] | tuple[str, str, str]
"""A text, its style, and the screen action of a click on it (or none)."""


def width(pieces: Sequence[Piece]) -> int:
    """Return the width of pieces in cells."""
    return sum(cell_len(visible(piece[0])) for piece in pieces)
