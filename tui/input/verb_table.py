"""The verbs: which there are, in which module each stands, and which words stood for them before.

A verb's module is imported when its name is typed, all of them when all are listed."""

import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path

from tui.input.arguments import REGISTERED, Verb

# before any verb, as in `/memory forget 12`
MEMORY_WORD = "memory"
# the second as in a shell
PREFIX_WORDS = (MEMORY_WORD, "memoranda")
_GROUPS = {
    "Every day": "today:inbox search:search ask:search show:search remember:facts decide:records task:records",
    "Put right": "correct:facts confirm:facts forget:facts undo:history redo:history merge:inbox link:records",
    "One record": "pin:facts mute:facts tag:facts bind:evidence purge:privacy",
    "Look": "list:lists timeline:lists history:history context:search health:health",
    "Go back": "checkpoint:history restore:history backup:exchange iteration:records",
    "In and out": "import:exchange export:exchange sync:documents session:conversations",
    "Agents": "connect:agents agents:agents files:tools mcp:agents hook:agents",
    "Team": "team:team",
    "Memoranda": "open:location config:settings secrets:privacy serve:agents demo:location uninstall:agents",
}
VERB_GROUPS = {title: dict(one.split(":") for one in verbs.split()) for title, verbs in _GROUPS.items()}
"""The verbs in the order of the help, each with its module below `tui.commands`; only that of the one that is typed is
imported."""
MODULES = {name: module for group in VERB_GROUPS.values() for name, module in group.items()}
FORMER_WORDS: dict[str, str] = {
    "accept": "confirm P#…",
    "adopt": "import --adopt",
    "as-of": "list --at 1",
    "backups": "list backups",
    "checkpoints": "list checkpoints",
    "clear": "session end",
    "decisions": "list decisions",
    "diff": "history --since 1 --to 2",
    "disconnect": "connect --off",
    "doctor": "health --check",
    "duplicates": "merge",
    "edit": "correct P#1",
    "event": "iteration event",
    "events": "list events",
    "facts": "list facts",
    "flush": "session flush",
    "guard": "files keep",
    "guard list": "files versions",
    "guard off": "files keep --off",
    "guard restore": "files restore",
    "guard show": "files versions",
    "guard undo": "files undo restore",
    "guest": "files list",
    "guest correct": "files correct",
    "guest delete": "files forget",
    "guest list": "files list",
    "guest search": "files list",
    "guest show": "files show",
    "guest undo": "files undo",
    "inbox": "today",
    "index": "health --index",
    "ingest": "import --conversations",
    "init": "open --new",
    "iterations": "list iterations",
    "memory add": "remember",
    "memory list": "list facts",
    "model": "config model",
    "move": "correct --scope global --to=--scope",
    "pause": "agents --pause",
    "plugin": "connect --plugin",
    "recover": "checkpoint --read",
    "redactions": "secrets",
    "reject": "forget P#…",
    "replica": "team replica",
    "replicate": "team replicate --words=--keywords",
    "salvage": "health --salvage",
    "scan": "files scan",
    "scan-secrets": "secrets --scan",
    "sessions": "list sessions",
    "sessions start": "session start",
    "share": "team share",
    "stats": "health",
    "tasks": "list tasks",
    "unbind": "bind --off",
    "unlink": "link --off",
    "unmute": "mute --off",
    "unpin": "pin --off",
    "untag": "tag --off",
    "verify": "bind --check",
    "verify-forgotten": "purge --check",
    "where": "open --where",
}
"""The words that commands had before, each with what it is now. Of what follows a word, `P#…` cites each bare number as
a proposal, `P#1` the first alone; `1` and `2` are its first words (`now` for want of a second); `--to=--scope` is an
option that has another name. Two words are looked up before one."""


def former_words(words: Sequence[str]) -> str:
    """Return the former word or words that a typed line begins with; empty if there are none. What stands after
    `memory` is no former word."""
    first, second = [word.removeprefix("/").lower() for word in [*words[:2], "", ""][:2]]
    if first in PREFIX_WORDS:
        return former_words(words[1:]) if first != MEMORY_WORD else ""
    return next((one for one in (f"{first} {second}", first) if one in FORMER_WORDS), "")


def rewrite_line(words: Sequence[str]) -> list[str]:
    """Return a typed line in the words of today."""
    first_word, *rest = words
    alone = FORMER_WORDS.get(first_word)
    second = next(iter(find_loose_words(verb_named(alone.split()[0]), rest)), 0) if alone else 0
    both = FORMER_WORDS.get(" ".join([first_word, *rest[second : second + 1]]).lower())
    if both:
        del rest[second : second + 1]
    former = both or alone
    if former is None:
        return list(words)
    name, *parts = former.split()
    first: list[str] = []
    for part in parts:
        loose = find_loose_words(verb_named(name), rest)
        if part in ("1", "2"):
            first.append(rest.pop(loose[0]) if loose else "" if part == "1" else "now")
        elif part.startswith("P#"):
            for place in loose if part == "P#…" else loose[:1]:
                rest[place] = f"P#{rest[place]}" if rest[place].isdigit() else rest[place]
        elif "=" in part:
            old, new = part.split("=")
            rest = [new + word.removeprefix(old) if word.partition("=")[0] == old else word for word in rest]
        else:
            first.append(part)
    return [name, *first, *rest]


def find_loose_words(verb: Verb, words: Sequence[str]) -> list[int]:
    """Return the places of the words that are neither options of a verb nor their values."""
    options = {f"--{one.name}" for one in verb.arguments if one.form in ("value", "list")}
    return [
        place
        for place, word in enumerate(words)
        if not word.startswith("--") and not (place and words[place - 1] in options)
    ]


def verb_named(name: str) -> Verb:
    """Return a verb; its module is imported now. Raise KeyError."""
    if name not in REGISTERED:
        import_module(f"tui.commands.{MODULES[name]}")
    return REGISTERED[name]


@cache
def list_verbs() -> tuple[Verb, ...]:
    """Return all verbs, in the order of the help."""
    return tuple(map(verb_named, MODULES))


def find_verb(words: list[str]) -> tuple[Verb, list[str]] | None:
    """Split a typed line into its verb and the rest: `/memory add x`, `memory add x`, `remember x`, `memory undo`."""
    if not words:
        return None
    first = words[0].removeprefix("/").lower()
    first, *rest = rewrite_line([first, *words[1:]])
    if first in MODULES:
        return verb_named(first), rest
    return find_verb(rest) if first in PREFIX_WORDS else None


def is_command(words: list[str]) -> bool:
    """Tell whether a line is a command as `/memory forget 12` is; its slash may have opened the line."""
    first = words[0].lower() if words else ""
    meant = first.startswith("/") or first == MEMORY_WORD
    return meant and (find_verb(words) is not None or (first == f"/{MEMORY_WORD}" and len(words) > 1))


def command_word(words: list[str]) -> str:
    """Return the word of a line that should name its verb: the second one of `/memory forgt 12`."""
    return words[1] if len(words) > 1 and words[0].removeprefix("/").lower() in PREFIX_WORDS else words[0]


@cache
def other_words(of: str) -> dict[str, tuple[str, ...]]:
    """Return other words by which people know the `verbs`, or the `settings`."""
    tables = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return {name: tuple(words.split(", ")) for name, words in tables[of].items()}


# of one, how alike a word is spelled that may be meant: one letter in four is another word, `exit` and `edit`
SPELLING_CUTOFF = 0.8


def suggest_verb(word: str) -> str | None:
    """Return the verb that a misspelt word probably means: a synonym, or the nearest spelling; None if there is
    none."""
    word = word.lower()
    meant = {other: verb for verb, words in other_words("verbs").items() for other in words}
    if word in meant:
        return meant[word]
    former = {old: " ".join(takewhile(str.isalpha, new.split())) for old, new in FORMER_WORDS.items()}
    names = {verb.name: verb.name for verb in list_verbs()} | former | meant
    swapped = [name for name in names if sorted(name) == sorted(word)]
    near = swapped or get_close_matches(word, names, n=1, cutoff=SPELLING_CUTOFF)
    return names[near[0]] if near else None


def verbs_about(words: Sequence[str]) -> list[Verb]:
    """Return the verbs that do what words say, the most likely first: their name, former words, synonyms, or what their
    help says of them."""
    wanted = [word.lower() for word in words]
    likely: dict[str, int] = {}
    for verb in list_verbs():
        former = [old for old, now in FORMER_WORDS.items() if now.split()[0] == verb.name]
        names = " ".join((verb.name, *former, *other_words("verbs").get(verb.name, ()))).lower().split()
        helps = " ".join((verb.summary, *(argument.help for argument in verb.arguments))).lower()
        likely[verb.name] = sum(3 * (word in names) + (word in helps) for word in wanted)
    best = max(likely.values())
    return [verb_named(name) for name, score in likely.items() if score and score >= best / 2]
