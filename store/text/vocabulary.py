"""Words of each language, from the data files in `languages/`: one file a language, every file is read.

`languages/en.toml` describes the tables. Read at first use, then cached.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

FOLDER = os.path.join(os.path.dirname(__file__), "languages")


@cache
def languages(folder: str = "") -> tuple[str, ...]:
    """Return the codes of the languages that have a file in a folder, FOLDER if none is named: `en`, `es`."""
    return tuple(sorted(name.removesuffix(".toml") for name in os.listdir(folder or FOLDER) if name.endswith(".toml")))


@cache
def whole_file(folder: str, language: str) -> dict[str, Any]:
    """Return all of a language's file in a folder."""
    import tomllib

    with open(os.path.join(folder, f"{language}.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def words(table: str, *names: str, language: str = "") -> frozenset[str]:
    """Return the words of these names in a table, of one language or of all. Raise KeyError for a name that no file
    has."""
    found: set[str] = set()
    for name in names:
        held = [_read(language, table)[name]] if language else _held(table, name)
        if not held:
            raise KeyError(f"{table}.{name}")
        for value in held:
            found.update(value.split() if isinstance(value, str) else value)
    return frozenset(found)


def stop_words(use: str) -> frozenset[str]:
    """Return the stop words for one use: `search`, `comparison`, `slug`."""
    return words("stop", "core", use)


@cache
def in_order(table: str, name: str) -> tuple[frozenset[str], ...]:
    """Return an ordered list, such as the days of a week: the names of each position, in all languages."""
    lists = _held(table, name)
    return tuple(
        frozenset(word for one in lists for word in one[place].split()) for place in range(max(map(len, lists)))
    )


@cache
def numbers() -> dict[str, int]:
    """Return the words for numbers."""
    tables = [_read(code, "numbers") for code in languages()]
    return {word: int(value) for table in tables for value, text in table.items() for word in text.split()}


@cache
def groups(table: str) -> dict[str, tuple[frozenset[str], ...]]:
    """Return each name of a table with its groups: interchangeable words, in all languages."""
    names = dict.fromkeys(name for code in languages() for name in _read(code, table))
    found = {}
    for name in names:
        held = [[value] if isinstance(value, str) else value for value in _held(table, name)]
        found[name] = tuple(
            frozenset(word for sides in held for word in sides[at].split()) for at in range(max(map(len, held)))
        )
    return found


def alternatives(words: Iterable[str]) -> str:
    """Return a regular expression for any of these words, the longest first."""
    import re

    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def _held(table: str, name: str) -> list[Any]:
    """Return the values of this name in the files, in the order of the languages."""
    return [_read(code, table)[name] for code in languages() if name in _read(code, table)]


@cache
def _text(language: str) -> str:
    with open(os.path.join(FOLDER, f"{language}.toml"), encoding="utf-8") as file:
        return f"\n{file.read()}"


@cache
def _read(language: str, table: str) -> dict[str, Any]:
    """Return one table of a file, empty if it has none. The others are not parsed: it takes 2 ms a file, and a hook
    needs the stop words alone. A line that begins with `[` begins a table."""
    import tomllib

    _, header, rest = _text(language).partition(f"\n[{table}]\n")
    found: dict[str, Any] = tomllib.loads(rest.partition("\n[")[0]) if header else {}
    return found
