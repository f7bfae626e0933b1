"""Grammar of the learning rules: patterns of requests to remember, lasting rules, corrections, confirmations.

The data are in `es.toml`, `en.toml` and `forms.toml` beside this file; their first lines explain the tables. A sentence
may be in either language, so each pattern here combines both. Patterns match one line of text without capitals and
accents (`fold_text`), in time proportional to its length (`tests/store/test_linear_time.py`). Loaded at first use
and cached.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from store.text.words import list_languages, read_language_file

GRAMMAR_FOLDER = os.path.join(os.path.dirname(__file__), "grammar")
FORMS_FILE = "forms"  # the file of what is put together of the words of all languages
GRAMMAR_LANGUAGES = tuple(language for language in list_languages(GRAMMAR_FOLDER) if language != FORMS_FILE)
MARKER_WINDOW = 240  # letters within which a marker must end
MIN_TYPO_LETTERS = 7  # least letters of a marker's word in which one typo is accepted

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

    def find_phrase(self, folded: str, anywhere: bool = False) -> re.Match[str] | None:
        """Return the match of the phrase at the beginning of a sentence that is not excluded; or anywhere in it."""
        if self.unless and self.unless.match(folded):
            return None
        return self.phrase.search(folded) if anywhere else self.phrase.match(folded)


@cache
def word_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in [patterns], which ends at the end of a word. Raise KeyError."""
    every = [one for language, table in _language_tables("patterns") for one in _fill_phrases(language, table[name])]
    return re.compile(f"{_any_of(every)}(?!(?<=\\w)\\w)")


def sign_alternatives(name: str) -> str:
    """Return the alternatives of this name in [signs], of both languages, to be inserted into a pattern. Raise
    KeyError."""
    return _any_of(one for _, table in _language_tables("signs") for one in table[name])


@cache
def sign_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in [signs], without a word boundary at its end. Raise KeyError."""
    return re.compile(sign_alternatives(name))


def form_table(name: str) -> Any:
    """Return what `forms.toml` says under a name. Raise KeyError."""
    return read_language_file(GRAMMAR_FOLDER, FORMS_FILE)[name]


@cache
def form_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in `forms.toml`; for a list, a pattern of any of its items. Raise KeyError."""
    told = form_table(name)
    return compose_pattern(told if isinstance(told, str) else "|".join(told))


@cache
def compose_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern in which each `{name}` stands for the words of this name in [signs]."""
    return re.compile(_PART.sub(lambda part: sign_alternatives(part[1]), text))


@cache
def grammar_words(name: str) -> frozenset[str]:
    """Return the words of this name in [words], of both languages."""
    return frozenset(word for _, table in _language_tables("words") for word in table.get(name, "").split())


def verb_forms(name: str) -> list[tuple[str, str]]:
    """Return the (form, verdict) pairs of this name in [verbs], of both languages."""
    return [(form, says) for _, table in _language_tables("verbs") for form, says in table.get(name, ())]


@cache
def find_triggers(name: str) -> tuple[Trigger, ...]:
    """Return the triggers of this name, such as [[kept]], in order. Raise KeyError."""
    return tuple(
        Trigger(
            one["domain"],
            re.compile(_any_of(_fill_phrases(language, one["phrases"]))),
            re.compile(_any_of(_fill_phrases(language, one["unless"]))) if "unless" in one else None,
            one.get("sure", ""),
        )
        for language, listed in _language_tables(name)
        for one in listed
    )


def _language_tables(name: str) -> list[tuple[str, Any]]:
    """Return (language, the table of this name) for each language."""
    return [(language, read_language_file(GRAMMAR_FOLDER, language).get(name, {})) for language in GRAMMAR_LANGUAGES]


def _any_of(phrases: Iterable[str]) -> str:
    """Return a pattern of any of these phrases."""
    return f"(?:{'|'.join(phrases)})"


def _fill_phrases(language: str, phrases: Sequence[str]) -> list[str]:
    """Return phrases with their parts inserted, and with variants for typos."""
    return [_SLIPS.sub(lambda word: typo_pattern(word[1]), _insert_parts(language, phrase)) for phrase in phrases]


@cache
def _expand_part(language: str, name: str) -> str:
    """Return the pattern of a part, with its own parts inserted."""
    part = read_language_file(GRAMMAR_FOLDER, language)["parts"][name]
    return _insert_parts(language, _any_of([part] if isinstance(part, str) else part))


def _insert_parts(language: str, phrase: str) -> str:
    """Insert the parts that a phrase names."""
    return _PART.sub(lambda match: _expand_part(language, match[1]), phrase)


def typo_pattern(word: str) -> str:
    """Return a pattern for a word and its typos: one letter too many, one missing, one replaced, two exchanged; not in
    the first and the last two letters, where another ending is another word. A short word matches only itself."""
    if len(word) < MIN_TYPO_LETTERS:
        return word
    found = dict.fromkeys([word])
    for at in range(1, len(word) - 2):
        found[f"{word[:at]}{word[at + 1 :]}"] = None
        found[f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at + 1 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at:]}"] = None
    return f"(?:{'|'.join(found)})"
