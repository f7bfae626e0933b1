"""The words that are to go: whether a text holds them, in whatever capitals, spaces and accents, and that text without
them."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

from store.database.capture import PURGED

FEWEST = 4  # letters and figures: what is shorter stands in too many texts that have nothing to do with it
TOLD = 12  # letters of a query that is a part of a text, from which on it tells of it
SEVERAL = 20  # so many texts are looked for one by one; beyond, first by their longest word
END = ".!;, "
_RUN = re.compile(r"[a-z0-9]{3,}")
_WORD = re.compile(r"\w+")
_SPACED = "0-9A-Za-z_\u00c0-\u024f\u0370-\u04ff"  # of writings that put spaces between words: Latin, Greek, Cyrillic
_TOKEN = re.compile(f"[{_SPACED}]+")


class Words:
    """Texts that are purged, to be looked for in others. Those too short to be looked for are left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = dict.fromkeys(text for text in map(_trimmed, texts) if long(text))
        self.texts = tuple(sorted(found, key=len, reverse=True))  # a text that holds another is cut first
        self._patterns = {text: pattern(text) for text in self.texts}
        self._by_word: dict[str, list[str]] = {}
        self._always: list[str] = []
        words = {text: _TOKEN.findall(_folded(text)) for text in self.texts}
        often = Counter(word for told in words.values() for word in set(told))
        for text, told in words.items():
            if told:
                rarest = min(told, key=lambda word: (often[word], -len(word)))
                self._by_word.setdefault(rarest, []).append(text)
            else:  # a writing without spaces: no word stands for itself
                self._always.append(text)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def probes(self) -> list[str] | None:
        """Letters that each text that holds them must hold, for SQL's LIKE; None where only reading all will do."""
        if len(self.texts) > SEVERAL:
            return None
        runs = [max(_RUN.findall(text.casefold()), key=len, default="") for text in self.texts]
        return runs if all(runs) else None

    def inside(self, value: object) -> bool:
        """Whether a text, or any string of the JSON that it is, holds one of them."""
        return bool(self.cut(value) != value)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in a text they stand, as (start, end); one may overlap another."""
        return [match.span() for wanted in self._likely(text) for match in self._patterns[wanted].finditer(text)]

    def hold(self, part: str) -> bool:
        """Whether one of them says this too, in as many letters as are looked for as parts of words."""
        told = _folded(" ".join(part.split()))
        return len(told) >= TOLD and any(told in _folded(" ".join(text.split())) for text in self.texts)

    def around(self, value: object) -> str:
        """What stands around the first of them, in one line: for people."""
        text = str(value)
        found = next((match for text_ in self._likely(text) if (match := self._patterns[text_].search(text))), None)
        if found is None:
            return " ".join(text.split())[:120]
        start = max(0, found.start() - 24)
        return ("…" if start else "") + " ".join(text[start : start + 160].split())

    def cut(self, value: Any) -> Any:
        """The text without them, each replaced by a mark; of JSON, in each of its strings."""
        if not isinstance(value, str):
            return value
        if value[:1] in ("{", "[", '"'):
            try:
                tree = json.loads(value)
            except ValueError:
                return self._cut(value)
            cut = self.tree(tree)
            return value if cut == tree else json.dumps(cut, ensure_ascii=False, separators=(",", ":"))
        return self._cut(value)

    def tree(self, tree: Any) -> Any:
        """`cut` in every string of a JSON value, keys included."""
        if isinstance(tree, str):
            return self.cut(tree)
        if isinstance(tree, list):
            return [self.tree(item) for item in tree]
        if isinstance(tree, dict):
            return {self._cut(name): self.tree(item) for name, item in tree.items()}
        return tree

    def _cut(self, text: str) -> str:
        for wanted in self._likely(text):
            text = self._patterns[wanted].sub(PURGED, text)
        return text

    def _likely(self, text: str) -> Iterable[str]:
        """Those of the texts that may stand in this one."""
        if len(self.texts) <= SEVERAL:
            return self.texts
        words = set(_TOKEN.findall(_folded(text)))
        likely = [*self._always, *(text for word in words & self._by_word.keys() for text in self._by_word[word])]
        return sorted(likely, key=len, reverse=True)


def long(text: str) -> bool:
    """Whether a text is long enough to be looked for elsewhere."""
    return sum(map(len, _WORD.findall(text))) >= FEWEST


def pattern(text: str) -> re.Pattern[str]:
    """Finds a text in whatever capitals, with any space between its words and accents composed or not; not as the
    beginning or the end of longer words: `team of 5` is not in `team of 50`."""
    whole = r"\s+".join("".join(map(_letter, word)) for word in normalize("NFC", text).split())
    before = f"(?<![{_SPACED}])" if re.match(f"[{_SPACED}]", text[0]) else ""
    behind = f"(?![{_SPACED}])" if re.match(f"[{_SPACED}]", text[-1]) else ""
    return re.compile(before + whole + behind, re.IGNORECASE)


def _letter(letter: str) -> str:
    apart = normalize("NFD", letter)
    return re.escape(letter) if apart == letter else f"(?:{re.escape(letter)}|{re.escape(apart)})"


def _trimmed(text: str) -> str:
    return text.strip().rstrip(END) or text.strip()


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()
