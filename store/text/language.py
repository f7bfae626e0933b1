"""Properties of a text found without a model: its language, the dates it names, whether it asks for a time.

The languages are those of `languages/`; any other is unknown.
"""

import re
from functools import cache

from store.text import vocabulary
from store.text.folding import fold
from store.text.tokens import LETTERS

_LOOKED_AT = 240  # characters used to determine the language
# `may` is a month only beside these
_MAY = re.compile(
    r"\b(?:in|of|on|by|since|until|during|last|this|next|early|mid|late|\d{1,2}(?:st|nd|rd|th)?) may\b|\bmay,? \d"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"\w+")
# words in front of a date in which its side is looked for, and their letters: before the 3rd of
_IN_FRONT, _SMALL = 4, 3
_DAY = re.compile(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_WHEN = re.compile(
    r"^\W*(?:when|cuándo|cuando)\b|how long|cuánto tiempo"
    r"|(?:what|which|qué) (?:date|day|month|year|día|mes|año|fecha)",
    re.IGNORECASE,
)


@cache
def _months() -> dict[str, int]:
    return {name: number for number, names in enumerate(vocabulary.in_order("dates", "months"), 1) for name in names}


@cache
def _time_words() -> frozenset[str]:
    moments = map(fold, vocabulary.words("dates", "moment"))
    return frozenset(moments).union(_months(), *vocabulary.in_order("dates", "weekdays"))


@cache
def _standing() -> re.Pattern[str]:
    """Return the pattern of what says how something is always to be done, or what somebody prefers."""
    begins, prefers = (
        vocabulary.alternatives(vocabulary.words("clauses", name)) for name in ("standing", "preferring")
    )
    return re.compile(rf"(?:^|[.!?\n]\s*)(?:please,? |por favor,? )?(?:{begins})\b|\b(?:{prefers})\b")


@cache
def _told_question() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{vocabulary.alternatives(vocabulary.words('questions', 'told'))})\b")


def language(text: str) -> str:
    """Return the language with the most function words, `en`, `es`, …; empty if two have as many."""
    found = LETTERS.findall(text[:_LOOKED_AT].lower())
    counts = [
        sum(map(vocabulary.words("stop", "language", language=code).__contains__, found))
        for code in vocabulary.languages()
    ]
    most = max(counts)
    return vocabulary.languages()[counts.index(most)] if counts.count(most) == 1 else ""


def foreign(one: str, other: str) -> bool:
    """Return whether two texts are known to be in different languages."""
    return bool(one and other and one != other)


def asks_when(question: str) -> bool:
    """Return whether a question is about a time."""
    return bool(_WHEN.search(question))


def tells_time(text: str) -> bool:
    """Return whether a text states a time: yesterday, last week, in May."""
    return not _time_words().isdisjoint(LETTERS.findall(fold(text)))


def standing(text: str) -> bool:
    """Return whether a text says how something is always to be done, or what somebody prefers."""
    return bool(_standing().search(fold(text)))


class NamedDate:
    """The months, years and days that a question names; `side` is -1 where it asks for what was before them, 1 for what
    was since, else 0."""

    __slots__ = ("days", "months", "side", "years")

    def __init__(self, question: str) -> None:
        text = question.lower()
        words = LETTERS.findall(text)
        months = _months()
        self.months = {months[word] for word in words if word in months and (word != "may" or _MAY.search(text))}
        self.years = {int(year) for year in _YEAR.findall(text)}
        self.days = {int(number) for number in _DAY.findall(text)} if self.months else set()
        self.side = _side(text) if len(self.months) < 2 and len(self.years) < 2 and len(self.days) < 2 else 0

    def fits(self, at: str, latest: str = "") -> float:
        """Return how well a moment fits, 0 to 1; 0 if no month or year is named. A month without a year that has a side
        is the last such before `latest`, or before the moment itself."""
        if not (self.months or self.years):
            return 0.0
        if self.side:
            return float((at[:10] < self._begin(latest or at)) == (self.side < 0))
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

    def _begin(self, latest: str) -> str:
        """Return the day that is named, or the first of the month or year, as YYYY-MM-DD."""
        month, day = max(self.months, default=1), max(self.days, default=1)
        year = max(self.years, default=int(latest[:4]) - (f"{month:02}-{day:02}" > latest[5:10]))
        return f"{year:04}-{month:02}-{day:02}"


def _side(text: str) -> int:
    """Return -1 where the first date of a text has `before` in front, 1 where it has `since`, else 0: also where a span
    of time is in front of that, as in *two weeks before 11 August*, which is near the date."""
    words = _WORD.findall(fold(text))
    before, since = vocabulary.words("dates", "before"), vocabulary.words("dates", "since")
    date = next((at for at, word in enumerate(words) if word in _months() or _YEAR.fullmatch(word)), 0)
    for at in range(date - 1, max(-1, date - 1 - _IN_FRONT), -1):
        if words[at] in before or words[at] in since:
            if at and words[at - 1] in _time_words():
                return 0
            return 1 if words[at] in since else -1
        if len(words[at]) > _SMALL and not words[at][0].isdigit():
            break
    return 0


def first_person(question: str) -> bool:
    """Return whether a question is about what the person who asks has said or done, not about what they were told."""
    text = fold(question)
    return not (
        _told_question().search(text) or vocabulary.words("questions", "person").isdisjoint(LETTERS.findall(text))
    )
