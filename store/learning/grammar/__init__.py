"""The grammar by which a person's words are heard: what asks to be remembered, holds from now on, corrects, confirms.

It is data: `es.toml` and `en.toml` beside this file, whose heads say what their tables mean. A sentence may be of
either language, so each pattern here is made of both. They match text without capitals and accents (`folding.fold`),
in one line; each takes time in proportion to it (`tests/store/test_linear_time.py`). Read when first asked for, then
kept.
"""

import os
import re
from functools import cache
from typing import Any, NamedTuple

from store.text.vocabulary import languages, whole_file

FOLDER = os.path.dirname(__file__)
LANGUAGES = languages(FOLDER)
WINDOW = 240  # letters in which a marker has to stand
TYPOS = 7  # letters of a word of a marker in which a typo is read over

_PART = re.compile(r"\{([a-z_]+)\}")
_SLIPS = re.compile(r"~([a-z]+)")


class Trigger(NamedTuple):
    """Words with which a sentence begins that tells something: the `domain` they speak for; `unless`, what the sentence
    must not be although it begins so; `sure`, the name of the reading in `orders` that says whether it is believed."""

    domain: str
    phrase: re.Pattern[str]
    unless: re.Pattern[str] | None
    sure: str


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The pattern of that name in [patterns]; it ends with a word. Raises KeyError."""
    return _compiled(one for language in LANGUAGES for one in _filled(language, _read(language)["patterns"][name]))


def either(name: str) -> str:
    """Return the alternatives of that name in [signs], of both languages, to be put into a pattern. Raises KeyError."""
    every = [one for language in LANGUAGES for one in _read(language)["signs"][name]]
    return f"(?:{'|'.join(every)})"


@cache
def sign(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in [signs], which ends as it is written. Raises KeyError."""
    return re.compile(either(name))


@cache
def leads() -> re.Pattern[str]:
    """What may stand before anything without saying anything: always matches, as far as that goes."""
    every = "|".join(one for language in LANGUAGES for one in _filled(language, _read(language)["patterns"]["leads"]))
    return re.compile(rf"[\s¡!.,;*_-]*(?:(?:{every})(?![\w'])[\s,.:;!¡-]*)*")


@cache
def words(name: str) -> frozenset[str]:
    """The words of that name in [words]. Raises KeyError."""
    return frozenset(word for language in LANGUAGES for word in _read(language)["words"].get(name, "").split())


@cache
def triggers(name: str) -> tuple[Trigger, ...]:
    """The triggers of that name, [[kept]] say, in order. Raises KeyError."""
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
    """Phrases with their parts put in, and their words with typos."""
    return [_SLIPS.sub(lambda word: slips(word[1]), _with_parts(language, phrase)) for phrase in phrases]


@cache
def _part(language: str, name: str) -> str:
    part = _read(language)["parts"][name]
    return f"(?:{_with_parts(language, part if isinstance(part, str) else '|'.join(part))})"


def _with_parts(language: str, phrase: str) -> str:
    return _PART.sub(lambda match: _part(language, match[1]), phrase)


def slips(word: str) -> str:
    """A pattern for a word and its typos: a letter too much or too few, another one, two exchanged; not in
    the first and the last two, where another ending is another word. Of a short word only itself."""
    if len(word) < TYPOS:
        return word
    found = dict.fromkeys([word])
    for at in range(1, len(word) - 2):
        found[f"{word[:at]}{word[at + 1 :]}"] = None
        found[f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at + 1 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at:]}"] = None
    return f"(?:{'|'.join(found)})"
