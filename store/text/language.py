"""What a text gives away without a model: its language, the dates it names, whether it asks.

English and Spanish, the two languages people write here; a text in another is one whose language is unknown.
"""

import re

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_LOOKED_AT = 400  # characters tell the language
_ENGLISH = frozenset(
    """
    about at be been but by can could did do does for from had has have her his how in is it its my not of on that the
    their there these they this those to was we were what when where which who why will with would you your
    """.split()
)
_SPANISH = frozenset(
    """
    al como con cuál cuáles cuándo cuánto cuántas cuántos cómo de del desde dónde ella en entre era es esa ese esta este
    esto está están fue ha han hasta hay la las le les lo los muy más mi nos para pero por que quién qué se sobre su sus
    también te tu un una unas unos y ya yo
    """.split()
)
_MONTH_NAMES = (
    *("january enero", "february febrero", "march marzo", "april abril", "may mayo", "june junio", "july julio"),
    *("august agosto", "september septiembre", "october octubre", "november noviembre", "december diciembre"),
)
_MONTHS = {word: number for number, names in enumerate(_MONTH_NAMES, start=1) for word in names.split()}
# `may` is a month only in such company
_MAY = re.compile(
    r"\b(?:in|of|on|by|since|until|during|last|this|next|early|mid|late|\d{1,2}(?:st|nd|rd|th)?) may\b|\bmay,? \d"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DAY = re.compile(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b")
_WHEN = re.compile(
    r"^\W*(?:when|cuándo|cuando)\b|how long|cuánto tiempo"
    r"|(?:what|which|qué) (?:date|day|month|year|día|mes|año|fecha)",
    re.IGNORECASE,
)
_TIME = frozenset(
    """
    ago day days just last month months morning next recently since soon today tomorrow tonight week weekend weeks year
    years yesterday monday tuesday wednesday thursday friday saturday sunday
    anoche año años ayer día días hace hoy mañana mes meses pasada pasado próxima próximo semana semanas domingo jueves
    lunes martes miércoles sábado viernes
    """.split()
) | frozenset(_MONTHS)


def language(text: str) -> str:
    """`en`, `es`, or nothing where the little words of neither are in the majority."""
    words = _WORD.findall(text[:_LOOKED_AT].lower())
    english = len([word for word in words if word in _ENGLISH])
    spanish = len([word for word in words if word in _SPANISH])
    return "" if english == spanish else "en" if english > spanish else "es"


def foreign(one: str, other: str) -> bool:
    """Whether two texts are known to be in different languages."""
    return bool(one and other and one != other)


def asks_when(question: str) -> bool:
    """Whether a question is about a time."""
    return bool(_WHEN.search(question))


def tells_time(text: str) -> bool:
    """Whether a text says when something was: yesterday, last week, in May."""
    return any(word in _TIME for word in _WORD.findall(text.lower()))


class NamedDate:
    """The months, years and days that a question names."""

    __slots__ = ("days", "months", "years")

    def __init__(self, question: str) -> None:
        text = question.lower()
        words = _WORD.findall(text)
        self.months = {_MONTHS[word] for word in words if word in _MONTHS and (word != "may" or _MAY.search(text))}
        self.years = {int(year) for year in _YEAR.findall(text)}
        self.days = {int(number) for number in _DAY.findall(text)} if self.months else set()

    def fits(self, at: str) -> float:
        """How well a moment fits, 0 to 1; 0 if no month or year is named."""
        if not (self.months or self.years):
            return 0.0
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


def said_words(text: str) -> set[str]:
    """The different words of a text's sentences that are no questions."""
    return {
        word for sentence in _SENTENCE.findall(text) if "?" not in sentence for word in _WORD.findall(sentence.lower())
    }
