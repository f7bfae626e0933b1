"""Extract the names in texts: citations, files, `code`, and capitalised words. A rule, not a model: it misses names in
small letters, and sometimes takes a title for a name."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import product

from store.base.citations import find

MOST = 24  # names of one checkpoint
LONGEST = 60  # characters of a name
READ = 24_000  # characters that are searched

# none of these may start inside a run of its own characters: tried at each of them, a long run would take n² steps
_URL = re.compile(r"(?<!\w)\w+://[^\s<>\"'`)\]]+")
_CODE = re.compile(r"`([^`\n]{2,60})`")
_PART = re.compile(r"\w+(?:-\w+)*")
_CUT = re.compile(r"\[REDACTED:\w+\]")
_FILE = re.compile(r"(?<![\w/.@-])(?:(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]+|[\w-]+\.(?:[a-z][a-z0-9]{1,4}|[chr]))(?![\w/])")
_CAPITAL = re.compile(r"[^\W\d_][\w'’+-]*(?: [^\W\d_][\w'’+-]*)*")
_START = re.compile(r"(?:^|[.!?:;…»”\"\n(\[¿¡•*>-])\s*$")


def longest_name(said: Sequence[str], names: Iterable[str], parts: Callable[[str], list[str]]) -> tuple[int, int, str]:
    """Return (the place, the number of words, the part of a name) of the longest run of words that stands in one of the
    names; `parts` makes words of a part. The number is 0 where none does."""
    place, most, found = 0, 0, ""
    for name in names:
        own = [(" ".join(parts(part[0])), part) for part in _PART.finditer(name)]
        for at, begin in product(range(len(said)), range(len(own))):
            size = 0
            while at + size < len(said) and begin + size < len(own) and said[at + size] == own[begin + size][0]:
                size += 1
            if size > most:
                place, most, found = at, size, name[own[begin][1].start() : own[begin + size - 1][1].end()]
    return place, most, found


def named(texts: Iterable[str], most: int = MOST) -> list[str]:
    """Return the names in these texts, by frequency, of equals the earlier first; at most `most`.

    A capitalised word at the start of a sentence counts only if it has another capital or a digit inside, or is
    capitalised elsewhere in the middle of a sentence.
    """
    rest = "\n".join(texts)[:READ]
    found = Counter[str]()

    def take(match: re.Match[str]) -> str:
        """Count a match, and replace it by a mark that no later pattern matches, and that ends no sentence."""
        name = match[match.lastindex or 0].strip().rstrip(".,;:")
        if 1 < len(name) <= LONGEST and any(map(str.isalpha, name)):
            found[name] += 1
        return " , "

    for pattern in (_URL, _CODE):
        rest = pattern.sub(take, rest)
    cited = list(find(rest))
    found.update(str(citation) for _, _, citation in cited)
    for start, end, _ in reversed(cited):
        rest = f"{rest[:start]} , {rest[end:]}"
    rest = _FILE.sub(take, _CUT.sub(" , ", rest))
    found.update(_proper(rest))
    return [name for name, _ in found.most_common(most)]


def _proper(text: str) -> list[str]:
    """Return runs of capitalised words, as they are written; see `named`."""
    runs: list[tuple[list[str], bool]] = []  # the run, and whether it begins a sentence
    for match in _CAPITAL.finditer(text):
        words = match[0].split(" ")
        begins = _START.search(text[max(0, match.start() - 3) : match.start()] or "\n") is not None
        for place, word in enumerate(words):
            if not word[0].isupper():
                continue
            if place and words[place - 1][0].isupper():
                runs[-1][0].append(word)
            else:
                runs.append(([word], begins and place == 0))
    inside = {" ".join(run[first:]) for run, first in runs}
    names = []
    for run, first in runs:
        whole = not first or " ".join(run) in inside or any(sign.isupper() or sign.isdigit() for sign in run[0][1:])
        name = " ".join(run if whole else run[1:])
        if 2 < len(name) <= LONGEST:
            names.append(name)
    return names
