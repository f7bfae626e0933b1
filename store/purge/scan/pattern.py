"""Match the words to be purged, whatever the capitals, spaces and accents, and cut them out of a text."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from unicodedata import normalize

from store.database.erasure.purged_words import FEWEST, NAME, SPACED, forms, matches, spans_of
from store.database.writing.change_capture import PURGED

IDENTIFYING = 12  # letters from which on a query that is part of a text identifies it
SEVERAL = 20  # up to so many texts are looked for one by one; more of them together, each by its rarest run of letters
END = ".!;, "
SHORT = "\u2026"  # end of a text that was cut short
LONGEST_END = 400  # words before it that are compared
OPENING = ("{", "[", '"')  # of JSON
# equal to the second in any capitals, and `lower` leaves them unchanged
OTHERS = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"))
_RUN = re.compile(r"[A-Za-z0-9]{3,}")  # the same in JSON, composed or not; only capitals differ
_WORD = re.compile(r"\w+")

Hit = tuple[int, int, int]  # index of the string, start and end
Find = Callable[..., list[Hit]]


class Words:
    """Texts that are purged, to be looked for in others. Those too short to be looked for are left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = dict.fromkeys(text for text in map(_trimmed, texts) if long(text))
        self.texts = tuple(sorted(found, key=len, reverse=True))  # a text that contains another is cut first
        self._patterns: dict[str, re.Pattern[str]] = {}  # made when first needed
        self._runs = [_runs(text) for text in self.texts]
        self._always = [place for place, runs in enumerate(self._runs) if not runs]
        self._by_run: list[list[int]] = []
        self._find = self._index() if len(self.texts) > SEVERAL else None
        self._whole = "\0".join(_folded(" ".join(text.split())) for text in self.texts)

    def _index(self) -> Find:
        """Find a run of letters of each text, in one pass."""
        often = Counter(run for runs in self._runs for run in set(runs))
        by_run: dict[str, list[int]] = {}
        for place, runs in enumerate(self._runs):
            if runs:
                by_run.setdefault(min(runs, key=lambda run: (often[run], -len(run))), []).append(place)
        self._by_run = [*by_run.values()]
        return automaton(by_run)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def probes(self) -> list[str] | None:
        """Return letters that any text with a match must contain, for SQL's LIKE, which does not know the other
        characters that count as i, k and s; None where every row must be read."""
        if len(self.texts) > SEVERAL:
            return None
        probes = [max(re.split("[iks ]", " ".join(runs)), key=len, default="") for runs in self._runs]
        return probes if all(probes) else None

    def inside(self, value: object) -> bool:
        """Return whether a text, or any string in its JSON, contains one of them."""
        return isinstance(value, str) and self._may(value) and bool(self.cut(value) != value)

    def _may(self, text: str) -> bool:
        """Return whether a text, or any string in its JSON, may contain one of them."""
        return ("\\u" in text and text[:1] in OPENING) or bool(self._likely(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return their positions in a text, as (start, end); one may overlap another."""
        return [match.span() for wanted in self._likely(text) for match in self._pattern(wanted).finditer(text)]

    def which(self, text: str) -> set[str]:
        """Return those of them, as they are in `texts`, that a text contains."""
        return {wanted for wanted in self._likely(text) if self._pattern(wanted).search(text)}

    @staticmethod
    def trimmed(text: str) -> str:
        """Return a text in the form used in `texts`: without surrounding spaces and final punctuation."""
        return _trimmed(text)

    def hold(self, part: str) -> bool:
        """Return whether one of them contains this too, if it has as many letters as parts of words must have."""
        folded = _folded(" ".join(part.split()))
        return len(folded) >= IDENTIFYING and folded in self._whole

    def around(self, value: object) -> str:
        """Return the text around the first of them, in one line, to be shown."""
        text = str(value)
        found = next((match for text_ in self._likely(text) if (match := self._pattern(text_).search(text))), None)
        if found is None:
            return " ".join(text.split())[:120]
        start = max(0, found.start() - 24)
        return ("…" if start else "") + " ".join(text[start : start + 160].split())

    def cut(self, value: Any) -> Any:
        """Return the text without them, each replaced by a mark; of JSON, in each of its strings."""
        if not isinstance(value, str):
            return value
        if value[:1] in OPENING:
            try:
                tree = json.loads(value)
            except ValueError:
                return self._cut(value)
            cut = self.tree(tree)
            return value if cut == tree else json.dumps(cut, ensure_ascii=False, separators=(",", ":"))
        return self._cut(value)

    def tree(self, tree: Any) -> Any:
        """Apply `cut` to every string of a JSON value, keys included."""
        if isinstance(tree, str):
            return self.cut(tree)
        if isinstance(tree, list):
            return [self.tree(item) for item in tree]
        if isinstance(tree, dict):
            return {self._cut(name): self.tree(item) for name, item in tree.items()}
        return tree

    def _cut(self, text: str) -> str:
        for wanted in self._likely(text):
            text = self._pattern(wanted).sub(PURGED, text)
        return text

    def _pattern(self, wanted: str) -> re.Pattern[str]:
        made = self._patterns.get(wanted)
        if made is None:
            made = self._patterns[wanted] = pattern(wanted)
        return made

    def _likely(self, text: str) -> list[str]:
        """Return the texts that may occur in this one, the longest first."""
        low = _small(text)
        places: Iterable[int] = range(len(self.texts))
        if self._find is not None:
            hits = hits_of(self._find, low)
            if not hits and not self._always:
                return []
            found = {place for run in {hit[0] for hit in hits} for place in self._by_run[run]}
            places = sorted(found.union(self._always))
        return [self.texts[place] for place in places if all(run in low for run in self._runs[place])]


class Copies(Words):
    """The same for copies that Memoranda made: also cut `names` that only these texts contain, and their beginnings
    where a copy was cut short or an input was not completed."""

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        texts, names = list(texts), list(names)
        super().__init__([*texts, *names])
        self._forms: dict[str, set[str]] = {}
        for kind, letters in (
            *(form for text in texts for form in forms(text)),
            *(form for name in names for form in forms(name, NAME)),
        ):
            self._forms.setdefault(letters, set()).add(kind)
        self._begun: dict[str, list[list[str]]] = {}
        for text in self.texts:
            words = [word for word, _, _ in spans_of(normalize("NFC", text))]
            self._begun.setdefault(words[0][:FEWEST] if words else "", []).append(words)

    def typed(self, text: str) -> bool:
        """Return whether an input contains one of them or a part of one, or ends with the beginning of one."""
        return self.inside(text) or self.hold(text) or any(matches(text, self._kinds))

    def _kinds(self, letters: str) -> set[str]:
        return self._forms.get(letters, set())

    def probes(self) -> list[str] | None:
        """Return the same as for `Words`, and the ellipsis at the end of a text that was cut short."""
        probes = super().probes()
        return None if probes is None else [*probes, SHORT]

    def _may(self, text: str) -> bool:
        return SHORT in text or super()._may(text)

    def _cut(self, text: str) -> str:
        text = super()._cut(text)
        if SHORT not in text:
            return text
        *parts, last = normalize("NFC", text).split(SHORT)
        return "".join(self._without_end(part) for part in parts) + last

    def _without_end(self, text: str) -> str:
        """Return a text ending in an ellipsis without the beginning of one of them before it; the ellipsis is kept."""
        tokens = spans_of(text)
        for place in range(max(0, len(tokens) - LONGEST_END), len(tokens)):
            following = [word for word, _, _ in tokens[place:]]
            letters = sum(map(len, following))
            for words in self._begun.get(following[0][:FEWEST], ()):
                if letters >= min(IDENTIFYING, max(FEWEST, sum(map(len, words)) // 2)) and _begins(words, following):
                    return text[: tokens[place][1]] + PURGED
        return text + SHORT


def _begins(words: list[str], following: list[str]) -> bool:
    """Return whether one begins with the other, whose last word may be cut short."""
    *whole, last = following
    return words[: len(whole)] == whole and len(words) > len(whole) and words[len(whole)].startswith(last)


def hits_of(find: Find, text: str) -> list[Hit]:
    """Return the matches of an automaton in a text, overlapping ones too."""
    try:
        return find(text, True)
    except UnicodeEncodeError:  # an unpaired surrogate of UTF-16, which no letters looked for contain
        return find(text.encode("utf-8", "replace").decode(), True)


def automaton(wanted: Iterable[str]) -> Find:
    """Return a function that finds these exact strings in one pass over a text."""
    from ahocorasick_rs import AhoCorasick, Implementation

    made = AhoCorasick(wanted, implementation=Implementation.ContiguousNFA, store_patterns=False)
    return made.find_matches_as_indexes


def _small(text: str) -> str:
    if not text.isascii():
        for sign, letter in OTHERS:
            if sign in text:
                text = text.replace(sign, letter)
    return text.lower()


def long(text: str) -> bool:
    """Return whether a text is long enough to be looked for elsewhere."""
    return sum(map(len, _WORD.findall(text))) >= FEWEST


def pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for a text in any capitals, with any space between its words and accents composed or not; not as
    the beginning or the end of longer words: `team of 5` does not match in `team of 50`."""
    whole = r"\s+".join("".join(map(_letter, word)) for word in normalize("NFC", text).split())
    before = f"(?<![{SPACED}])" if re.match(f"[{SPACED}]", text[0]) else ""
    behind = f"(?![{SPACED}])" if re.match(f"[{SPACED}]", text[-1]) else ""
    return re.compile(before + whole + behind, re.IGNORECASE)


def _letter(letter: str) -> str:
    apart = normalize("NFD", letter)
    return re.escape(letter) if apart == letter else f"(?:{re.escape(letter)}|{re.escape(apart)})"


def _trimmed(text: str) -> str:
    return text.strip().rstrip(END) or text.strip()


def _runs(text: str) -> list[str]:
    """Return the runs of plain ASCII letters and figures of a text, the longest first: any text that contains it
    contains each of them."""
    runs = _RUN.findall(normalize("NFC", text))
    return sorted({run.lower() for run in runs}, key=len, reverse=True)


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()
