"""Grammar of the learning rules: patterns of requests to remember, lasting rules, corrections, confirmations.

The data are in `es.toml` and `en.toml` beside this file; their first lines explain the tables. A sentence may be in
either language, so each pattern here combines both. Patterns match one line of text without capitals and accents
(`folding.fold`), in time proportional to its length (`tests/store/test_linear_time.py`). Loaded at first use and
cached.
"""

import os
import re
from functools import cache
from typing import Any, NamedTuple

from store.text.vocabulary import languages, whole_file

FOLDER = os.path.dirname(__file__)
LANGUAGES = languages(FOLDER)
WINDOW = 240  # letters within which a marker must end
TYPOS = 7  # least letters of a marker's word in which one typo is accepted

_PART = re.compile(r"\{([a-z_]+)\}")
_SLIPS = re.compile(r"~([a-z]+)")


class Trigger(NamedTuple):
    """A phrase in a sentence that states something, at its beginning if not in [[told]]: the `domain` of the fact;
    `unless`, a pattern that excludes the sentence; `sure`, the name in [verbs] of the forms by which its group `verb`
    tells whether it is certain."""

    domain: str
    phrase: re.Pattern[str]
    unless: re.Pattern[str] | None
    sure: str

    def of(self, folded: str, anywhere: bool = False) -> re.Match[str] | None:
        """Return the match of the phrase at the beginning of a sentence that is not excluded; or anywhere in it."""
        if self.unless and self.unless.match(folded):
            return None
        return self.phrase.search(folded) if anywhere else self.phrase.match(folded)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in [patterns]; it ends at the end of a word. Raise KeyError."""
    return _compiled(one for language in LANGUAGES for one in _filled(language, _read(language)["patterns"][name]))


def either(name: str) -> str:
    """Return the alternatives of that name in [signs], of both languages, to be inserted into a pattern. Raise
    KeyError."""
    every = [one for language in LANGUAGES for one in _read(language)["signs"][name]]
    return f"(?:{'|'.join(every)})"


@cache
def sign(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in [signs], without a word boundary at its end. Raise KeyError."""
    return re.compile(either(name))


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of that name in [words]. Raise KeyError."""
    return frozenset(word for language in LANGUAGES for word in _read(language)["words"].get(name, "").split())


@cache
def verbs(name: str) -> list[tuple[str, str]]:
    """Return the (form, verdict) pairs of that name in [verbs], of all languages that have it."""
    return [(form, says) for language in LANGUAGES for form, says in _read(language).get("verbs", {}).get(name, ())]


@cache
def triggers(name: str) -> tuple[Trigger, ...]:
    """Return the triggers of that name, such as [[kept]], in order. Raise KeyError."""
    return tuple(
        Trigger(
            one["domain"],
            _begins(_filled(language, one["phrases"])),
            _begins(_filled(language, one["unless"])) if "unless" in one else None,
            one.get("sure", ""),
        )
        for language in LANGUAGES
        for one in _read(language)[name]
    )


def _read(language: str) -> dict[str, Any]:
    return whole_file(FOLDER, language)


def _compiled(phrases: Any) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(phrases)})(?!(?<=\\w)\\w)")


def _begins(phrases: list[str]) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(phrases)})")


def _filled(language: str, phrases: list[str]) -> list[str]:
    """Return phrases with their parts inserted, and with variants for typos."""
    return [_SLIPS.sub(lambda word: slips(word[1]), _with_parts(language, phrase)) for phrase in phrases]


@cache
def _part(language: str, name: str) -> str:
    part = _read(language)["parts"][name]
    return f"(?:{_with_parts(language, part if isinstance(part, str) else '|'.join(part))})"


def _with_parts(language: str, phrase: str) -> str:
    return _PART.sub(lambda match: _part(language, match[1]), phrase)


def slips(word: str) -> str:
    """Return a pattern for a word and its typos: one letter too many, one missing, one replaced, two exchanged; not in
    the first and the last two letters, where another ending is another word. A short word matches only itself."""
    if len(word) < TYPOS:
        return word
    found = dict.fromkeys([word])
    for at in range(1, len(word) - 2):
        found[f"{word[:at]}{word[at + 1 :]}"] = None
        found[f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at + 1 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at:]}"] = None
    return f"(?:{'|'.join(found)})"
