"""Grammar of the learning rules: patterns of requests to remember, lasting rules, corrections, confirmations.

The data are in `es.toml`, `en.toml` and `forms.toml` beside this file; their first lines explain the tables. A sentence
may be in either language, so each pattern here combines both. Patterns match one line of text without capitals and
accents (`folding.fold`), in time proportional to its length (`tests/store/test_linear_time.py`). Loaded at first use
and cached.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from store.text.vocabulary import languages, whole_file

FOLDER = os.path.dirname(__file__)
FORMS = "forms"  # the file of what is put together of the words of all languages
LANGUAGES = tuple(language for language in languages(FOLDER) if language != FORMS)
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
    every = [one for language, table in _tables("patterns") for one in _filled(language, table[name])]
    return re.compile(f"{_any(every)}(?!(?<=\\w)\\w)")


def either(name: str) -> str:
    """Return the alternatives of that name in [signs], of both languages, to be inserted into a pattern. Raise
    KeyError."""
    return _any(one for _, table in _tables("signs") for one in table[name])


@cache
def sign(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in [signs], without a word boundary at its end. Raise KeyError."""
    return re.compile(either(name))


def form_table(name: str) -> Any:
    """Return what `forms.toml` says under a name. Raise KeyError."""
    return whole_file(FOLDER, FORMS)[name]


@cache
def form(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in `forms.toml`; of a list, of any of it. Raise KeyError."""
    told = form_table(name)
    return composed(told if isinstance(told, str) else "|".join(told))


@cache
def composed(text: str) -> re.Pattern[str]:
    """Return a pattern in which `{name}` stands for the words of that name in [signs]."""
    return re.compile(_PART.sub(lambda part: either(part[1]), text))


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of that name in [words]."""
    return frozenset(word for _, table in _tables("words") for word in table.get(name, "").split())


def verbs(name: str) -> list[tuple[str, str]]:
    """Return the (form, verdict) pairs of that name in [verbs]."""
    return [(form, says) for _, table in _tables("verbs") for form, says in table.get(name, ())]


@cache
def triggers(name: str) -> tuple[Trigger, ...]:
    """Return the triggers of that name, such as [[kept]], in order. Raise KeyError."""
    return tuple(
        Trigger(
            one["domain"],
            re.compile(_any(_filled(language, one["phrases"]))),
            re.compile(_any(_filled(language, one["unless"]))) if "unless" in one else None,
            one.get("sure", ""),
        )
        for language, listed in _tables(name)
        for one in listed
    )


def _tables(name: str) -> list[tuple[str, Any]]:
    """Return (language, the table of that name) of each language."""
    return [(language, whole_file(FOLDER, language).get(name, {})) for language in LANGUAGES]


def _any(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(phrases)})"


def _filled(language: str, phrases: Sequence[str]) -> list[str]:
    """Return phrases with their parts inserted, and with variants for typos."""
    return [_SLIPS.sub(lambda word: slips(word[1]), _with_parts(language, phrase)) for phrase in phrases]


@cache
def _part(language: str, name: str) -> str:
    part = whole_file(FOLDER, language)["parts"][name]
    return _with_parts(language, _any([part] if isinstance(part, str) else part))


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
