"""What may come next on a line of the command line: for Tab in the `:` bar, from the one table of verbs.

The shells' own completion is made from the same table, by `tui.input.shell_completion`.
"""

import shlex
from collections.abc import Iterable

from tui.input.argument_parser import Argument
from tui.input.command import Verb
from tui.input.command_table import SLASH, VERBS, find
from tui.input.file_commands import ALLOW

EVERYWHERE = (
    Argument("db", "value", "PATH", "another memory file", file=True),
    Argument("json", "flag", "", "one object or list, for scripts"),
    Argument("help", "flag", "", "its arguments"),
)
"""The options that every verb takes."""
_TEXTS = {"bool": ("true", "false"), "int": (), "text": (), "choice": ()}


class Completion:
    """One way to go on: the whole word, and what it means in a line."""

    __slots__ = ("help", "text")

    def __init__(self, text: str, help: str) -> None:
        self.text = text
        self.help = help


def split(text: str) -> tuple[list[str], str]:
    """(the words before, the word that is being typed) of a line; the last is empty behind a space."""
    head, space, current = text.rpartition(" ")
    try:
        return shlex.split(head + space), current
    except ValueError:  # an apostrophe that closes nothing is only an apostrophe
        return head.split(), current


def complete(words: list[str], current: str, everywhere: tuple[Argument, ...] = EVERYWHERE) -> list[Completion]:
    """What the word `current` may become behind `words` (without `memoranda`), in the table's order.

    Empty where anything may stand: a text, a number, a file's name. Slash forms count as in the `:` bar, which takes no
    options `everywhere`.
    """
    rest = _without_db(words)
    if rest is None:
        return []  # the name of a file
    found = find(rest)
    if found is not None:
        return _arguments(*found, current, everywhere)
    if rest:
        return _second_words(rest, current)
    return _options(everywhere, current) if current.startswith("-") else _verbs(current)


def agreed(texts: list[str]) -> str:
    """The beginning that all of them share."""
    if not texts:
        return ""
    low, high = min(texts), max(texts)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def _without_db(words: list[str]) -> list[str] | None:
    """The words without what goes everywhere; None if the next word is --db's own."""
    rest: list[str] = []
    coming = iter(words)
    for word in coming:
        if word == "--":
            return [*rest, word, *coming]
        if word == "--db":
            if next(coming, None) is None:
                return None
        elif word not in ("--json", "--look") and not word.startswith("--db="):
            rest.append(word)
    return rest


def _verbs(current: str) -> list[Completion]:
    """The verbs, and the first words of forms that have two; with a slash where one is typed."""
    slash = "/" if current.startswith("/") else ""
    named = {verb.name: verb.summary for verb in VERBS}
    for form in SLASH:
        first, space, second = form.partition(" ")
        if space:
            named[first] = f"{named[first]}, {second}" if first in named else second
        else:
            named.setdefault(first, SLASH[form].summary)
    return [Completion(slash + name, help) for name, help in named.items() if f"{slash}{name}".startswith(current)]


def _second_words(words: list[str], current: str) -> list[Completion]:
    """What follows the first word of a form that has two: `list` behind `memory`."""
    forms = [(form.split(" "), verb) for form, verb in SLASH.items() if " " in form]
    first = words[0].removeprefix("/").lower()
    return [
        Completion(form[1], verb.summary)
        for form, verb in forms
        if len(words) == 1 and form[0] == first and form[1].startswith(current)
    ]


def _arguments(verb: Verb, words: list[str], current: str, everywhere: tuple[Argument, ...]) -> list[Completion]:
    """The verb's options and values that may stand behind its `words`."""
    options = {f"--{argument.name}": argument for argument in (*verb.arguments, *everywhere) if argument.option}
    given: set[str] = set()
    loose = 0
    coming = iter(words)
    for word in coming:
        if word == "--":
            return _values(_loose(verb, loose + len(list(coming))), current)
        if not word.startswith("--"):
            loose += 1
            continue
        name, equals, _ = word.partition("=")
        given.add(name)
        option = options.get(name)
        if option and option.form != "flag" and not equals and next(coming, None) is None:
            return _values(option, current)
    if verb.name == "config" and loose < 2 and not current.startswith("-"):
        return _settings(words, loose, current)
    name, equals, value = current.partition("=")
    if equals and name in options:
        return [Completion(f"{name}={candidate.text}", candidate.help) for candidate in _values(options[name], value)]
    found = [] if current.startswith("-") else _values(_loose(verb, loose), current)
    if found or (current and not current.startswith("-")):
        return found
    free = (option for name, option in options.items() if name not in given or option.form == "list")
    return _options(free, current)


def _settings(words: list[str], place: int, current: str) -> list[Completion]:
    """`allow`, the names of settings, and of keys once `keys.` is typed; behind a name, what it may be."""
    from store import SETTING_KEYS as KEYS
    from store import SETTINGS
    from tui.input.key_table import KEYS as ALL_KEYS

    if place:
        known = {setting.name: setting for setting in SETTINGS}
        found = [known[word] for word in words if word in known]
        texts = [(text, setting.meaning) for setting in found for text in setting.choices or _TEXTS[setting.kind]]
    else:
        texts = [(ALLOW, "let what reaches outside of the project count, in the project's file as it is now")]
        texts += [(setting.name, setting.meaning) for setting in SETTINGS]
        if current.startswith(KEYS):
            texts += [(f"{KEYS}{key.id}", key.help) for key in ALL_KEYS]
    return [Completion(text, help) for text, help in texts if text.startswith(current)]


def _options(options: Iterable[Argument], current: str) -> list[Completion]:
    return [Completion(f"--{option.name}", option.help) for option in options if f"--{option.name}".startswith(current)]


def _loose(verb: Verb, place: int) -> Argument | None:
    """The argument that the word at this place, options left out, belongs to."""
    for argument in verb.arguments:
        if not argument.option:
            if not place or argument.form in ("many", "any"):
                return argument
            place -= 1
    return None


def _values(argument: Argument | None, current: str) -> list[Completion]:
    if argument is None:
        return []
    return [Completion(word, argument.help) for word in argument.choices if word.startswith(current)]
