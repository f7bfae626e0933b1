"""The manual page, memoranda(1), made from the table of verbs, in roff's `man` macros.

It imports no dependency: the wheel is built with it."""

from collections.abc import Iterator

from tui.input.argument_parser import Argument
from tui.input.commands.command import Verb
from tui.input.commands.command_table import VERBS
from tui.input.completion import EVERYWHERE

ENVIRONMENT = (
    ("MEMORANDA_DB", "the memory file to use, unless --db names one"),
    ("MEMORANDA_MODEL", "the model that Ollama is asked for"),
    ("MEMORANDA_WITHOUT", "parts to run without, with commas between them: model, agent, vec0"),
    ("OLLAMA_HOST", "where Ollama listens, unless the setting agent.host says so"),
    ("NO_COLOR", "show the application without colour"),
)
FILES = (
    (".memoranda/memory.db", "the memory of a project, at the root of its git checkout"),
    (".memoranda/backups/", "verified copies of it"),
    (".memoranda/config.toml", "settings of this project, which win over yours"),
    ("~/.config/memoranda/config.toml", "your settings; memoranda config says where the file is on this system"),
)
STATUSES = (
    ("0", "done"),
    ("1", "it could not be done; the error says why and what to do"),
    ("2", "wrong usage, or a question that nobody was there to answer"),
)
_HEAD = """\
.TH MEMORANDA 1 "" "memoranda {version}" "User Commands"
.SH NAME
memoranda \\- see, ask, correct, undo and forget what AI agents remember
.SH SYNOPSIS
.B memoranda
.br
.B memoranda
.I COMMAND
.RI [ ARGUMENT "]\\&..."
.SH DESCRIPTION
Without a command, the application opens on the memory of the project you are in; without a terminal an overview is
printed.
Every command also works after
.B :
in the application, where
.B ?
lists the keys.
.SH OPTIONS
These may stand anywhere before a
.BR \\-\\- .
"""


def page(version: str) -> str:
    """Return the page; `version` stands in its foot."""
    everywhere = [(_bold(f"--{option.name}") + _value(option), option.help) for option in EVERYWHERE]
    everywhere.insert(2, (_bold("--look"), "whosever memory it is, read-only"))
    everywhere.append((_bold("--version"), "its version"))
    lines = [
        _HEAD.format(version=_text(version)).removesuffix("\n"),
        *_entries(everywhere),
        ".SH COMMANDS",
        *(line for verb in VERBS for line in _command(verb)),
        ".SH ENVIRONMENT",
        *_entries((_bold(name), help) for name, help in ENVIRONMENT),
        ".SH FILES",
        *_entries((_italic(name), help) for name, help in FILES),
        ".SH EXIT STATUS",
        *_entries((_bold(number), help) for number, help in STATUSES),
    ]
    return "\n".join(lines) + "\n"


def _command(verb: Verb) -> Iterator[str]:
    usage = " ".join(_text(argument.usage) for argument in verb.arguments)
    yield f".SS {_text(verb.name)}"
    yield f".B {_text(f'memoranda {verb.name}')}"
    if usage:
        yield f".RI {_quoted(usage)}"
    yield ".PP"
    yield _line(f"{verb.summary}.")
    yield from _entries(
        (_bold(f"--{argument.name}") + _value(argument) if argument.option else _italic(argument.shown), argument.help)
        for argument in verb.arguments
    )


def _value(option: Argument) -> str:
    return "" if option.form == "flag" else f" {_italic(option.shown)}"


def _entries(pairs: "Iterator[tuple[str, str]] | list[tuple[str, str]]") -> Iterator[str]:
    """Yield a list of terms with what they mean."""
    for term, help in pairs:
        yield ".TP"
        yield term
        yield _line(help)


def _bold(text: str) -> str:
    return rf"\fB{_text(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{_text(text)}\fR"


def _text(text: str) -> str:
    """Escape what roff would read: backslashes, and dashes that must stay dashes to be copied."""
    return text.replace("\\", r"\e").replace("-", r"\-")


def _line(text: str) -> str:
    """A line of text; one that begins as a request does gets a character of no width before it."""
    escaped = _text(text)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _quoted(text: str) -> str:
    """One argument of a macro."""
    return '"' + text.replace('"', r"\(dq") + '"'
