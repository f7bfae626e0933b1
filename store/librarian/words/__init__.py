"""The words by which questions are understood and answers put: data, one TOML file a language, read when first asked
for. To add a language, translate `en.toml` into a file beside it."""

import os
from functools import cache
from typing import Any

from store.text.vocabulary import languages, whole_file

FOLDER = os.path.dirname(__file__)
LANGUAGES = languages(FOLDER)


def table(language: str) -> dict[str, Any]:
    """All of a language's file."""
    return whole_file(FOLDER, language)


@cache
def phrases(name: str) -> tuple[tuple[str, ...], ...]:
    """The phrases of that name in every language, each as its words, the longest first."""
    every = {tuple(phrase.split()) for language in LANGUAGES for phrase in table(language)[name]}
    return tuple(sorted(every, key=lambda phrase: (-len(phrase), phrase)))


@cache
def named(name: str) -> dict[tuple[str, ...], str]:
    """phrase → what it names, of the tables `kinds` and `states` in every language, the longest first."""
    found: dict[tuple[str, ...], str] = {}
    for language in LANGUAGES:
        for target, phrases_of in table(language)[name].items():
            for phrase in phrases_of if isinstance(phrases_of, list) else phrases_of.split():
                found[tuple(phrase.split())] = target
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


@cache
def asking() -> frozenset[str]:
    """The words that ask and say nothing, in every language."""
    return frozenset(word for language in LANGUAGES for word in table(language)["asking"].split())


def sentence(language: str, name: str, *plain: object, **parts: object) -> str:
    """A sentence of an answer, its parts put in."""
    return str(table(language)["sentences"][name]).format(*plain, **parts)
