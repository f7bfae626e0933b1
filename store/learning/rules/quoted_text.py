"""Quoted text in a turn, which the person only passed on: in quotation marks, code, tags, after a label, in a log.

Where both ends are found it is struck. Where it is only announced, or has no end, it is not known where the person's
words continue: from there only an explicit request for memory counts, as a proposal. What may have been pasted is
doubtful. Every pattern here takes time in proportion to the text (`tests/store/test_linear_time.py`).
"""

import re
from collections.abc import Iterator, Sequence

from store.learning.grammar import composed, form, form_table, pattern, sign
from store.learning.rules.clauses import heads
from store.text.folding import fold

STRUCK, PASSED, DOUBTED, OWN = 0, 1, 2, 3  # level of a character, as above; OWN: the person's
HEAD = 300  # characters of a line by which its kind is recognised

_COLON = re.compile(r":(?=\s|$)")
_SENTENCE = re.compile(r"[.!?…]\s")

Part = tuple[int, int, int]  # start, end, highest level
_LOWERED = [bytes(min(one, level) for one in range(256)) for level in range(OWN + 1)]


class QuotedSpans:
    """The level of each character of a text (`own`: STRUCK to OWN), and the place from which a paragraph or a log went
    before (`later`): there a rule in passing, "always …", becomes a proposal."""

    def __init__(self, text: str) -> None:
        self.own = bytearray([OWN]) * len(text)
        self.later = len(text)
        parts = [*_spans(text), *self._lines(text)]
        ending = [part for part in parts if part[1] == len(text)]
        first = {level: (start, end, level) for start, end, level in sorted(ending, reverse=True)}
        for start, end, level in (*(part for part in parts if part[1] < len(text)), *first.values()):
            self.own[start:end] = self.own[start:end].translate(_LOWERED[level])

    def _lines(self, text: str) -> Iterator[Part]:
        """Yield lines by their form, and what they announce."""
        patch = bool(form("patch").search(text))
        begun = quoted = indented = False  # after the last line
        announced = cut = False  # a paragraph is to follow, or the lines are part of it
        end, length = 0, len(text)
        for line in text.splitlines(keepends=True):
            start, end, head = end, end + len(line), line[:HEAD].strip()
            if not head:
                self.later = min(self.later, start) if begun else self.later
                quoted = cut = False
                continue
            begun = True
            announced, cut = False, cut or announced
            if cut or (indented and line[:2].isspace()):
                yield start, end, STRUCK
                continue
            indented = bool(form("indents").match(head))
            if form("forwarded").match(head):
                yield start, end, STRUCK
                yield start, length, PASSED
                return
            if form("begins_other").match(head):
                yield start, length, DOUBTED
            if indented or form("machine").match(line[:HEAD]) or (patch and line[:1] in "+-"):
                self.later = min(self.later, start)
                yield start, end, STRUCK
                quoted = head[:1] == ">"
                continue
            if quoted or form("odd").match(head):
                yield start, end, DOUBTED
            parts = list(_announced(text, start, line))
            # somebody else speaks behind its colon, where nothing follows on the line
            announced = len(parts) == 2 and parts[1][2] == PASSED and not text[parts[0][0] : end].strip()
            self.later = min([self.later, *(part[1] for part in parts if part[2] == STRUCK)])
            yield from parts


def _spans(text: str) -> Iterator[Part]:
    """Yield what stands between two marks, anywhere in the text."""
    for match in form("code").finditer(text):
        yield *match.span(), STRUCK
    for match in form("single_quoted").finditer(text):
        yield *match.span(), DOUBTED if "\n" in match[0] else STRUCK
    for begins, ends, between in form_table("enclosed"):  # the end is empty where it is the same as the beginning
        opens = list(composed(begins).finditer(text))
        closes = list(composed(ends).finditer(text)) if ends else opens[1::2]
        yield from _enclosed(opens if ends else opens[::2], closes, len(text), between)
    if entity := form("entity").search(text):
        yield entity.start(), len(text), DOUBTED


def _announced(text: str, start: int, line: str) -> Iterator[Part]:
    """Yield what a line announces: the rest of it, the rest of the text."""
    folded, end, length = fold(line.strip()), start + len(line), len(text)
    colon = _COLON.search(line)
    after = start + colon.end() if colon else end
    if sign("asks_for_work_on").search(folded) and (colon or sign("points_at_text").search(folded)):
        yield after, length, PASSED
        return
    if colon is None:
        if any(sign(name).search(folded) for name in ("announces_other", "shows_text", "asks_for_work_on")):
            yield end, length, DOUBTED
        return
    before = line[: colon.start()]
    lead = _SENTENCE.split(fold(before))[-1].strip(" *_-¡!")[-HEAD:]
    if pattern("own").search(lead):
        return
    if sign("announces_other").search(lead):
        yield after, end, STRUCK
        yield end, length, PASSED
    elif not line[colon.end() :].strip():
        yield after, length, DOUBTED
    elif not heads(lead):
        yield after, end, STRUCK
        if before.strip()[:1].isupper() and len(before.split()) <= 3:  # "Name: what they said"
            yield end, length, DOUBTED


def _enclosed(
    opens: Sequence[re.Match[str]], closes: Sequence[re.Match[str]], length: int, between: int
) -> Iterator[Part]:
    """Yield what stands between opening and closing marks: each pair where they alternate, else all from the first to
    the last. A closing mark without an opening one makes the whole text doubtful; an opening one without a closing one
    reaches to the end."""
    first = opens[0].start() if opens else length
    ends = [mark.end() for mark in closes if mark.end() > first]
    if len(ends) < len(closes):
        yield 0, length, DOUBTED
    places = [place for pair in zip((mark.start() for mark in opens), ends, strict=False) for place in pair]
    if places == sorted(places) and len(opens) - len(ends) in (0, 1):
        yield from ((start, end, STRUCK) for start, end in zip(places[::2], places[1::2], strict=True))
        if len(ends) > 1:
            yield first, ends[-1], between
    elif ends:
        yield first, ends[-1], STRUCK
    if len(opens) > len(ends):
        yield opens[-1].start(), length, PASSED
