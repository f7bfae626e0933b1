"""Complete a command line by the verbs' arguments, for Tab in the `:` bar and in shells; and the manual page."""

import shlex
from collections.abc import Iterable, Iterator
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

from store.base.errors import ExitStatus, InvalidInput
from store.config.settings import ALLOW_WORD, KEYS_PREFIX, MODEL_ACTS, MODEL_WORD, SETTINGS
from tui.input.arguments import GLOBAL_OPTIONS, Argument, Verb, read_words, split_global_options
from tui.input.key_table import KEYS
from tui.input.verb_table import FORMER_WORDS, MEMORY_WORD, PREFIX_WORDS, find_verb, list_verbs

LOOK_OPTION = Argument("look", "flag", "", "whosever memory it is, read-only")
VERSION_OPTION = Argument("version", "flag", "", "its version")


class Completion(NamedTuple):
    """One candidate: the whole word, and its description in a line."""

    text: str
    help: str


# where a path may be typed; a shell, which knows them best, gets the text
A_PATH = Completion(":files", "")


def split_line(text: str) -> tuple[list[str], str]:
    """Split a line into (the words before, the word being typed); the last is empty after a space."""
    head, space, current = text.rpartition(" ")
    try:
        return shlex.split(head + space), current
    except ValueError:  # an apostrophe without a closing one is an ordinary character
        return head.split(), current


def complete_line(
    words: list[str], current: str, everywhere: tuple[Argument, ...] = GLOBAL_OPTIONS
) -> list[Completion]:
    """Return the completions of `current` after `words` (without `memoranda`), in the table's order.

    Empty where any text, number or file name is allowed. Slash commands are completed as in the `:` bar, which has no
    global options (`everywhere`)."""
    return [one for one in _find_candidates(words, current, everywhere) if one is not A_PATH]


def _find_candidates(words: list[str], current: str, everywhere: tuple[Argument, ...]) -> list[Completion]:
    """Return the completions of `current` after `words`, among them `A_PATH` where a path may be typed."""
    rest, given = split_global_options(words)
    if given.get("--db", "") is None or current.startswith("--db="):
        return [A_PATH]
    if found := find_verb(rest):
        return _complete_arguments(*found, current, everywhere)
    named = {verb.name: verb.summary for verb in list_verbs()}
    if not rest:
        slash = "/" if current.startswith("/") else ""
        named[MEMORY_WORD] = "may stand before any command"
        if current.startswith("-"):
            return _complete_option(everywhere, current)
        return _filter_candidates(((slash + name, help) for name, help in named.items()), current)
    if len(rest) > 1 or rest[0].removeprefix("/").lower() not in PREFIX_WORDS:
        return []
    former = {
        line.partition(" ")[2]: now for line, now in FORMER_WORDS.items() if line.startswith(f"{MEMORY_WORD} ")
    }
    return _filter_candidates((former | named).items(), current)


def _filter_candidates(named: Iterable[tuple[str, str]], current: str) -> list[Completion]:
    """Return the words, each with its description, that begin with `current`."""
    return [Completion(text, help) for text, help in named if text.startswith(current)]


def _wanted_argument(verb: Verb, words: list[str], current: str) -> Argument | None:
    """Return the argument whose value is being typed after a verb's `words`; None where it is an option's name, or
    where no more words belong to the verb."""
    options = {f"--{one.name}": one for one in verb.arguments if one.option}
    loose, given = read_words(verb.arguments, words)
    for name, value in given:
        if value is None and name in options and options[name].form != "flag":
            return options[name]
    if current.startswith("-") and "--" not in words:
        return options.get(current.partition("=")[0]) if "=" in current else None
    places = enumerate(argument for argument in verb.arguments if not argument.option)
    return next((one for place, one in places if place == len(loose) or one.form in ("many", "any")), None)


def _complete_arguments(
    verb: Verb, words: list[str], current: str, everywhere: tuple[Argument, ...]
) -> list[Completion]:
    """Return the verb's options and values that may follow its `words`."""
    wanted = _wanted_argument(verb, words, current)
    loose = [word for word in words if not word.startswith("--")]
    if verb.name == "config" and len(loose) < 2 and not current.startswith("-"):
        return _complete_setting(loose, current)
    path = [A_PATH] if wanted is not None and wanted.file else []
    values = [(word, wanted.help) for word in wanted.choices] if wanted is not None else []
    if "=" in current and current.startswith("-"):
        name = current.partition("=")[0]
        return [*_filter_candidates(((f"{name}={word}", help) for word, help in values), current), *path]
    found = _filter_candidates(values, current)
    # for a value, and nothing else
    asked = "--" in words or (wanted is not None and wanted.option)
    if not (found or asked or (current and not current.startswith("-"))):
        names = [word.partition("=")[0] for word in words]
        every = (*verb.arguments, *everywhere)
        found = _complete_option(
            (one for one in every if f"--{one.name}" not in names or one.form == "list"), current
        )
    return [*found, *path]


def _complete_setting(words: list[str], current: str) -> list[Completion]:
    """Return `allow`, `model`, the names of settings, and of keys after `keys.`; after a name, its possible values."""
    if words == [MODEL_WORD]:
        texts = [(act, "of the model") for act in MODEL_ACTS]
    elif words:
        known = [setting for setting in SETTINGS if setting.name in words]
        values = {"bool": ("true", "false")}
        texts = [(text, one.meaning) for one in known for text in one.choices or values.get(one.kind, ())]
    else:
        texts = [
            (ALLOW_WORD, "let what reaches outside of the project count, in the project's file as it is now"),
            (MODEL_WORD, "the model that the agent asks: its state, fetch one, try it, choose one"),
            *((setting.name, setting.meaning) for setting in SETTINGS),
        ]
        if current.startswith(KEYS_PREFIX):
            texts += [(f"{KEYS_PREFIX}{key.id}", key.help) for key in KEYS]
    return _filter_candidates(texts, current)


def _complete_option(options: Iterable[Argument], current: str) -> list[Completion]:
    """Return the options whose names begin with `current`."""
    return _filter_candidates(((f"--{one.name}", one.help) for one in options if one.option), current)


# Completion in a shell: its script runs `memoranda help complete SHELL LINE` at each Tab.

SHELLS = ("bash", "zsh", "fish")


def completion_script(shell: str) -> str:
    """Return the completion script of a shell. Raise InvalidInput."""
    if shell not in SHELLS:
        raise InvalidInput("Completion is there for bash, zsh and fish.", "memoranda help completion bash")
    return Path(__file__).with_name(f"completion.{shell}").read_text(encoding="utf-8").removesuffix("\n")


def offer_completions(shell: str, line: str) -> list[str]:
    """Return what a shell offers for the last word of a line, up to the cursor, each as its script reads it."""
    (_, *words), current = split_line(line)
    version = () if find_verb(split_global_options(words)[0]) else (VERSION_OPTION,)
    found = _find_candidates(words, current, (*GLOBAL_OPTIONS, *version))
    if A_PATH in found:
        return [A_PATH.text]
    # which splits words at `=`, and shows no descriptions
    if shell == "bash":
        return [one.text.partition("=")[2] or one.text for one in found]
    if shell == "zsh":
        return ["{}:{}".format(one.text.replace(":", "\\:"), one.help) for one in found]
    return [f"{one.text}\t{one.help}" for one in found]


def complete_typed(text: str) -> str:
    """Complete the verb, option or value at the end of a line, or the common prefix of all candidates."""
    words, current = split_line(text)
    found = [candidate.text for candidate in complete_line(words, current, everywhere=())]
    start = text[: len(text) - len(current)]
    if len(found) == 1:
        return start + found[0] + ("" if found[0].endswith("=") else " ")
    return start + (commonprefix(found) or current)  # noqa: RUF071 - no paths


# The manual page, memoranda(1): man_page.roff, filled from the table of verbs, in roff's `man` macros. The wheel is
# built with it.


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
