"""Sentences of a turn that the person said themselves, and those that they only passed on (`passed`).

What somebody else certainly said is left out. What may have been pasted (a list, a very long turn, what follows an
unexplained colon) has a `doubt`: it is never enough for a fact without confirmation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from store.learning.grammar import sign
from store.learning.rules.quoted_text import DOUBTED, OWN, PASSED, STRUCK, QuotedSpans
from store.text.clauses import quotes_whole, spans
from store.text.fence import unseen
from store.text.folding import fold as fold

LONG = 2_000  # characters from which a turn was probably not typed
READ = 5_000  # characters read at each end of a turn; the middle of a longer one was probably pasted
WORDS = 2  # least words of a thing to remember
MOST = 400  # characters of a sentence that can be one thing to remember
_LISTED = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•–—]|\d{1,2}[.)])\s+\Z")
BULLET = 12  # characters before a sentence that are searched for a bullet or number


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` in one line; `folded` the same without capitals and accents, letter by letter; `quote` as it
    stands in the turn. `doubt` says why it may not be the person's own, empty if it is. `passed`: probably not their
    own, so only an explicit request for memory counts; `later`: a paragraph or a log went before; `bullet`: it is a
    list item; `own`: the number of its letters before somebody else's words in it."""

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
        """Whether it asks something; "…, ok?" at the end of an order does not."""
        if sign("order_tag").search(self.folded[-40:]):
            return False
        return self.text.rstrip("!.… \"'”’»)]").endswith("?")


def sentences(turn: str) -> list[Sentence]:
    """Return what the person said in a turn, sentence by sentence, without what they certainly only passed on."""
    ends = [turn] if len(turn) <= 2 * READ else [turn[:READ], turn[-READ:]]
    return [sentence for end in ends for sentence in _sentences(end, len(turn) > LONG)]


def _sentences(turn: str, long: bool) -> Iterator[Sentence]:
    hidden = unseen(turn)
    places = [place for place in range(len(turn)) if place not in hidden]
    text = "".join(turn[place] for place in places)
    marks = QuotedSpans(text)
    for start, end in spans(quotes_whole(text)):
        level = marks.own[start]
        if level == STRUCK:
            continue
        flat = " ".join(text[start:end].split())
        quote = turn[places[start] : places[end - 1] + 1]
        whole = len(flat) <= MOST
        doubts = (
            (len(quote) > end - start, "something in it was hidden"),
            (long, "it stands in a long text"),
            (level == PASSED, "it may be somebody else's words"),
            (not whole, "it is long for one thing to remember"),
            (level == DOUBTED, "it may have been pasted"),
        )
        doubt = next((why for doubted, why in doubts if doubted), "")
        passed = level == PASSED or not whole
        bullet = bool(_LISTED.search(text, max(0, start - BULLET), start))
        yield Sentence(
            flat, fold(flat), quote, doubt, passed, start >= marks.later, bullet, _own(marks, text, start, end)
        )


def _own(marks: QuotedSpans, text: str, start: int, end: int) -> int:
    """Return the number of letters of a sentence before a part, up to its end, that is not the person's own."""
    place = end
    while place > start and marks.own[place - 1] < OWN:
        place -= 1
    return len(" ".join(text[start:place].split()))
