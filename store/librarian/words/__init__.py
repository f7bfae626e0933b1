"""Words of questions and templates of answers: one TOML file a language, loaded at first use. To add a language,
translate `en.toml` into a file beside it."""

import os
from functools import cache
from typing import Any

from store.text.vocabulary import languages, whole_file

FOLDER = os.path.dirname(__file__)
LANGUAGES = languages(FOLDER)


def table(language: str) -> dict[str, Any]:
    """Return the whole file of a language."""
    return whole_file(FOLDER, language)


@cache
def phrases(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the phrases of that name in all languages, each as its words, the longest first."""
    every = {tuple(phrase.split()) for language in LANGUAGES for phrase in table(language)[name]}
    return tuple(sorted(every, key=lambda phrase: (-len(phrase), phrase)))


@cache
def named(name: str, spoken: str = "") -> dict[tuple[str, ...], str]:
    """Return phrase → what it names, from a table such as `nouns` of all languages, the longest first; where a language
    is `spoken`, without what only asks or points in it: `todo`."""
    found: dict[tuple[str, ...], str] = {}
    hollow = table(spoken)["asking"].split() if spoken else ()
    for language in LANGUAGES:
        for target, phrases_of in table(language)[name].items():
            for phrase in phrases_of if isinstance(phrases_of, list) else phrases_of.split():
                if language == spoken or phrase not in hollow:
                    found[tuple(phrase.split())] = target
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


@cache
def listed(name: str) -> frozenset[str]:
    """Return the words of that name in all languages: `asking`, without content; `acts`."""
    return frozenset(word for language in LANGUAGES for word in table(language)[name].split())


@cache
def hollow() -> frozenset[str]:
    """Return the words that a record of the kind which is asked for need not have: kinds, and acts."""
    return listed("acts") | {word for phrase in named("nouns") for word in phrase}


def sentence(language: str, name: str, *plain: object, **parts: object) -> str:
    """Return a sentence of an answer with its parts filled in."""
    return str(table(language)["sentences"][name]).format(*plain, **parts)
