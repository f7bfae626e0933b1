"""Words of each language, from the data files in `languages/`: one file a language, every file is read.

`languages/en.toml` describes the tables. Read at first use, then cached.
"""

import os
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import count
from types import ModuleType
from typing import Any
from unicodedata import normalize as _form

# Estimate tokens: a quarter of a text's UTF-8 bytes, rounded up.
#
# Not the count of a model, which differs between models; the estimate is a little high for English, near for code and
# Spanish, and three quarters of a token a character for Chinese or Japanese.

BYTES_PER_TOKEN = 4  # of a token


def count_tokens(text: str) -> int:
    """Return how many tokens a text takes, as an estimate."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def load_rapidfuzz() -> ModuleType:
    """Import what compares texts by their letters: it takes 19 ms, which most commands need not."""
    import rapidfuzz

    return rapidfuzz


LEFT_OUT_MARK = "\n[… {:,} tokens left out …]\n"


def shorten_middle(text: str, limit: int) -> tuple[str, int]:
    """Return a text shortened to `limit` tokens, and how many tokens were left out. A third of the rest is its
    beginning, two thirds its end, with a mark between them: in pasted text, the question is at one end."""
    if count_tokens(text) <= limit:
        return text, 0
    raw = text.encode("utf-8", "replace")
    room = max(0, (limit - count_tokens(LEFT_OUT_MARK.format(len(raw)))) * BYTES_PER_TOKEN)
    first = raw[: room // 3].decode("utf-8", "ignore").rstrip()
    last = raw[len(raw) - (room - room // 3) :].decode("utf-8", "ignore").lstrip()
    gone = count_tokens(text) - count_tokens(first) - count_tokens(last)
    return f"{first}{LEFT_OUT_MARK.format(gone)}{last}", gone


def shorten_to_tokens(text: str, limit: int) -> str:
    """Return the text, or as much of its beginning as `limit` tokens hold, ending in `…`."""
    if count_tokens(text) <= limit:
        return text
    room = limit * BYTES_PER_TOKEN - len("…".encode())
    return text.encode("utf-8", "replace")[: max(0, room)].decode("utf-8", "ignore").rstrip() + "…"


# Remove case and accents for comparison.


def fold_text(text: str) -> str:
    """Remove capitals and accents without changing the length; make curly apostrophes straight."""
    return text.lower() if text.isascii() else text.translate(_BARE)


def normalize_text(text: str, keep: str = "") -> str:
    """Remove capitals, accents and repeated spaces; the length may change.

    `keep`: letters that are not changed, as `ñ` where `año` is not `ano`.
    """
    text = text.casefold()
    if not text.isascii():
        parts = (char if char in keep else _strip_accents(char) for char in _form("NFC", text))
        text = "".join(parts)
    return " ".join(text.split())


class _Bare(dict[int, str]):
    """Code point of a character → the letter without capitals and accents, noted when it is first met."""

    def __missing__(self, code: int) -> str:
        found = _form("NFD", chr(code).lower())[:1]
        self[code] = bare = {"’": "'", "‘": "'"}.get(found, found)
        return bare


_BARE = _Bare()


def _strip_accents(char: str) -> str:
    """Return a character without its accents."""
    return "".join(part for part in _form("NFD", char) if not "\u0300" <= part <= "\u036f")


# Split identifiers into words: getUserName, XMLParser2, ERR_TIMEOUT, path/to/file.

_IDENTIFIER = re.compile(r"(?<![^\W_])[^\W_]{3,80}(?![^\W_])")
_COMPOUND = re.compile(r"[^\W\d_][A-Z]|[^\W\d_]\d|\d[^\W\d_]")
_IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_JOINED_BY_SYMBOLS = re.compile(r"(?<![^\W_])[^\W_]++(?:[<>=~.:/\\_@#+*-]++[^\W_]++)++")
# names of one text that are split
MAX_SPLIT_NAMES = 200
# words of one name that symbols join
MAX_COMPOUND_WORDS = 32


def split_identifier(word: str) -> list[str]:
    """Return the words of an identifier: getUserName gives get, User, Name. Return nothing for a single word."""
    found = _IDENTIFIER_PART.findall(word)
    return found if len(found) > 1 else []


def expand_identifiers(text: str) -> str:
    """Return the words in the compound names of a text, each with a space before it."""
    names = list(dict.fromkeys(filter(_COMPOUND.search, _IDENTIFIER.findall(text))))[:MAX_SPLIT_NAMES]
    found = dict.fromkeys(part for name in names for part in split_identifier(name) if len(part) > 1)
    return "".join(f" {part}" for part in found)


def split_compounds(text: str) -> list[str]:
    """Return the names that symbols join, each as its words, at most MAX_COMPOUND_WORDS of them: `sphinx<9` gives
    `sphinx 9`."""
    names = list(dict.fromkeys(_JOINED_BY_SYMBOLS.findall(text)))[:MAX_SPLIT_NAMES]
    return [" ".join(re.findall(r"[^\W_]+", one)[:MAX_COMPOUND_WORDS]) for one in names]


# Reduce a name to one line. A separate module, since every hook imports it.

MAX_ONE_LINE = 200  # characters


def reduce_to_one_line(name: str) -> str:
    """Return the name of a session or a person as it may be stored: one line, of MAX_ONE_LINE characters."""
    plain = "".join(char if char.isprintable() else " " for char in name[: 10 * MAX_ONE_LINE])
    return " ".join(plain.split())[:MAX_ONE_LINE].rstrip()


# Decide whether two words are forms of one: by their beginning, and by their endings.


def shared_prefix_length(one: str, other: str) -> int:
    """Return how many letters two words share at their start."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def is_inflection(one: str, other: str, least: int = 4, ending: int = 2) -> bool:
    """Return whether two words share `least` letters at their start, and all of the shorter but its last `ending`."""
    return shared_prefix_length(one, other) >= max(least, min(len(one), len(other)) - ending)


# Patterns that split a text into words.

# a word, with the characters that join its parts: `node.js`, `don't`, `v1.2`, `C++`, `ana@example.org`
WORD_PATTERN = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
# letters and digits alone, as in the full-text index
LETTERS_PATTERN = re.compile(r"\w+")
# as LETTERS_PATTERN, but a number with points is one word: 0.28.0, v1.2
WORD_OR_VERSION_PATTERN = re.compile(r"(?<!\w)[vV]?\d+(?:\.\d+)+(?!\w)|\w+")


LANGUAGES_FOLDER = os.path.join(os.path.dirname(__file__), "languages")


@cache
def list_languages(folder: str = "") -> tuple[str, ...]:
    """Return the codes of the languages that have a file in a folder, LANGUAGES_FOLDER if none is named: `en`, `es`."""
    return tuple(
        sorted(
            name.removesuffix(".toml") for name in os.listdir(folder or LANGUAGES_FOLDER) if name.endswith(".toml")
        )
    )


@cache
def read_language_file(folder: str, language: str) -> dict[str, Any]:
    """Return all of a language's file in a folder."""
    with open(os.path.join(folder, f"{language}.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def load_words(table: str, *names: str, language: str = "") -> frozenset[str]:
    """Return the words of these names in a table, of one language or of all languages. Raise KeyError for a name
    that no file has."""
    found: set[str] = set()
    for name in names:
        held = [_read_table(language, table)[name]] if language else _collect_values(table, name)
        if not held:
            raise KeyError(f"{table}.{name}")
        for value in held:
            found.update(value.split() if isinstance(value, str) else value)
    return frozenset(found)


def load_stop_words(use: str) -> frozenset[str]:
    """Return the stop words for one use: `search`, `comparison`, `slug`."""
    return load_words("stop", "core", use)


@cache
def load_ordered_words(table: str, name: str) -> tuple[frozenset[str], ...]:
    """Return an ordered list, such as the days of a week: the names of each position, in all languages."""
    return _merge_places(_collect_values(table, name))


@cache
def load_places(name: str, *values: int) -> dict[str, int]:
    """Return the value of each name in an ordered list of dates, such as the days of a week; without values its
    place."""
    lists = load_ordered_words("dates", name)
    return {word: value for words, value in zip(lists, values or count(), strict=False) for word in words}


@cache
def load_number_words() -> dict[str, int]:
    """Return the words for numbers."""
    tables = [_read_table(code, "numbers") for code in list_languages()]
    return {word: int(value) for table in tables for value, text in table.items() for word in text.split()}


@cache
def load_word_groups(table: str) -> dict[str, tuple[frozenset[str], ...]]:
    """Return each name of a table with its groups: interchangeable words, in all languages."""
    names = dict.fromkeys(name for code in list_languages() for name in _read_table(code, table))
    found = {}
    for name in names:
        held = [[value] if isinstance(value, str) else value for value in _collect_values(table, name)]
        found[name] = _merge_places(held)
    return found


def _merge_places(lists: list[Any]) -> tuple[frozenset[str], ...]:
    """Return the words at each place of lists of words."""
    return tuple(
        frozenset(word for one in lists for word in one[at].split()) for at in range(max(map(len, lists)))
    )


def any_of_regex(words: Iterable[str]) -> str:
    """Return a regular expression for any of these words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def _collect_values(table: str, name: str) -> list[Any]:
    """Return the values of this name in the files, in the order of the languages."""
    return [_read_table(code, table)[name] for code in list_languages() if name in _read_table(code, table)]


@cache
def _read_language_text(language: str) -> str:
    """Return the text of a language's file."""
    with open(os.path.join(LANGUAGES_FOLDER, f"{language}.toml"), encoding="utf-8") as file:
        return f"\n{file.read()}"


@cache
def _read_table(language: str, table: str) -> dict[str, Any]:
    """Return one table of a file, empty if it has none. The others are not parsed: it takes 2 ms a file, and a hook
    needs the stop words alone. A line that begins with `[` begins a table."""
    _, header, rest = _read_language_text(language).partition(f"\n[{table}]\n")
    found: dict[str, Any] = tomllib.loads(rest.partition("\n[")[0]) if header else {}
    return found


def remove_between(text: str, begin: str, end: str) -> str:
    """Return a text without what stands from each `begin` to the `end` behind it."""
    kept, place = list[str](), 0
    while (start := text.find(begin, place)) >= 0 and (stop := text.find(end, start)) >= 0:
        kept.append(text[place:start])
        place = stop + len(end)
    return "".join([*kept, text[place:]])
