"""What of a turn a person only passed on: what stands in quotation marks, in code, in tags, after a label or in a log.

Where both ends of it are seen it is struck. Where it is only announced, or never ends, nobody knows where the person
speaks again: from there on only a plain asking for memory is heard, and asked about. Where it may have been pasted it
is in doubt. Every pattern here takes time in proportion to the text (`tests/store/test_linear_time.py`).
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator

from store.learning.grammar import WINDOW, leads, pattern, sign, triggers
from store.learning.rules.request_markers import heads
from store.text.folding import fold

STRUCK, PASSED, DOUBTED, OWN = 0, 1, 2, 3  # whose a character is; see above
HEAD = 300  # characters of a line that tell what kind of line it is

_FENCE = re.compile(r"```|~~~")
_CODE = re.compile(r"`[^`\n]*+`")
# begins, ends; a pair without its end goes on to the end of the text
_PAIRS = (
    *(("“", "”"), ("«", "»"), ("‹", "›"), ("「", "」"), ("『", "』"), ("＂", "＂"), ("<!--", "-->")),
    *(("'''", "'''"), ('"""', '"""'), ("\\begin{", "\\end{"), ("[quote", "[/quote]"), ("{{quote", "{{/quote")),
)
_COMMENT = re.compile(r"(?<!\S)/\*")
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,40}+)(?:\s[^<>]{0,300}+|/)?>")
_OPENS = re.compile(r"(?<!\w)['‘](?=\S)")
_CLOSES = re.compile(r"(?<=\S)['’](?!\w)")
# lines that a program or a mail program wrote
_MACHINE = re.compile(
    r"""(?:
      [ ]{4,}+\S | \t | \s*+(?:> | [|{}\[] | "
    | \[?\d{4}-\d\d-\d\d | \[?\d\d:\d\d(?::\d\d)?\b
    | (?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b
    | (?:\$|>>>|%|\#++)\s | (?:@@|diff[ ]--git|index[ ]|\+\+\+|---)
    | Traceback\b | File[ ]" | at[ ][\w.$]++\( | [-*+]\s*+\[[ xX]\] | // | /\* | [+-](?=[^\s+-]) ))""",
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*+(?:[-*+•–—]|\d{1,2}[.)])\s+")
# somebody speaks from here to the end: the head of a mail, a role of a transcript
_FORWARDED = re.compile(
    r"(?:-{3,}+[^\n]*?(?:original|forwarded|reenviado|mensaje|message)|(?:from|de|to|para|subject|asunto|fwd?|rv|re)\s?:"
    r"|[\W_]*+(?:user|human|assistant|system|tool|ai|bot|usuario|asistente|sistema|humano|q|a)[\W_]*?:)",
    re.IGNORECASE,
)
# who said it and when, as programs for talking show it
_SAID_AT = re.compile(
    r"[^\W\d_](?:\S*+\s++){1,4}\W?(?:at |a las )?\d{1,2}:\d\d\W?(?: ?[ap]\.?m\.?)?\W?$", re.IGNORECASE
)
# lines behind which a block of something else begins, and how it ends
_RULE = re.compile(r"([=\-*_#~+])\1{2,}+$")
_BEGIN = re.compile(r"[-=#*_<\[]{1,20}+\s?(?:begin|start|inicio|comienzo|principio)\b", re.IGNORECASE)
_END = re.compile(r"[-=#*_<\[]{1,20}+/?\s?(?:end|fin|final)\b", re.IGNORECASE)
_HERE = re.compile(r"<<[-~]?\s?['\"]?(\w{1,30})")
_NOTE = re.compile(r"\.\. [\w-]{1,30}::")
_BRACED = re.compile(r"(?:\[[^\W\d_][^\]\n]{0,60}+\]|\{\{[^{}\n]{0,60}+\}\})$")
_ENTITY = re.compile(r"&(?:lt|gt|quot|#\d{1,6});")
_COLON = re.compile(r":(?=\s|$)")
_SENTENCE = re.compile(r"[.!?…]\s")
_PATCH = re.compile(r"^(?:diff --git|@@ |\+\+\+ )", re.MULTILINE)


class QuotedSpans:
    """Of each character of a text whose it is (`own`), and from where on (`later`) a paragraph or a log went before:
    what somebody says in passing, "always …", is asked about there."""

    def __init__(self, text: str) -> None:
        self.own = bytearray([OWN]) * len(text)
        self.later = len(text)
        self._text = text
        self._from = dict.fromkeys((PASSED, DOUBTED), len(text))  # where what goes on to the end begins
        self._spans()
        self._lines()
        for level, start in self._from.items():
            self._lower(start, len(text), level)

    def _mark(self, start: int, end: int, level: int) -> None:
        """Say that a part is no more than this."""
        if end == len(self._text) and level in self._from:
            self._rest(start, level)
        else:
            self._lower(start, end, level)

    def _rest(self, start: int, level: int) -> None:
        self._from[level] = min(self._from[level], start)

    def _lower(self, start: int, end: int, level: int) -> None:
        self.own[start:end] = self.own[start:end].translate(_LOWERED[level])

    def _spans(self) -> None:
        """What stands between two marks, wherever they stand."""
        text = self._text
        fences = [match.start() for match in _FENCE.finditer(text)]
        for first, second in zip(fences[::2], fences[1::2], strict=False):
            self._mark(first, second + 3, STRUCK)
        if len(fences) % 2:  # one of them has no end, and nobody knows which
            self._mark(fences[0], fences[-1], STRUCK)
            self._rest(fences[0], PASSED)
        elif len(fences) > 2:  # what was pasted between two may hold some itself
            self._mark(fences[0], fences[-1], DOUBTED)
        for match in _CODE.finditer(text):
            self._mark(*match.span(), STRUCK)
        for found in (*_paired(text), *_tagged(text), *_single(text), *_quoted(text)):
            self._mark(*found)
        if entity := _ENTITY.search(text):
            self._rest(entity.start(), DOUBTED)

    def _lines(self) -> None:
        """What a line says of itself, and of those that follow it."""
        text, place, lines = self._text, 0, list[tuple[int, str]]()
        for line in text.splitlines(keepends=True):
            lines.append((place, line))
            place += len(line)
        for block in _blocks(lines):
            self._mark(*block)
        patch = bool(_PATCH.search(text))
        begun = quoted = indented = cut = False  # whether the line before was so; `cut`: a paragraph was announced
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
            indented = bool(_NOTE.match(head))
            if _FORWARDED.match(head):
                self._mark(start, end, STRUCK)
                self._rest(start, PASSED)
                return
            if _SAID_AT.match(head) or _BRACED.match(head):
                self._rest(start, DOUBTED)
            if indented or _MACHINE.match(line[:HEAD]) or (patch and line[:1] in "+-"):
                self.later = min(self.later, start)
                self._mark(start, end, STRUCK)
                quoted = head[:1] == ">"
                continue
            if quoted or _odd(head):
                self._mark(start, end, DOUBTED)
            cut = self._announced(start, end, line)

    def _announced(self, start: int, end: int, line: str) -> bool:
        """Mark what a line announces; whether that is the paragraph behind it."""
        said = fold(line.strip())
        colon = _COLON.search(line)
        if sign("asks_for_work_on").search(said) and (colon or sign("points_at_text").search(said)):
            self._rest(start + colon.end() if colon else end, PASSED)
            return False
        if colon is None:
            if not _is_order(said[:HEAD]) and any(
                sign(name).search(said) for name in ("announces_other", "shows_text", "asks_for_work_on")
            ):
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
            named = before.strip()[:1].isupper() and len(before.split()) <= 3  # somebody, and what they said
            self.later = min(self.later, end)
            if named:
                self._rest(end, DOUBTED)
        return False


_LOWERED = [bytes(min(one, level) for one in range(256)) for level in range(OWN + 1)]
Part = tuple[int, int, int]  # from, to, how much of it is the person's own at most


def _is_order(folded: str) -> bool:
    """Whether a line itself asks for something to be remembered."""
    start = leads().match(folded).end()  # type: ignore[union-attr]
    return bool(pattern("asked").match(folded, start, start + WINDOW)) or any(
        trigger.phrase.match(folded, start) and not (trigger.unless and trigger.unless.match(folded, start))
        for trigger in triggers("kept")
    )


def _odd(head: str) -> bool:
    """Whether a line begins as people at a keyboard do not begin: with a bullet, a number, a sign."""
    first = head[0]
    return bool(_BULLET.match(head + " ")) or not (first.isalnum() or first in '¡!¿("`@/.…' or ord(first) > 0x1F000)


def _blank_after(text: str, place: int) -> bool:
    """Whether a paragraph ends here."""
    end = text.find("\n", place)
    return not text[place : end if end >= 0 else len(text)].strip()


def _paired(text: str) -> Iterator[Part]:
    """What stands between the two marks of a pair. Where more end than begin, something within it holds them too: all
    up to the last is struck, and an end alone makes all of the text doubtful."""
    for begins, ends in _PAIRS:
        place = text.find(begins)
        if begins != ends and (last := text.rfind(ends)) >= 0:
            if place < 0 or last < place:
                yield 0, len(text), DOUBTED
            elif text.count(ends) > text.count(begins):
                yield place, last + len(ends), STRUCK
                place = text.find(begins, last)
        while place >= 0:
            end = text.find(ends, place + len(begins))
            if end < 0:
                yield place, len(text), PASSED
                break
            yield place, end + len(ends), STRUCK
            place = text.find(begins, end + len(ends))
    closed = -1
    for comment in _COMMENT.finditer(text):
        if comment.start() < closed:
            continue
        closed = text.find("*/", comment.end())
        yield comment.start(), closed + 2 if closed >= 0 else len(text), STRUCK if closed >= 0 else PASSED
        if closed < 0:
            return
    low = text.find("„")  # ends with either of two marks
    while low >= 0:
        end = min((at for at in (text.find("“", low), text.find("”", low)) if at >= 0), default=-1)
        yield low, end + 1 if end >= 0 else len(text), STRUCK if end >= 0 else PASSED
        low = text.find("„", end) if end >= 0 else -1


def _tagged(text: str) -> Iterator[Part]:
    """What stands in tags. What is written right behind a word and never ends is no tag: `Vec<String>`."""
    tags = [tag for tag in _TAG.finditer(text) if not tag[0].endswith("/>")]
    if not tags:
        return
    begun, ended = Counter(tag[2] for tag in tags if not tag[1]), Counter(tag[2] for tag in tags if tag[1])
    last = {tag[2]: tag.end() for tag in tags if tag[1]}
    waiting: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for tag in tags:
        if not tag[1]:
            waiting.setdefault(tag[2], []).append(tag.start())
        elif waiting.get(tag[2]):
            ends[waiting[tag[2]].pop()] = tag.end()
    place = 0
    for tag in tags:
        start = tag.start()
        if start < place:
            continue
        if tag[1]:
            yield 0, len(text), DOUBTED  # an end without a beginning
            continue
        if ended[tag[2]] > begun[tag[2]] and last[tag[2]] > start:
            place = last[tag[2]]
            yield start, place, STRUCK
        elif start in ends:
            place = ends[start]
            yield start, place, STRUCK
        elif not (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
            yield start, len(text), PASSED
            return


def _single(text: str) -> Iterator[Part]:
    """What stands between single quotation marks, in one line; what goes on in the next is in doubt."""
    closes = [match.start() for match in _CLOSES.finditer(text)]
    place = 0
    for match in _OPENS.finditer(text):
        start = match.start()
        at = bisect(closes, start + 1)
        if start < place or at == len(closes):
            continue
        place = closes[at] + 1
        yield start, place, DOUBTED if "\n" in text[start:place] else STRUCK


def _quoted(text: str) -> Iterator[Part]:
    """The spans between straight quotation marks. Of a paragraph with more than one pair, all from the first mark to
    the last: what was pasted between quotation marks may hold some itself. One without an end goes to the end."""
    marks = [match.start() for match in re.finditer(r'(?<!\d)"|"(?=[^\W\d])', text)]
    for first, second in zip(marks[::2], marks[1::2], strict=False):
        yield first, second + 1, STRUCK
    if len(marks) % 2:
        yield marks[-1], len(text), PASSED
    place = begins = 0
    for line in [*text.splitlines(keepends=True), "\n"]:
        if not line.strip():
            within = marks[bisect(marks, begins - 1) : bisect(marks, place - 1)]
            if len(within) > 2:
                yield within[0], within[-1] + 1, STRUCK
            begins = place + len(line)
        place += len(line)


def _blocks(lines: list[tuple[int, str]]) -> Iterator[Part]:
    """What stands between two lines that say so: rules, begin and end, a heredoc. Behind the first of them all is in
    doubt."""
    total = lines[-1][0] + len(lines[-1][1]) if lines else 0
    ends: tuple[str, str] = ("", "")
    began = -1
    for start, line in lines:
        head = line[:HEAD].strip()
        if not head:
            continue
        rule, here = _RULE.match(head), _HERE.search(head)
        if began >= 0 and (
            (ends[0] == "rule" and rule and rule[1] == ends[1])
            or (ends[0] == "begin" and _END.match(head))
            or (ends[0] == "here" and head == ends[1])
        ):
            yield began, start + len(line), STRUCK
            began = -1
        elif began < 0 and (rule or here or _BEGIN.match(head)):
            yield start, total, DOUBTED
            began, ends = start, ("rule", rule[1]) if rule else ("here", here[1]) if here else ("begin", "")
