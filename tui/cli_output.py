"""Print the command line's outcomes, errors and messages.

Everything is escaped first, including names of folders and checkpoints, which may be untrusted."""

import os
import sys

from store.base import location
from store.base.errors import MemorandaError, StorageError
from tui.commands import Outcome


def letters_for_glyphs() -> None:
    """Replace glyphs that the encoding lacks by ASCII, such as ◐ by +."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if (stream.encoding or "").lower().startswith("utf"):
                stream.reconfigure(errors="replace")  # a lone surrogate
            else:
                import codecs

                from tui.theme.glyphs import instead

                codecs.register_error("memoranda", instead)
                stream.reconfigure(errors="memoranda")


def folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        raise StorageError("The folder you are in is gone.", "Change to another one.") from None


def print_outcome(outcome: Outcome, as_json: bool) -> None:
    if outcome.document:
        _in_utf8()
        from contextlib import closing

        with closing(outcome.document()) as pieces:  # its reads must end before the memory is closed
            for piece in pieces:
                out(piece, end="", flush=False)
        out("", end="")
        return
    if as_json:
        import json

        _in_utf8()
        out(json.dumps(outcome.data(), ensure_ascii=False))
        return
    texts = [outcome.message, *outcome.lines] if outcome.message else outcome.lines
    if texts:
        out("\n".join(map(plain, texts)))


def _in_utf8() -> None:
    """Write UTF-8 for scripts whatever the terminal's encoding is: a `?` would lose data."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")


def out(text: str, end: str = "\n", flush: bool = True) -> None:
    """Print on standard output. Raises StorageError if the write fails (`> file` on a full disk)."""
    try:
        print(text, end=end, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"Standard output cannot be written: {error.strerror}.") from None


def say(text: str, end: str = "\n") -> None:
    """Print one line on standard error."""
    from tui.theme.escape import visible

    try:
        print(_lettered(visible(text)), end=end, flush=True, file=sys.stderr)
    except OSError:
        pass  # closed, but the command is done all the same


def tell(line: str) -> None:
    """Print a line of the result as soon as it is known."""
    out(plain(line))


class Waiting:
    """Shows a progress message on a terminal's standard error, replacing the last one; without a message, clears it."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, words: str) -> None:
        if (words or self._shown) and sys.stderr.isatty():
            import shutil

            print("\r\x1b[K", end="", flush=True, file=sys.stderr)
            say(words[: shutil.get_terminal_size().columns - 1], end="")
            self._shown = bool(words)


def plain(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    from tui.theme import escape

    return _lettered(escape.plain(text))


def _lettered(text: str) -> str:
    """Return `text` with ASCII for our glyphs if the user or the locale wants that."""
    if text.isascii():
        return text
    from tui.theme.glyphs import ascii_table, plain_locale

    return text.translate(ascii_table()) if plain_locale() or _wants_letters() else text


def _wants_letters() -> bool:
    """Return whether the configuration asks for ASCII; False if it cannot be read."""
    from store.config import configuration as config

    try:
        place = location.locate(_place.option, os.environ, folder())
        return bool(config.load(place)["badges"] == "ascii")
    except MemorandaError:
        return False


class _Place:
    """The --db option, which determines the project's settings file."""

    option: str | None = None


_place = _Place()


def set_place(option: str | None) -> None:
    """Use the settings of this --db; of the working folder for None."""
    _place.option = option


def complain(error: MemorandaError, as_json: bool) -> None:
    if as_json:
        import json

        body = {"error": {"code": error.code, "message": error.message, "next": error.next}}
        print(json.dumps(body, ensure_ascii=False), file=sys.stderr)
        return
    say(str(error))
