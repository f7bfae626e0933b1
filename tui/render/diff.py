"""Render a diff as coloured lines. Import Pygments here only: the worker needs it, the start does not."""

from pygments.lexers.diff import DiffLexer
from pygments.token import Token

from tui.render.field_diff import Line

_STYLES = {
    Token.Generic.Inserted: "added",
    Token.Generic.Deleted: "removed",
    Token.Generic.Heading: "hunk",
    Token.Generic.Subheading: "hunk",
}
WIDEST = 400  # maximum characters of a line: a minified file's would be megabytes wide


def coloured(text: str) -> list[Line]:
    """Return the lines of a unified diff, each as one piece with its style."""
    lines: list[Line] = []
    current: Line = []
    for kind, value in DiffLexer(stripnl=False, ensurenl=False).get_tokens(text):
        style = _STYLES.get(kind, "plain")
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append(current)
                current = []
            if part:
                current.append((part if len(part) <= WIDEST else part[:WIDEST] + "…", style))
    if current:
        lines.append(current)
    return lines
