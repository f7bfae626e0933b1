"""Print the command line's texts, errors and messages.

Everything is escaped first, including names of folders and checkpoints, which may be untrusted."""

from __future__ import annotations

import codecs
import json
import os
import sys

from store.base.errors import MemorandaError, StorageError
from store.config.configuration import load_config
from store.projects.locating import locate
from store.text.display import visible, visible_lines
from tui.theme.glyphs import ascii_table, is_ascii_locale, replace_glyphs


def use_ascii_fallback() -> None:
    """Replace glyphs that the encoding lacks by ASCII, such as ◐ by +."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if (stream.encoding or "").lower().startswith("utf"):
                # a lone surrogate
                stream.reconfigure(errors="replace")
            else:
                codecs.register_error("memoranda", replace_glyphs)
                stream.reconfigure(errors="memoranda")


def current_folder() -> str:
    """Return the working folder. Raise StorageError if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        raise StorageError("The folder you are in is gone.", "Change to another one.") from None


def write_utf8() -> None:
    """Write UTF-8 for scripts whatever the terminal's encoding is: a `?` would lose data."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")


def print_text(text: str, end: str = "\n", flush: bool = True) -> None:
    """Print on standard output. Raises StorageError if the write fails (`> file` on a full disk)."""
    try:
        print(text, end=end, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"Standard output cannot be written: {error.strerror}.") from None


def print_notice(text: str, end: str = "\n") -> None:
    """Print one line on standard error."""
    try:
        print(_with_ascii_glyphs(visible(text)), end=end, flush=True, file=sys.stderr)
    except OSError:
        # closed, but the command is done all the same
        pass


def print_result_line(line: str) -> None:
    """Print a line of the result as soon as it is known."""
    print_text(printable(line))


def printable(text: str) -> str:
    """Return a text as it is printed: escaped, and with ASCII for glyphs if the user or the locale wants it."""
    if text.isascii() and text.isprintable():
        return text
    return _with_ascii_glyphs(visible_lines(text))


def _with_ascii_glyphs(text: str) -> str:
    """Return `text` with ASCII for our glyphs if the user or the locale wants that."""
    if text.isascii():
        return text
    return text.translate(ascii_table()) if is_ascii_locale() or _wants_ascii() else text


def _wants_ascii() -> bool:
    """Return whether the configuration asks for ASCII; False if it cannot be read."""
    try:
        place = locate(_database_option, os.environ, current_folder())
        return bool(load_config(place)["badges"] == "ascii")
    except MemorandaError:
        return False


_database_option: str | None = None
"""The --db option, which determines the project's settings file."""


def set_database_option(option: str | None) -> None:
    """Use the settings that belong to this `--db` option; for None use the settings of the working folder."""
    global _database_option
    _database_option = option


def print_error(error: MemorandaError, as_json: bool) -> None:
    """Print an error on standard error: as a sentence, or as an object of JSON."""
    if as_json:
        body = {"error": {"code": error.code, "message": error.message, "next": error.next}}
        print(json.dumps(body, ensure_ascii=False), file=sys.stderr)
        return
    print_notice(str(error))
