"""A person's voice: which sentences of a turn they said themselves, and which they only passed on (`passed`).

What was surely said by somebody else is no sentence here at all. What may have been pasted (a list, a very long turn,
what follows an unexplained colon) is a sentence with a doubt: never enough for a fact that nobody is asked about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from store.learning.rules.quoted_text import DOUBTED, OWN, PASSED, STRUCK, QuotedSpans
from store.text.clauses import quotes_whole, spans
from store.text.folding import fold as fold

LONG = 2_000  # characters of a turn: who writes by hand writes less
READ = 5_000  # characters of each end of a turn that are read; what stands between in a longer one was pasted
WORDS = 2  # that a thing to remember must have
MOST = 400  # characters of a sentence that can be one thing to remember
# characters that nobody sees, and that could hide words or turn them round; not the joiner of emoji
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\U000e0000-\U000e01ef]"
)
_LETTERS_JOINED = re.compile(r"(?<=[^\W\d_])\u200d|\u200d(?=[^\W\d_])")

_LISTED = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•–—]|\d{1,2}[.)])\s+\Z")
BULLET = 12  # characters, more than the longest of them and what stands around it


@dataclass(frozen=True, slots=True)
class Sentence:
    """What was said: `text` in one line, `folded` the same without capitals and accents, letter by letter; `quote` as
    it stands in the turn. `doubt` says why it may not be the person's own; empty if it is. `passed`: it hardly is, and
    only a plain asking for memory is heard in it; `later`: a paragraph or a log went before; `bullet`: it is one of a
    list; `own`: how many of its letters come before what somebody else says in it."""

    text: str
    folded: str
    quote: str
    doubt: str
    passed: bool = False
    later: bool = False
    bullet: bool = False
    own: int = MOST

    @property
    def question(self) -> bool:
        """Whether something is asked; an "…, ok?" at the end of an order asks nothing."""
        if _TAG.search(self.folded[-40:]):
            return False
        return self.text.rstrip("!.… \"'”’»)]").endswith("?") or self.text.startswith("¿")


_TAG = re.compile(r",\s*¿?(?:ok|okay|right|please|dale|si|vale|de acuerdo|porfa|por favor|entendido)\s*\?+$")


def sentences(turn: str) -> list[Sentence]:
    """What the person said in a turn, sentence by sentence; what they surely passed on is left out."""
    if len(turn) <= 2 * READ:
        return list(_sentences(turn, len(turn) > LONG))
    return [*_sentences(turn[:READ], True), *_sentences(turn[-READ:], True)]


def _sentences(turn: str, long: bool) -> Iterator[Sentence]:
    text, places = _seen(turn)
    hidden = len(text) < len(turn)
    marks = QuotedSpans(text)
    for start, end in spans(quotes_whole(text)):
        level = marks.own[start]
        if level == STRUCK:
            continue
        flat = " ".join(text[start:end].split())
        quote = turn[places[start] : places[end - 1] + 1]
        passed = level == PASSED or len(flat) > MOST
        doubt = ""
        if hidden and _HIDDEN.search(quote):
            doubt = "something in it was hidden"
        elif long:
            doubt = "it stands in a long text"
        elif level == PASSED:
            doubt = "it may be somebody else's words"
        elif len(flat) > MOST:
            doubt = "it is long for one thing to remember"
        elif level == DOUBTED:
            doubt = "it may have been pasted"
        bullet = bool(_LISTED.search(text, max(0, start - BULLET), start))
        yield Sentence(
            flat, fold(flat), quote, doubt, passed, start >= marks.later, bullet, _own(marks, text, start, end)
        )


def _own(marks: QuotedSpans, text: str, start: int, end: int) -> int:
    """How many letters of a sentence come before what is no more the person's own, up to its end."""
    place = end
    while place > start and marks.own[place - 1] < OWN:
        place -= 1
    return len(" ".join(text[start:place].split()))


def _seen(turn: str) -> tuple[str, list[int] | range]:
    """The turn without what nobody sees, and where each of its characters stood."""
    if turn.isascii() and turn.isprintable():
        return turn, range(len(turn))
    out = {match.start() for match in _HIDDEN.finditer(turn)}
    out |= {match.start() for match in _LETTERS_JOINED.finditer(turn)}
    if not out:
        return turn, range(len(turn))
    places = [place for place in range(len(turn)) if place not in out]
    return "".join(turn[place] for place in places), places
