"""Properties of a text found without a model: its language, the dates it names, whether it asks for a time.

The languages are those of `languages/`; any other is unknown.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product

from store.base.citations import find_citations
from store.text.words import (
    LETTERS_PATTERN,
    any_of_regex,
    fold_text,
    list_languages,
    load_places,
    load_words,
)

# Extract the names in texts: citations, files, `code`, and capitalised words. A rule, not a model: it misses names in
# small letters, and sometimes takes a title for a name.

# names of one checkpoint
MAX_ENTITIES = 24
# characters of a name
MAX_ENTITY_LENGTH = 60
# characters that are searched
MAX_SEARCHED_LENGTH = 24_000

# none of these may start inside a run of its own characters: tried at each of them, a long run would take n² steps
_URL = re.compile(r"(?<!\w)\w+://[^\s<>\"'`)\]]+")
_CODE = re.compile(r"`([^`\n]{2,60})`")
_PART = re.compile(r"\w+(?:-\w+)*")
_CUT = re.compile(r"\[REDACTED:\w+\]")
_FILE = re.compile(
    r"(?<![\w/.@-])(?:(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]+|[\w-]+\.(?:[a-z][a-z0-9]{1,4}|[chr]))(?![\w/])"
)
_CAPITAL = re.compile(r"[^\W\d_][\w'’+-]*(?: [^\W\d_][\w'’+-]*)*")
_START = re.compile(r"(?:^|[.!?:;…»”\"\n(\[¿¡•*>-])\s*$")


def find_longest_name(
    said: Sequence[str], names: Iterable[str], parts: Callable[[str], list[str]]
) -> tuple[int, int, str]:
    """Return the longest run of words that stands in a name: its place, the number of its words, and the part of
    the name; the number is 0 if there is none. `parts` splits a part of a name into words."""
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


def extract_names(texts: Iterable[str], most: int = MAX_ENTITIES) -> list[str]:
    """Return the names in these texts, by frequency, of equals the earlier first; at most `most`.

    A capitalised word at the start of a sentence counts only if it has another capital or a digit inside, or is
    capitalised elsewhere in the middle of a sentence.
    """
    rest = "\n".join(texts)[:MAX_SEARCHED_LENGTH]
    found = Counter[str]()

    def take(match: re.Match[str]) -> str:
        """Count a match, and replace it by a mark that no later pattern matches, and that ends no sentence."""
        name = match[match.lastindex or 0].strip().rstrip(".,;:")
        if 1 < len(name) <= MAX_ENTITY_LENGTH and any(map(str.isalpha, name)):
            found[name] += 1
        return " , "

    for pattern in (_URL, _CODE):
        rest = pattern.sub(take, rest)
    cited = list(find_citations(rest))
    found.update(str(citation) for _, _, citation in cited)
    for start, end, _ in reversed(cited):
        rest = f"{rest[:start]} , {rest[end:]}"
    rest = _FILE.sub(take, _CUT.sub(" , ", rest))
    found.update(_find_capitalised_names(rest))
    return [name for name, _ in found.most_common(most)]


def _find_capitalised_names(text: str) -> list[str]:
    """Return runs of capitalised words, as they are written; see `extract_names`."""
    # the run, and whether it begins a sentence
    runs: list[tuple[list[str], bool]] = []
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
        whole = (
            not first or " ".join(run) in inside or any(sign.isupper() or sign.isdigit() for sign in run[0][1:])
        )
        name = " ".join(run if whole else run[1:])
        if 2 < len(name) <= MAX_ENTITY_LENGTH:
            names.append(name)
    return names


# characters used to determine the language
_MAX_SAMPLE = 240
# `may` is a month only beside these
_MAY = re.compile(
    r"\b(?:in|of|on|by|since|until|during|last|this|next|early|mid|late|\d{1,2}(?:st|nd|rd|th)?) may\b|\bmay,? \d"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ANY_WORD = re.compile(r"\w+")
# words in front of a date in which its side is looked for, and their letters: before the 3rd of
_IN_FRONT, _SMALL = 4, 3
_DAY = re.compile(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_WHEN = re.compile(
    r"^\W*(?:when|cuándo|cuando)\b|how long|cuánto tiempo"
    r"|(?:what|which|qué) (?:date|day|month|year|día|mes|año|fecha)",
    re.IGNORECASE,
)


def _months() -> dict[str, int]:
    return load_places("months", *range(1, 13))


@cache
def _time_words() -> frozenset[str]:
    moments = map(fold_text, load_words("dates", "moment"))
    return frozenset(moments).union(_months(), load_places("weekdays"))


@cache
def _standing() -> re.Pattern[str]:
    """Return the pattern of what says how something is always to be done, or what somebody prefers."""
    begins, prefers = (any_of_regex(load_words("clauses", name)) for name in ("standing", "preferring"))
    return re.compile(rf"(?:^|[.!?\n]\s*)(?:please,? |por favor,? )?(?:{begins})\b|\b(?:{prefers})\b")


@cache
def _told_question() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{any_of_regex(load_words('questions', 'told'))})\b")


def detect_language(text: str) -> str:
    """Return the language with the most function words, `en`, `es`, …; empty if two have as many."""
    found = LETTERS_PATTERN.findall(text[:_MAX_SAMPLE].lower())
    counts = [
        sum(map(load_words("stop", "language", language=code).__contains__, found)) for code in list_languages()
    ]
    most = max(counts)
    return list_languages()[counts.index(most)] if counts.count(most) == 1 else ""


def is_other_language(one: str, other: str) -> bool:
    """Return whether two texts are known to be in different languages."""
    return bool(one and other and one != other)


def asks_when(question: str) -> bool:
    """Return whether a question is about a time."""
    return bool(_WHEN.search(question))


def states_time(text: str) -> bool:
    """Return whether a text states a time: yesterday, last week, in May."""
    return not _time_words().isdisjoint(LETTERS_PATTERN.findall(fold_text(text)))


def is_standing_rule(text: str) -> bool:
    """Return whether a text says how something is always to be done, or what somebody prefers."""
    return bool(_standing().search(fold_text(text)))


class NamedDate:
    """The months, years and days that a question names; `side` is -1 where it asks for what was before them, 1 for what
    was since, else 0."""

    def __init__(self, question: str) -> None:
        text = question.lower()
        words = LETTERS_PATTERN.findall(text)
        months = _months()
        self.months = {months[word] for word in words if word in months and (word != "may" or _MAY.search(text))}
        self.years = {int(year) for year in _YEAR.findall(text)}
        self.days = {int(number) for number in _DAY.findall(text)} if self.months else set()
        self.side = _date_side(text) if len(self.months) < 2 and len(self.years) < 2 and len(self.days) < 2 else 0

    def fits(self, at: str, latest: str = "") -> float:
        """Return how well a moment fits, 0 to 1; 0 if no month or year is named. A month without a year that has a side
        is the last such before `latest`, or before the moment itself."""
        if not (self.months or self.years):
            return 0.0
        if self.side:
            return float((at[:10] < self._first_day(latest or at)) == (self.side < 0))
        year, month, day = int(at[:4]), int(at[5:7]), int(at[8:10])
        fit = 1.0
        if self.months:
            apart = min(min((month - named) % 12, (named - month) % 12) for named in self.months)
            fit = {0: 1.0, 1: 0.4}.get(apart, 0.0)
        if self.years and year not in self.years:
            fit *= 0.2
        if fit == 1.0 and self.days and all(abs(named - day) > 3 for named in self.days):
            fit = 0.7
        return fit

    def _first_day(self, latest: str) -> str:
        """Return the day that is named, or the first of the month or year, as YYYY-MM-DD."""
        month, day = max(self.months, default=1), max(self.days, default=1)
        year = max(self.years, default=int(latest[:4]) - (f"{month:02}-{day:02}" > latest[5:10]))
        return f"{year:04}-{month:02}-{day:02}"


def _date_side(text: str) -> int:
    """Return -1 where the first date of a text has `before` in front, 1 where it has `since`, else 0: also where a span
    of time is in front of that, as in *two weeks before 11 August*, which is near the date."""
    words = _ANY_WORD.findall(fold_text(text))
    before, since = load_words("dates", "before"), load_words("dates", "since")
    date = next((at for at, word in enumerate(words) if word in _months() or _YEAR.fullmatch(word)), 0)
    for at in range(date - 1, max(-1, date - 1 - _IN_FRONT), -1):
        if words[at] in before or words[at] in since:
            if at and words[at - 1] in _time_words():
                return 0
            return 1 if words[at] in since else -1
        if len(words[at]) > _SMALL and not words[at][0].isdigit():
            break
    return 0


def is_about_asker(question: str) -> bool:
    """Return whether a question is about what the person who asks has said or done, not about what they were told."""
    text = fold_text(question)
    return not (
        _told_question().search(text)
        or load_words("questions", "person").isdisjoint(LETTERS_PATTERN.findall(text))
    )
