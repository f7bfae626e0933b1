"""stats --plot: how the memory changed over time, as a picture or as columns of text."""

import os

from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from tui.input.argument_parser import ParsedArguments

SCREEN = "-"  # instead of a file: to the terminal
ROWS = 8  # lines of a plot there


def plot(session: Session, given: "ParsedArguments") -> Outcome:
    """Write growth, recall and age into an SVG file, or print them."""
    from store.exchange import exporter
    from store.records.trends import trends
    from tui.commands.files.exchange import may_replace
    from tui.render import plots

    memory = session.memory
    found = trends(memory.database, memory.now)
    if given.plot == SCREEN:
        width = _columns()
        lines = ["".join(text for text, _ in line) for one in found for line in plots.drawn(one, width, ROWS)]
        data = {one.name: dict(zip(one.labels, one.values, strict=True)) for one in found}
        return Outcome(lines=lines, data=lambda: data)
    path = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.plot)))

    def picture() -> "Generator[str, None, None]":
        yield plots.svg(found, session.location.name)

    size = exporter.save(memory.database, path, may_replace(session, given, path), text=picture)
    return Outcome(f"Drawn to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def _columns() -> int:
    from shutil import get_terminal_size

    return min(120, get_terminal_size().columns)
