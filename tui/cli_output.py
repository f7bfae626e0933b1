"""What the command line prints: outcomes, errors, and lines beside them.

Everything is made visible first, names of folders and of checkpoints too: strangers may have chosen them.
"""

import os
import sys

from store import MemorandaError, StorageError, location
from tui.commands import Outcome


def letters_for_glyphs() -> None:
    """Where an encoding cannot write ◐, let + stand for it."""
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

        with closing(outcome.document()) as pieces:  # what it reads must end before the memory is closed
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
    """What scripts read is UTF-8 whatever the terminal's own encoding: a `?` in its place would be a loss."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")


def out(text: str, end: str = "\n", flush: bool = True) -> None:
    """Print on standard output. Raises StorageError when it takes no more (`> file` on a full disk)."""
    try:
        print(text, end=end, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"Standard output cannot be written: {error.strerror}.") from None


def say(text: str, end: str = "\n") -> None:
    """Print one line on standard error, beside what was asked for."""
    from tui.theme.escape import visible

    try:
        print(_lettered(visible(text)), end=end, flush=True, file=sys.stderr)
    except OSError:
        pass  # nobody reads it; what was asked for is done all the same


def tell(line: str) -> None:
    """Print a line of what was asked for as soon as it is known."""
    out(plain(line))


class Waiting:
    """Shows on a terminal's standard error what is waited for, in the place of what was; without words, nothing."""

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
    """`text`, our glyphs as letters where the person or their locale wants that."""
    if text.isascii():
        return text
    from tui.theme.glyphs import ASCII, plain_locale

    return text.translate(ASCII) if plain_locale() or _wants_letters() else text


def _wants_letters() -> bool:
    """Whether the configuration says so; false where there is no telling."""
    from store import configuration as config

    try:
        place = location.locate(_place.option, os.environ, folder())
        return bool(config.load(place)["badges"] == "ascii")
    except MemorandaError:
        return False


class _Place:
    """What --db says: which project's file of settings counts."""

    option: str | None = None


_place = _Place()


def set_place(option: str | None) -> None:
    """Let the settings that belong to this --db count, None for those of the working folder."""
    _place.option = option


def complain(error: MemorandaError, as_json: bool) -> None:
    if as_json:
        import json

        body = {"error": {"code": error.code, "message": error.message, "next": error.next}}
        print(json.dumps(body, ensure_ascii=False), file=sys.stderr)
        return
    say(str(error))
