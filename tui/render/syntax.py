"""Render diffs and Markdown as coloured lines, by Pygments' lexers, which are imported when the first is rendered."""

from collections.abc import Iterable

from tui.render.lines import StyledLine

_DIFF_STYLES = {
    "Generic.Inserted": "added",
    "Generic.Deleted": "removed",
    "Generic.Heading": "hunk",
    "Generic.Subheading": "hunk",
}
# maximum characters of a line: a minified file's would be megabytes wide
LONGEST_DIFF_LINE = 400


def _split_into_tokens(language: str, text: str, **options: bool) -> Iterable[tuple[str, str]]:
    """Return the tokens of a text, each with its kind (`Generic.Heading`), as the lexer of a language finds them."""
    # with a lexer 11 ms, which the start need not wait for
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False, **options)
    return ((str(kind).removeprefix("Token."), value) for kind, value in lexer.get_tokens(text))


def color_diff(text: str) -> list[StyledLine]:
    """Return the lines of a unified diff, each as a single piece with its style."""
    lines: list[StyledLine] = []
    current: StyledLine = []
    for kind, value in _split_into_tokens("diff", text):
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
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
    ("Generic.Strong", "title"),
    ("Literal.String", "code"),
    ("Keyword", "accent"),
    ("Name", "accent"),
)
# maximum characters of a line to colour: a pattern may take quadratic time
LONGEST_COLORED = 1_000


def color_markdown(lines: list[str]) -> list[StyledLine]:
    """Return each line as its pieces. Text inside a fenced block is not parsed as Markdown."""
    shown: list[StyledLine] = [[] for _ in lines]
    if any(len(line) > LONGEST_COLORED for line in lines):
        return [[(line, "")] for line in lines]
    at = 0
    text = "".join(f"{line}\n" for line in lines)
    for kind, value in _split_into_tokens("markdown", text, handlecodeblocks=False):
        style = next((style for token, style in _MARKDOWN_STYLES if f"{kind}.".startswith(f"{token}.")), "")
        for index, part in enumerate(value.split("\n")):
            at += bool(index)
            if part and at < len(shown):
                shown[at].append((part, style))
    return shown
