"""Render Markdown as styled lines. Import Pygments here only: the worker needs it, the start does not."""

from pygments.lexers.diff import DiffLexer
from pygments.lexers.markup import MarkdownLexer
from pygments.token import Token, is_token_subtype

from tui.render.lines import StyledLine

# Render a diff as coloured lines. Import Pygments here only: the worker needs it, the start does not.

_DIFF_STYLES = {
    Token.Generic.Inserted: "added",
    Token.Generic.Deleted: "removed",
    Token.Generic.Heading: "hunk",
    Token.Generic.Subheading: "hunk",
}
LONGEST_DIFF_LINE = 400  # maximum characters of a line: a minified file's would be megabytes wide


def color_diff(text: str) -> list[StyledLine]:
    """Return the lines of a unified diff, each as a single piece with its style."""
    lines: list[StyledLine] = []
    current: StyledLine = []
    for kind, value in DiffLexer(stripnl=False, ensurenl=False).get_tokens(text):
        style = _DIFF_STYLES.get(kind, "plain")
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append(current)
                current = []
            if part:
                current.append((part if len(part) <= LONGEST_DIFF_LINE else part[:LONGEST_DIFF_LINE] + "…", style))
    if current:
        lines.append(current)
    return lines


_MARKDOWN_STYLES = (
    (Token.Generic.Heading, "heading"),
    (Token.Generic.Subheading, "heading"),
    (Token.Generic.Strong, "title"),
    (Token.Literal.String, "code"),
    (Token.Keyword, "accent"),
    (Token.Name, "accent"),
)
LONGEST_COLORED = 1_000  # maximum characters of a line to colour: a pattern may take quadratic time


def color_markdown(lines: list[str]) -> list[StyledLine]:
    """Return each line as its pieces. Text inside a fenced block is not parsed as Markdown."""
    shown: list[StyledLine] = [[] for _ in lines]
    if any(len(line) > LONGEST_COLORED for line in lines):
        return [[(line, "")] for line in lines]
    at = 0
    lexer = MarkdownLexer(stripnl=False, ensurenl=False, handlecodeblocks=False)  # type: ignore[no-untyped-call]
    for kind, value in lexer.get_tokens("".join(f"{line}\n" for line in lines)):
        style = next((style for token, style in _MARKDOWN_STYLES if is_token_subtype(kind, token)), "")
        for index, part in enumerate(value.split("\n")):
            at += bool(index)
            if part and at < len(shown):
                shown[at].append((part, style))
    return shown
