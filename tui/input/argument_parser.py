"""Parse a verb's arguments by the command table, for the command line and the `:` bar alike.

Not `argparse`: its import takes 7 ms of a command's 30, it exits the process, and it lacks what completion in the `:`
bar needs. The syntax is the usual one: `--name VALUE`, `--name=VALUE`, flags, `--` before a text that starts with a
dash."""

from collections.abc import Sequence

from store.base.errors import MemorandaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Usage(MemorandaError):
    """The arguments do not match the command's usage."""

    code = "usage"
    exit_status = 2


class Argument:
    """One argument: `name` for the handler, `shown` for the help.

    `form`: `one`, `maybe` (at most one), `many` (one or more) or `any` for positional words; `value`, `flag` or `list`
    (may be repeated) for options. `default` applies if it is not given; a `required` option must be given. For
    completion: `choices` are its common values, and a `file` is a path."""

    __slots__ = ("choices", "default", "file", "form", "help", "name", "required", "shown", "whole")

    def __init__(
        self,
        name: str,
        form: str,
        shown: str,
        help: str,
        default: "Any" = None,
        required: bool = False,
        whole: bool = False,
        choices: tuple[str, ...] = (),
        file: bool = False,
    ) -> None:
        self.name = name
        self.form = form
        self.shown = shown
        self.help = help
        self.default = default
        self.required = required
        self.whole = whole  # an integer
        self.choices = choices
        self.file = file

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


class ParsedArguments:
    """The arguments of one call, by name; `--dry-run` is `dry_run`."""

    def __init__(self, values: "dict[str, Any]") -> None:
        self.__dict__.update({name.replace("-", "_"): value for name, value in values.items()})

    def set(self, name: str, value: "Any") -> None:
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> "Any":
        raise AttributeError(name)


def read(verb: str, arguments: Sequence[Argument], words: Sequence[str]) -> ParsedArguments:
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
            _option(verb, options, word, rest, values)
    _place(verb, arguments, loose, values)
    for argument in arguments:
        if argument.required and argument.name not in values:
            raise Usage(f"{verb} wants --{argument.name} {argument.shown}.", f"See `memoranda {verb} --help`.")
        default = list(argument.default or ()) if argument.form in ("list", "any") else argument.default
        values.setdefault(argument.name, False if argument.form == "flag" else default)
    return ParsedArguments(values)


def _option(verb: str, options: dict[str, Argument], word: str, rest: "Any", values: "dict[str, Any]") -> None:
    name, equals, value = word.partition("=")
    argument = options.get(name)
    if argument is None:
        known = ", ".join(options) or "none"
        raise Usage(f"{verb} has no option {_short(name)}; it has: {known}.", "Put -- before a text that starts so.")
    if argument.form == "flag":
        if equals:
            raise Usage(f"{name} takes no value.")
        values[argument.name] = True
        return
    if not equals:
        value = next(rest, "\0")
        if value == "\0":
            raise Usage(f"{name} wants a value: {name} {argument.shown}.", f"See `memoranda {verb} --help`.")
    _check_text(argument, value)
    if argument.form == "list":
        values.setdefault(argument.name, []).append(value)
    else:
        values[argument.name] = _number(name, value) if argument.whole else value


def _place(verb: str, arguments: Sequence[Argument], loose: list[str], values: "dict[str, Any]") -> None:
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
                raise _missing(verb, argument)
        elif loose:
            word, *loose = loose
            _check_text(argument, word)
            values[argument.name] = _number(argument.shown, word) if argument.whole else word
        elif argument.form == "one":
            raise _missing(verb, argument)
    if loose:
        raise Usage(f"{verb} does not know what to do with {_short(loose[0])}.", f"See `memoranda {verb} --help`.")


def _check_text(argument: Argument, word: str) -> None:
    """Raise Usage for bytes that are no UTF-8, which would be kept as other letters; a file may have such a name."""
    try:
        word.encode()
    except UnicodeEncodeError:
        if not argument.file:
            raise Usage(f"{_short(word)} is not UTF-8 text, and was not taken.", "Write it in UTF-8.") from None


def _missing(verb: str, argument: Argument) -> Usage:
    return Usage(f"{verb} wants {argument.usage}: {argument.help}.", f"See `memoranda {verb} --help`.")


def _number(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 19 and int(word)):
        raise Usage(f"{name} is a whole number, from 1 on.")
    return int(word)


def _short(word: str) -> str:
    from tui.theme.escape import visible

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
