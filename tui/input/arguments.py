"""Parse a verb's arguments by the command table, for the command line and the `:` bar alike.

Not `argparse`: its import takes 7 ms of a command's 30, it exits the process, and it lacks what completion in the `:`
bar needs. The syntax is the usual one: `--name VALUE`, `--name=VALUE`, flags, `--` before a text that starts with a
dash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from store.base.errors import ExitStatus, MemorandaError
from tui.theme.escape import visible


class UsageError(MemorandaError):
    """The arguments do not match the command's usage."""

    code = "usage"
    exit_status = ExitStatus.USAGE


@dataclass(slots=True, eq=False, repr=False)
class Argument:
    """One argument: `name` for the handler, `shown` for the help.

    `form`: `one`, `maybe` (at most one), `many` (one or more) or `any` for positional words; `value`, `flag` or `list`
    (may be repeated) for options. `default` applies if it is not given; a `required` option must be given. For
    completion: `choices` are its common values, and a `file` is a path."""

    name: str
    form: str
    shown: str
    help: str
    default: Any = None
    required: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()
    file: bool = False

    @property
    def option(self) -> bool:
        return self.form in ("value", "flag", "list")

    @property
    def usage(self) -> str:
        """Return its form in the help: `ID`, `[STEP]`, `TEXT…`, `[--domain D]`."""
        if self.option:
            text = f"--{self.name}" if self.form == "flag" else f"--{self.name} {self.shown}"
            if self.form == "list":
                text += " …"
            return text if self.required else f"[{text}]"
        return {"one": "{}", "maybe": "[{}]", "many": "{}…", "any": "[{}…]"}[self.form].format(self.shown)


class ParsedArguments(SimpleNamespace):
    """The arguments of one call, by name; `--dry-run` is `dry_run`."""

    __repr__ = object.__repr__  # a traceback prints no text of a person


def parse_arguments(verb: str, arguments: Sequence[Argument], words: Sequence[str]) -> ParsedArguments:
    """Parse the values of a verb's arguments. Raises Usage, which names what is missing or unknown."""
    options = {f"--{argument.name}": argument for argument in arguments if argument.option}
    values: dict[str, Any] = {}
    loose: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            loose += rest
        elif not word.startswith("--"):
            loose.append(word)
        else:
            _parse_option(verb, options, word, rest, values)
    _assign_words(verb, arguments, loose, values)
    for argument in arguments:
        if argument.required and argument.name not in values:
            raise UsageError(f"{verb} wants --{argument.name} {argument.shown}.", f"See `memoranda {verb} --help`.")
        default = list(argument.default or ()) if argument.form in ("list", "any") else argument.default
        values.setdefault(argument.name, False if argument.form == "flag" else default)
    return ParsedArguments(**{name.replace("-", "_"): value for name, value in values.items()})


def _parse_option(verb: str, options: dict[str, Argument], word: str, rest: Any, values: dict[str, Any]) -> None:
    """Parse an option and its value, and add it to `values`. Raise UsageError."""
    name, equals, value = word.partition("=")
    argument = options.get(name)
    if argument is None:
        known = ", ".join(options) or "none"
        raise UsageError(
            f"{verb} has no option {_quote_word(name)}; it has: {known}.", "Put -- before a text that starts so."
        )
    if argument.form == "flag":
        if equals:
            raise UsageError(f"{name} takes no value.")
        values[argument.name] = True
        return
    if not equals:
        value = next(rest, "\0")
        if value == "\0":
            raise UsageError(f"{name} wants a value: {name} {argument.shown}.", f"See `memoranda {verb} --help`.")
    _check_text(argument, value)
    if argument.form == "list":
        values.setdefault(argument.name, []).append(value)
    else:
        values[argument.name] = _parse_number(name, value) if argument.whole else value


def _assign_words(verb: str, arguments: Sequence[Argument], loose: list[str], values: dict[str, Any]) -> None:
    """Assign the words that are no options to the positional arguments in order; one of them may take several, but
    leaves one for each required argument after it."""
    places = [argument for argument in arguments if not argument.option]
    for place, argument in enumerate(places, start=1):
        if argument.form in ("many", "any"):
            several = max(0, len(loose) - (len(places) - place))
            values[argument.name], loose = loose[:several], loose[several:]
            for word in values[argument.name]:
                _check_text(argument, word)
            if argument.form == "many" and not values[argument.name]:
                raise _missing_argument(verb, argument)
        elif loose:
            word, *loose = loose
            _check_text(argument, word)
            values[argument.name] = _parse_number(argument.shown, word) if argument.whole else word
        elif argument.form == "one":
            raise _missing_argument(verb, argument)
    if loose:
        raise UsageError(
            f"{verb} does not know what to do with {_quote_word(loose[0])}.", f"See `memoranda {verb} --help`."
        )


def _check_text(argument: Argument, word: str) -> None:
    """Raise Usage for bytes that are no UTF-8, which would be kept as other letters; a file may have such a name."""
    try:
        word.encode()
    except UnicodeEncodeError:
        if not argument.file:
            raise UsageError(
                f"{_quote_word(word)} is not UTF-8 text, and was not taken.", "Write it in UTF-8."
            ) from None


def _missing_argument(verb: str, argument: Argument) -> UsageError:
    """Return the error for a missing argument."""
    return UsageError(f"{verb} wants {argument.usage}: {argument.help}.", f"See `memoranda {verb} --help`.")


def _parse_number(name: str, word: str) -> int:
    """Parse a whole number from 1 on. Raise UsageError."""
    if not (word.isascii() and word.isdigit() and len(word) < 19 and int(word)):
        raise UsageError(f"{name} is a whole number, from 1 on.")
    return int(word)


def _quote_word(word: str) -> str:
    return f"“{visible(word[:40])}”"


def help_text(verb: str, summary: str, arguments: Sequence[Argument]) -> str:
    """Return the text of `memoranda COMMAND --help`."""
    usage = " ".join(["memoranda", verb, *(argument.usage for argument in arguments)])
    left = [f"--{a.name} {a.shown}".strip() if a.option else a.shown for a in arguments]
    width = max(map(len, [*left, "--db PATH"]))
    lines = [usage, "", f"{summary}.", ""]
    lines += [f"  {name:<{width}}  {argument.help}" for name, argument in zip(left, arguments, strict=True)]
    lines += [
        f"  {'--db PATH':<{width}}  another memory file",
        f"  {'--json':<{width}}  one object or list, for scripts",
    ]
    return "\n".join(lines)


# One command: its summary, its arguments and its handler; and arguments that several commands have.


class Verb:
    """One verb: its summary, its arguments, and `handler`, a `module.function` below `tui.commands`.

    `opens`: `memory` needs the file, `new` may create it (both pass an open Memory to the handler), `nothing` passes
    none. `reads`: a one-shot command first syncs the timeline with git for a limited time. `frees`: on a full disk it
    may use the space of the ballast. `apart`: it touches no memory, or only in a child process, and in the application
    it does not block writes. `looks`: it makes no memory; where there is none it answers as of an empty one, unless the
    argument `but` is given. With `--dry-run` any command does so."""

    __slots__ = (
        "apart",
        "arguments",
        "but",
        "frees",
        "handler",
        "looks",
        "name",
        "opens",
        "reads",
        "slash",
        "summary",
    )

    def __init__(
        self,
        name: str,
        summary: str,
        handler: str,
        *arguments: Argument,
        opens: str = "new",
        reads: bool = False,
        frees: bool = False,
        apart: bool = False,
        looks: bool = False,
        but: str = "",
        slash: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.handler = handler
        self.arguments = arguments
        self.opens = opens
        self.reads = reads
        self.frees = frees
        self.apart = apart
        self.looks = looks
        self.but = but
        self.slash = slash

    @property
    def can_be_tried(self) -> bool:
        """Return whether it takes `--dry-run`."""
        return any(one.name == "dry-run" for one in self.arguments)

    def makes_none(self, given: ParsedArguments) -> bool:
        """Return whether it makes no memory, called so."""
        if self.can_be_tried and given.dry_run:
            return True
        return self.looks and not (self.but and getattr(given, self.but))


LIMIT_OPTION = Argument("limit", "value", "N", "how many at the most (50)", 50, whole=True)
DRY_RUN_OPTION = Argument("dry-run", "flag", "", "only show what would change, record by record")
MOMENT_EXAMPLES = "2026-11-01, 2d, 3w, last monday, v1.0"
SINCE_OPTION = Argument("since", "value", "T", MOMENT_EXAMPLES, "")
ITERATION_OPTION = Argument("iteration", "value", "I", "only what belongs to this iteration, I#5")
YES_OPTION = Argument("yes", "flag", "", "do it without asking")
