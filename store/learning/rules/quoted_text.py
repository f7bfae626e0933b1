"""Quoted text in a turn, which the person only passed on: in quotation marks, code, tags, after a label, in a log.

Where both ends are found it is struck. Where it is only announced, or has no end, it is not known where the person's
words continue: from there only an explicit request for memory counts, as a proposal. What may have been pasted is
doubtful. Every pattern here takes time in proportion to the text (`tests/store/test_linear_time.py`).
"""

import os
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache

from store.learning.grammar import either, pattern, sign
from store.learning.rules.clauses import heads
from store.text.folding import fold
from store.text.vocabulary import whole_file

STRUCK, PASSED, DOUBTED, OWN = 0, 1, 2, 3  # level of a character, as above; OWN: the person's
HEAD = 300  # characters of a line by which its kind is recognised

FOLDER = os.path.dirname(__file__)
_SIGN = re.compile(r"\{([a-z_]+)\}")
_COLON = re.compile(r":(?=\s|$)")
_SENTENCE = re.compile(r"[.!?…]\s")


@cache
def _form(name: str) -> re.Pattern[str]:
    """Return the pattern of that name in `quoted_text.toml`; of a list, of any of it."""
    told = whole_file(FOLDER, "quoted_text")[name]
    return _compiled(told if isinstance(told, str) else "|".join(told))


@cache
def _enclosing() -> list[tuple[re.Pattern[str], re.Pattern[str] | None, int]]:
    """Return (beginning, end, highest level of text between two such parts) of what encloses other text; the end is
    None where it is the same."""
    listed = whole_file(FOLDER, "quoted_text")["enclosed"]
    return [(_compiled(begins), _compiled(ends) if ends else None, level) for begins, ends, level in listed]


def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(_SIGN.sub(lambda name: either(name[1]), form))


class QuotedSpans:
    """The level of each character of a text (`own`: STRUCK to OWN), and the place from which a paragraph or a log went
    before (`later`): there a rule in passing, "always …", becomes a proposal."""

    def __init__(self, text: str) -> None:
        self.own = bytearray([OWN]) * len(text)
        self.later = len(text)
        self._text = text
        self._from = dict.fromkeys((PASSED, DOUBTED), len(text))  # level → where text of it that reaches the end begins
        self._spans()
        self._lines()
        for level, start in self._from.items():
            self._lower(start, len(text), level)

    def _mark(self, start: int, end: int, level: int) -> None:
        """Limit a part to this level."""
        if end == len(self._text) and level in self._from:
            self._rest(start, level)
        else:
            self._lower(start, end, level)

    def _rest(self, start: int, level: int) -> None:
        self._from[level] = min(self._from[level], start)

    def _lower(self, start: int, end: int, level: int) -> None:
        self.own[start:end] = self.own[start:end].translate(_LOWERED[level])

    def _spans(self) -> None:
        """Mark what stands between two marks, anywhere in the text."""
        text = self._text
        for match in _form("code").finditer(text):
            self._mark(*match.span(), STRUCK)
        for begins, ends, between in _enclosing():
            opens = list(begins.finditer(text))
            closes = list(ends.finditer(text)) if ends else opens[1::2]
            for found in _enclosed(opens if ends else opens[::2], closes, len(text), between):
                self._mark(*found)
        marks = list(_form("double_quote").finditer(text))
        for found in (*_single(text), *_enclosed(marks[::2], marks[1::2], len(text), OWN), *_crowded(text, marks)):
            self._mark(*found)
        if entity := _form("entity").search(text):
            self._rest(entity.start(), DOUBTED)

    def _lines(self) -> None:
        """Mark lines by their form, and what they announce."""
        text, place, lines = self._text, 0, list[tuple[int, str]]()
        for line in text.splitlines(keepends=True):
            lines.append((place, line))
            place += len(line)
        for block in _blocks(lines):
            self._mark(*block)
        patch = bool(_form("patch").search(text))
        begun = quoted = indented = cut = False  # state after the last line; `cut`: in an announced paragraph
        for start, line in lines:
            end, head = start + len(line), line[:HEAD].strip()
            if not head:
                self.later = min(self.later, start) if begun else self.later
                quoted = False
                continue
            begun = True
            if cut or (indented and line[:2].isspace()):
                self._mark(start, end, STRUCK)
                cut = cut and not _blank_after(text, end)
                continue
            indented = bool(_form("indents").match(head))
            if _form("forwarded").match(head):
                self._mark(start, end, STRUCK)
                self._rest(start, PASSED)
                return
            if _form("said_at").match(head) or _form("braced").match(head):
                self._rest(start, DOUBTED)
            if indented or _form("machine").match(line[:HEAD]) or (patch and line[:1] in "+-"):
                self.later = min(self.later, start)
                self._mark(start, end, STRUCK)
                quoted = head[:1] == ">"
                continue
            if quoted or _odd(head):
                self._mark(start, end, DOUBTED)
            cut = self._announced(start, end, line)

    def _announced(self, start: int, end: int, line: str) -> bool:
        """Mark what a line announces; return whether that is the following paragraph."""
        folded = fold(line.strip())
        colon = _COLON.search(line)
        if sign("asks_for_work_on").search(folded) and (colon or sign("points_at_text").search(folded)):
            self._rest(start + colon.end() if colon else end, PASSED)
            return False
        if colon is None:
            if any(sign(name).search(folded) for name in ("announces_other", "shows_text", "asks_for_work_on")):
                self._rest(end, DOUBTED)
            return False
        before = line[: colon.start()]
        lead = _SENTENCE.split(fold(before))[-1].strip(" *_-¡!")
        after = start + colon.end()
        if pattern("own").search(lead[-HEAD:]):
            return False
        empty = not line[colon.end() :].strip()
        if heads(lead[-HEAD:]) and not sign("announces_other").search(lead):
            if empty:
                self._rest(after, DOUBTED)
            return False
        if sign("announces_other").search(lead):
            self._mark(after, end, STRUCK)
            self._rest(after, PASSED)
            return empty
        if empty:
            self._rest(after, DOUBTED)
        else:
            self._mark(after, end, STRUCK)
            named = before.strip()[:1].isupper() and len(before.split()) <= 3  # "Name: what they said"
            self.later = min(self.later, end)
            if named:
                self._rest(end, DOUBTED)
        return False


_LOWERED = [bytes(min(one, level) for one in range(256)) for level in range(OWN + 1)]
Part = tuple[int, int, int]  # start, end, highest level


def _odd(head: str) -> bool:
    """Return whether a line begins with a bullet, a number or a symbol, unlike typed sentences."""
    first = head[0]
    return bool(_form("bullet").match(head + " ")) or not (
        first.isalnum() or first in '¡!¿("`@/.…' or ord(first) > 0x1F000
    )


def _blank_after(text: str, place: int) -> bool:
    """Return whether a paragraph ends here."""
    end = text.find("\n", place)
    return not text[place : end if end >= 0 else len(text)].strip()


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


def _single(text: str) -> Iterator[Part]:
    """Yield what stands between single quotation marks; across lines it is doubtful."""
    closes = [match.start() for match in _form("single_closes").finditer(text)]
    place = 0
    for match in _form("single_opens").finditer(text):
        start = match.start()
        at = bisect(closes, start + 1)
        if start < place or at == len(closes):
            continue
        place = closes[at] + 1
        yield start, place, DOUBTED if "\n" in text[start:place] else STRUCK


def _crowded(text: str, marks: Sequence[re.Match[str]]) -> Iterator[Part]:
    """Yield, for a paragraph with more than one pair of quotation marks, all from the first to the last: text pasted
    between them may contain quotation marks itself."""
    starts = [mark.start() for mark in marks]
    place = begins = 0
    for line in [*text.splitlines(keepends=True), "\n"]:
        if not line.strip():
            within = starts[bisect(starts, begins - 1) : bisect(starts, place - 1)]
            if len(within) > 2:
                yield within[0], within[-1] + 1, STRUCK
            begins = place + len(line)
        place += len(line)


def _blocks(lines: list[tuple[int, str]]) -> Iterator[Part]:
    """Yield what stands between two lines that delimit a block: rules, begin and end, a heredoc. Everything after the
    first is doubtful."""
    total = lines[-1][0] + len(lines[-1][1]) if lines else 0
    ends: tuple[str, str] = ("", "")
    began = -1
    for start, line in lines:
        head = line[:HEAD].strip()
        if not head:
            continue
        rule, here = _form("rule").match(head), _form("here").search(head)
        if began >= 0 and (
            (ends[0] == "rule" and rule and rule[1] == ends[1])
            or (ends[0] == "begin" and _form("end").match(head))
            or (ends[0] == "here" and head == ends[1])
        ):
            yield began, start + len(line), STRUCK
            began = -1
        elif began < 0 and (rule or here or _form("begin").match(head)):
            yield start, total, DOUBTED
            began, ends = start, ("rule", rule[1]) if rule else ("here", here[1]) if here else ("begin", "")
