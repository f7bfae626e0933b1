"""The manual page, memoranda(1): man_page.roff, filled from the table of verbs, in roff's `man` macros.

It imports no dependency: the wheel is built with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from store.base.errors import ExitStatus
from tui.input.arguments import GLOBAL_OPTIONS, Argument, Verb
from tui.input.completion import LOOK_OPTION, VERSION_OPTION
from tui.input.verb_table import list_verbs


def manual_page(version: str) -> str:
    """Return the manual page; `version` is printed in its footer."""
    database, as_json, help = GLOBAL_OPTIONS
    options = (database, as_json, LOOK_OPTION, help, VERSION_OPTION)
    page = Path(__file__).with_name("man_page.roff").read_text(encoding="utf-8")
    return page.format(
        version=_escape_roff(version),
        options="\n".join(_entries(_arguments(options))),
        commands="\n".join(line for verb in list_verbs() for line in _verb_section(verb)),
        statuses="\n".join(_entries((_bold(str(status.value)), status.says) for status in ExitStatus)),
    )


def _verb_section(verb: Verb) -> Iterator[str]:
    """Yield the section of a verb."""
    usage = " ".join(_escape_roff(argument.usage) for argument in verb.arguments)
    yield f".SS {_escape_roff(verb.name)}"
    yield f".B {_escape_roff(f'memoranda {verb.name}')}"
    if usage:
        quoted = usage.replace('"', r"\(dq")
        yield f'.RI "{quoted}"'
    yield ".PP"
    yield _text_line(f"{verb.summary}.")
    yield from _entries(_arguments(verb.arguments))


def _arguments(arguments: Iterable[Argument]) -> Iterator[tuple[str, str]]:
    """Yield each argument, as it is typed, with its help."""
    for one in arguments:
        value = "" if one.form == "flag" else _italic(one.shown)
        yield f"{_bold(f'--{one.name}')} {value}".strip() if one.option else value, one.help


def _entries(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a list of terms with what they mean."""
    for term, help in pairs:
        yield from (".TP", term, _text_line(help))


def _bold(text: str) -> str:
    """Return a text in bold."""
    return rf"\fB{_escape_roff(text)}\fR"


def _italic(text: str) -> str:
    """Return a text in italics."""
    return rf"\fI{_escape_roff(text)}\fR"


def _escape_roff(text: str) -> str:
    """Escape what roff would read: backslashes, and dashes that must stay dashes to be copied."""
    return text.replace("\\", r"\e").replace("-", r"\-")


def _text_line(text: str) -> str:
    """A line of text; one that begins as a request does gets a character of no width before it."""
    escaped = _escape_roff(text)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
