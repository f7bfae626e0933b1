"""Complete a command line, for Tab in the `:` bar, by the table of verbs.

Shell completion is made from the same table by `tui.input.shell_completion`."""

import shlex
from collections.abc import Iterable

from tui.input.argument_parser import Argument
from tui.input.commands.command import Verb
from tui.input.commands.command_table import SLASH, VERBS, find
from tui.input.commands.files import ALLOW

EVERYWHERE = (
    Argument("db", "value", "PATH", "another memory file", file=True),
    Argument("json", "flag", "", "one object or list, for scripts"),
    Argument("help", "flag", "", "its arguments"),
)
"""The options that every verb accepts."""
_TEXTS = {"bool": ("true", "false"), "int": (), "text": (), "choice": ()}


class Completion:
    """One candidate: the whole word, and its description in a line."""

    __slots__ = ("help", "text")

    def __init__(self, text: str, help: str) -> None:
        self.text = text
        self.help = help


def split(text: str) -> tuple[list[str], str]:
    """Split a line into (the words before, the word being typed); the last is empty after a space."""
    head, space, current = text.rpartition(" ")
    try:
        return shlex.split(head + space), current
    except ValueError:  # an apostrophe without a closing one is an ordinary character
        return head.split(), current


def complete(words: list[str], current: str, everywhere: tuple[Argument, ...] = EVERYWHERE) -> list[Completion]:
    """Return the completions of `current` after `words` (without `memoranda`), in the table's order.

    Empty where any text, number or file name is allowed. Slash commands are completed as in the `:` bar, which has no
    global options (`everywhere`)."""
    rest = _without_db(words)
    if rest is None:
        return []  # a file name
    found = find(rest)
    if found is not None:
        return _arguments(*found, current, everywhere)
    if rest:
        return _second_words(rest, current)
    return _options(everywhere, current) if current.startswith("-") else _verbs(current)


def agreed(texts: list[str]) -> str:
    """Return the common prefix of all texts."""
    if not texts:
        return ""
    low, high = min(texts), max(texts)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def _without_db(words: list[str]) -> list[str] | None:
    """Return the words without the global options; None if the next word is the value of --db."""
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
    """Return the verbs, and the first words of two-word commands; with a slash if one was typed."""
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
    """Return the second words of a two-word command: `list` after `memory`."""
    forms = [(form.split(" "), verb) for form, verb in SLASH.items() if " " in form]
    first = words[0].removeprefix("/").lower()
    return [
        Completion(form[1], verb.summary)
        for form, verb in forms
        if len(words) == 1 and form[0] == first and form[1].startswith(current)
    ]


def _arguments(verb: Verb, words: list[str], current: str, everywhere: tuple[Argument, ...]) -> list[Completion]:
    """Return the verb's options and values that may follow its `words`."""
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
    """Return `allow`, the names of settings, and of keys after `keys.`; after a name, its possible values."""
    from store.config.settings import KEYS, SETTINGS
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
    """Return the positional argument that the word at this place belongs to, not counting options."""
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
