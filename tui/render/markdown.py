"""Render Markdown as styled lines. Import Pygments here only: the worker needs it, the start does not."""

from pygments.lexers.markup import MarkdownLexer
from pygments.token import Token, is_token_subtype

from tui.render.field_diff import Line

_STYLES = (
    (Token.Generic.Heading, "heading"),
    (Token.Generic.Subheading, "heading"),
    (Token.Generic.Strong, "title"),
    (Token.Literal.String, "code"),
    (Token.Keyword, "accent"),
    (Token.Name, "accent"),
)
MOST = 1_000  # maximum characters of a line to colour: a pattern may take quadratic time


def coloured(lines: list[str]) -> list[Line]:
    """Return each line as its pieces. Text inside a fenced block is not parsed as Markdown."""
    shown: list[Line] = [[] for _ in lines]
    if any(len(line) > MOST for line in lines):
        return [[(line, "")] for line in lines]
    at = 0
    lexer = MarkdownLexer(stripnl=False, ensurenl=False, handlecodeblocks=False)  # type: ignore[no-untyped-call]
    for kind, value in lexer.get_tokens("".join(f"{line}\n" for line in lines)):
        style = next((style for token, style in _STYLES if is_token_subtype(kind, token)), "")
        for index, part in enumerate(value.split("\n")):
            at += bool(index)
            if part and at < len(shown):
                shown[at].append((part, style))
    return shown
