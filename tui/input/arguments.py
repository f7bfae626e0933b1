"""Make verbs of typed functions, and parse their arguments, for the command line and the `:` bar alike.

Not `argparse`: it refuses `-v` in a sentence, reads options behind `--`, exits the process, and lacks what completion
in the `:` bar needs. The syntax is the usual one: `--name VALUE`, `--name=VALUE`, flags, `--` before a text that starts
with a dash."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias, TypeVar

from store.base.errors import ExitStatus, MemorandaError
from store.text.display import visible

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")


class UsageError(MemorandaError):
    """The arguments do not match the command's usage."""

    code = "usage"
    exit_status = ExitStatus.USAGE


@dataclass(slots=True, eq=False, repr=False)
class Argument:
    """One argument: `name` as it is typed, `shown` for the help, `parameter` of the function.

    `form`: `one`, `maybe` (at most one), `many` (one or more) or `any` for positional words; `value`, `flag` or `list`
    (may be repeated) for options. `default` applies if it is not given; a `required` option must be given. For
    completion: `choices` are its common values, and a `file` is a path. `acts`: the values of the verb's first word
    that the option is for; all without one."""

    name: str
    form: str
    shown: str
    help: str
    default: Any = None
    required: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()
    file: bool = False
    parameter: str = ""
    acts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.parameter = self.parameter or self.name.replace("-", "_")

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


GLOBAL_OPTIONS = (
    Argument("db", "value", "PATH", "another memory file", file=True),
    Argument("json", "flag", "", "one object or list, for scripts"),
    Argument("help", "flag", "", "its arguments"),
)
"""The options that every verb accepts."""


class ParsedArguments(SimpleNamespace):
    """The arguments of one call, by name; `--dry-run` is `dry_run`."""

    # a traceback prints no text of a person
    __repr__ = object.__repr__


def parse_arguments(verb: str, arguments: Sequence[Argument], words: Sequence[str]) -> ParsedArguments:
    """Parse the values of a verb's arguments. Raises Usage, which names what is missing or unknown."""
    values: dict[str, Any] = {}
    loose, given = read_words(arguments, words)
    options = {f"--{one.name}": one for one in arguments if one.option}
    for name, value in given:
        argument = options.get(name)
        if argument is None:
            raise _unknown_option(verb, name, options)
        if argument.form == "flag":
            if value is not None:
                raise UsageError(f"{name} takes no value.")
            values[argument.name] = True
        elif value is None:
            raise UsageError(f"{name} wants a value: {name} {argument.shown}.", f"See `memoranda {verb} --help`.")
        elif argument.form == "list":
            values.setdefault(argument.name, []).append(_read_value(argument, value))
        else:
            values[argument.name] = _read_value(argument, value)
    _assign_words(verb, arguments, loose, values)
    _check_acts(verb, arguments, values)
    for argument in arguments:
        if argument.required and argument.name not in values:
            raise _wrong_use(verb, f"wants --{argument.name} {argument.shown}.")
        default = list(argument.default or ()) if argument.form in ("list", "any") else argument.default
        values.setdefault(argument.name, False if argument.form == "flag" else default)
    return ParsedArguments(**{one.parameter: values[one.name] for one in arguments})


def split_global_options(words: Iterable[str]) -> tuple[list[str], dict[str, str | None]]:
    """Split words into those of a command and the options that may stand anywhere before a `--`, with their values:
    --db, --json and --look. The value is None where it is still to come."""
    rest: list[str] = []
    given: dict[str, str | None] = {}
    coming = iter(words)
    for word in coming:
        name, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *coming]
        elif word in ("--json", "--look"):
            given[word] = ""
        elif name == "--db":
            given[name] = value if equals else next(coming, None)
        else:
            rest.append(word)
    return rest, given


def read_words(
    arguments: Sequence[Argument], words: Iterable[str]
) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Split the words after a verb into those that are no options, and the options with their values: None for a flag,
    and where the value is still to come."""
    with_value = {f"--{one.name}" for one in arguments if one.form in ("value", "list")}
    loose: list[str] = []
    given: list[tuple[str, str | None]] = []
    coming = iter(words)
    for word in coming:
        name, equals, value = word.partition("=")
        if word == "--":
            loose += coming
        elif not word.startswith("--"):
            loose.append(word)
        elif equals:
            given.append((name, value))
        else:
            given.append((name, next(coming, None) if name in with_value else None))
    return loose, given


def _assign_words(verb: str, arguments: Sequence[Argument], loose: list[str], values: dict[str, Any]) -> None:
    """Assign the words that are no options to the positional arguments in order; one of them may take several, but
    leaves one for each required argument after it."""
    places = [argument for argument in arguments if not argument.option]
    for place, argument in enumerate(places, start=1):
        if argument.form in ("many", "any"):
            several = max(0, len(loose) - (len(places) - place))
            values[argument.name] = [_read_value(argument, word) for word in loose[:several]]
            loose = loose[several:]
        elif loose:
            values[argument.name] = _read_value(argument, loose.pop(0))
        if argument.form in ("one", "many") and values.get(argument.name) in (None, []):
            raise _wrong_use(verb, f"wants {argument.usage}: {argument.help}.")
    if loose:
        raise _wrong_use(verb, f"does not know what to do with {_quote_word(loose[0])}.")


def _check_acts(verb: str, arguments: Sequence[Argument], values: dict[str, Any]) -> None:
    """Raise Usage for an option that is given and is not for what the first word asks."""
    act = values.get(arguments[0].name, arguments[0].default) if arguments else None
    for argument in arguments:
        if argument.name in values and argument.acts and act not in argument.acts:
            known = (f"--{one.name}" for one in arguments if one.option and (not one.acts or act in one.acts))
            raise _unknown_option(f"{verb} {visible(act or '')}".strip(), f"--{argument.name}", known)


def _unknown_option(verb: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for an option that a verb does not have."""
    return UsageError(
        f"{verb} has no option {_quote_word(name)}; it has: {', '.join(known) or 'none'}.",
        "Put -- before a text that starts so.",
    )


def require_text(word: str) -> None:
    """Raise Usage for bytes that are no UTF-8, which would be kept as other letters."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{_quote_word(word)} is not UTF-8 text, and was not taken.", "Write it in UTF-8."
        ) from None


def _wrong_use(verb: str, said: str) -> UsageError:
    """Return the error for arguments that a verb cannot take."""
    return UsageError(f"{verb} {said}", f"See `memoranda {verb} --help`.")


def _read_value(argument: Argument, word: str) -> str | int:
    """Return the value that a word gives to an argument; only a file may have a name that is no text. Raise
    UsageError."""
    if not argument.file:
        require_text(word)
    if not argument.whole:
        return word
    if not (word.isascii() and word.isdigit() and len(word) < 19 and int(word)):
        name = f"--{argument.name}" if argument.option else argument.shown
        raise UsageError(f"{name} is a whole number, from 1 on.")
    return int(word)


def _quote_word(word: str) -> str:
    return f"“{visible(word[:40])}”"


# of the help, and of the names in it; a longer one has a line of its own
HELP_COLUMNS, NAME_COLUMNS = 80, 24


def help_text(verb: str, summary: str, arguments: Sequence[Argument]) -> str:
    """Return the text of `memoranda COMMAND --help`."""
    usage = [" ".join(["memoranda", verb])]
    for part in (argument.usage for argument in arguments):
        usage += ["   "] if len(usage[-1]) + len(part) >= HELP_COLUMNS else []
        usage[-1] += f" {part}"
    every = (*arguments, *GLOBAL_OPTIONS[:2])
    rows = [(f"--{a.name} {a.shown}".strip() if a.option else a.shown, a.help) for a in every]
    width = max(len(name) for name, _ in rows if len(name) <= NAME_COLUMNS)
    lines = [*usage, "", f"{summary}.", ""]
    for name, help in rows:
        said = wrap(help, HELP_COLUMNS - width - 4, break_long_words=False, break_on_hyphens=False)
        start = [f"  {name}"] if len(name) > width else [f"  {name:<{width}}  {said.pop(0)}"]
        lines += [*start, *(f"  {'':<{width}}  {line}" for line in said)]
    return "\n".join(lines)


# One command: a typed function, whose signature and docstring are its grammar, its help and its documentation.
#
#     @verb()
#     def remember(call: Call, text: Text, *, domain: Domain = "general", pin: bool = False) -> Outcome:
#         """Remember a fact; one that is known already is confirmed.
#
#         text: the fact, as a sentence; - reads it from a pipe
#         domain: what it is about
#         pin: it never ages
#         """
#
# Before `*` are the words of the command, after it its options. `bool` is a flag, `list[str]` may be given several
# times, `int` is a whole number, `X | None` may be left out.


class Shown(NamedTuple):
    """How a parameter is shown in the help, the values that are completed, whether it is a path, and which values of
    the verb's first word it is for; the second argument of `Annotated`."""

    name: str = ""
    choices: tuple[str, ...] = ()
    file: bool = False
    acts: tuple[str, ...] = ()


Trait: TypeAlias = (
    Callable[[ParsedArguments], Value] | Value
)  # of a verb; a function where the arguments decide it


def settle(trait: Trait[Value], given: ParsedArguments) -> Value:
    """Return what a trait is in a call with these arguments."""
    return trait(given) if callable(trait) else trait


@dataclass(eq=False, repr=False)
class Verb:
    """One verb: its name, its summary, its arguments, and the function that does it.

    `opens`: `memory` is given an open memory, which is made where there is none; `nothing` is given none. `reads`: a
    command first reads what git has new, for a limited time. `frees`: on a full disk it may use the space of the
    ballast. `apart`: it touches no memory, or only in a child process, and in the application it does not block writes.
    `looks`: it makes no memory; where there is none it answers as of an empty one. With `--dry-run` any command does
    so. `part`: the optional part it belongs to. A `Trait` may depend on the arguments."""

    name: str
    run: Callable[..., Any]
    opens: Trait[str] = "memory"
    reads: Trait[bool] = False
    frees: bool = False
    apart: Trait[bool] = False
    looks: Trait[bool] = False
    part: str = ""

    @cached_property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        return _parse_docstring(self.run)[0]

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """What the signature says; it is read when the verb is typed."""
        return _read_signature(self.run, _parse_docstring(self.run)[1])

    @property
    def can_be_tried(self) -> bool:
        """Return whether it takes `--dry-run`."""
        return any(one.name == "dry-run" for one in self.arguments)

    def makes_none(self, given: ParsedArguments) -> bool:
        """Return whether it makes no memory, called so."""
        if self.can_be_tried and given.dry_run:
            return True
        return settle(self.looks, given)


REGISTERED: dict[str, Verb] = {}
"""The verbs of the modules that were imported, by name; `verb_table` imports them."""


def verb(name: str = "", **traits: Any) -> Callable[[Function], Function]:
    """Register a function as a verb; it stays an ordinary function. A name that Python keeps for itself ends with an
    underscore. The traits are those of `Verb`."""

    def register(function: Function) -> Function:
        called = name or function.__name__.strip("_")
        REGISTERED[called] = Verb(called, function, **traits)
        return function

    return register


def _parse_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a docstring, and what its lines `name: text` say of each parameter."""
    lines = (inspect.getdoc(function) or "").splitlines()
    helps: dict[str, str] = {}
    for line in lines[1:]:
        if match := re.match(r"(\w+): (.+)", line):
            helps[match[1]] = match[2]
        elif line.startswith("    ") and helps:
            helps[next(reversed(helps))] += f" {line.strip()}"
    return lines[0].rstrip("."), helps


def _read_signature(function: Callable[..., Any], helps: dict[str, str]) -> tuple[Argument, ...]:
    """Return the arguments of a verb, from its parameters after the first."""
    hints = typing.get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    return tuple(_read_parameter(one, hints[one.name], helps.get(one.name, "")) for one in parameters)


def _read_parameter(parameter: inspect.Parameter, kind: Any, help: str) -> Argument:
    """Return the argument that a parameter of a verb stands for."""
    shown, several = Shown(), False
    while origin := typing.get_origin(kind):
        first, *rest = typing.get_args(kind)
        if origin is typing.Annotated:
            shown = next((one for one in rest if isinstance(one, Shown)), shown)
        several = several or origin is list
        kind = first
    option, required = parameter.kind is parameter.KEYWORD_ONLY, parameter.default is parameter.empty
    if option:
        form = "list" if several else "flag" if kind is bool else "value"
    else:
        form = ("many" if required else "any") if several else "one" if required else "maybe"
    name = parameter.name.strip("_").replace("_", "-")
    return Argument(
        name,
        form,
        "" if form == "flag" else shown.name or ("N" if kind is int else name.upper()),
        help or SHARED_HELP.get(parameter.name, ""),
        None if required else parameter.default,
        required=option and required,
        whole=kind is int,
        choices=shown.choices,
        file=shown.file,
        parameter=parameter.name,
        acts=shown.acts,
    )


MOMENT_EXAMPLES = "2026-11-01, 2d, 3w, last monday, v1.0"
SHARED_HELP = {
    "limit": "how many at the most (50)",
    "dry_run": "only show what would change, record by record",
    "yes": "do it without asking",
    "off": "take it away again",
    "key": "for scripts: the same key again writes nothing, and gives the same answer",
    "iteration": "only what belongs to this iteration, I#5",
    "since": MOMENT_EXAMPLES,
    "global_": "in your personal memory, where the global facts are",
    "anyway": "although what it rests on is no longer what it was",
    "related": "and what the memory knows beside it",
}
"""What parameters of several verbs mean, where a docstring says nothing else."""

IterationText = typing.Annotated[str | None, Shown("I")]
MomentText = typing.Annotated[str | None, Shown("T")]
