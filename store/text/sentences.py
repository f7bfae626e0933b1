"""Split a text into whole sentences, and nowhere else.

A part of a sentence may say the opposite of it: `MongoDB` is a part of `not MongoDB`, and `the build waits` of `if the
tests fail, the build waits`. So a rule that quotes a text quotes whole sentences of it.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from store.text.words import LETTERS_PATTERN, any_of_regex, load_stop_words, load_words, normalize_text

_ENDS = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|\n++|$")
# characters, more than the longest abbreviation
MAX_ABBREVIATION_LENGTH = 12
# "these: 1. one 2. two"
_INLINE_LIST = re.compile(r"[^\n\S]1\.\s")
_ORDINAL = re.compile(r"(?<![^\s])\d{1,2}\Z")
_BULLET = re.compile(r"\s*+(?:[-*+•–—]|\d{1,2}[.)])\s+")
# characters: a longer line was broken by an editor, where the next begins with a small letter
WRAPPED_LINE_LENGTH = 60
# characters at the end of a line that are checked
CHECKED_LINE_LENGTH = 400

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# quoted lines, and rows of a table
_QUOTED_OR_TABLE = re.compile(r"\s*[>|]")
_HEADING = re.compile(r"\s*#{1,6}\s")
# text between quotation marks or brackets is kept together; without the closing one, the rest of the paragraph
_ENCLOSED = re.compile(
    r"`[^`\n]*`?|\"[^\"]*\"?|“[^”]*”?|«[^»]*»?|\([^()\n]*\)|\[[^\[\]\n]*\]|(?<!\w)[‘'][^\n]{0,400}?[’'](?!\w)"
)
# the same on one line and closed, which a small letter may follow in the same sentence
_QUOTATION = re.compile(
    r"(?<![\w.!?])(?:\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»)(?!\w)(?P<on>[,;]?\s+[a-záéíóúñü])?"
)
_PARTING = re.compile(r"[.!?…\n]")


def _any_of(name: str) -> str:
    return any_of_regex(load_words("clauses", name))


@cache
def _abbreviation() -> re.Pattern[str]:
    return re.compile(rf"(?:\b(?:{_any_of('abbreviations')})|\b[A-Z])\.$", re.IGNORECASE)


@cache
def _hanging() -> re.Pattern[str]:
    """Return the pattern of the end of a line that is broken off: no sentence ends with such a word."""
    return re.compile(rf"(?:\b(?:{_any_of('hanging')})|n['’]t|[,;(])\s*$", re.IGNORECASE)


@cache
def _continuing() -> re.Pattern[str]:
    """Return the pattern of the beginning of a line that continues the one before."""
    return re.compile(rf"\s*(?:{_any_of('continuing')})\b")


# replaces code, and quotations of others
_DROPPED = "\0"


def find_sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence, without the spaces and bullets around it. A line ends one too, unless
    the sentence continues in the next."""
    start = 0
    listed = bool(_INLINE_LIST.search(text))
    for match in _ENDS.finditer(text):
        end = match.end()
        if (
            listed
            and match[0].startswith(".")
            and _ORDINAL.search(text, max(start, match.start() - 4), match.start())
        ):
            continue
        if match[0].startswith(".") and _abbreviation().search(
            text[max(start, match.start() - MAX_ABBREVIATION_LENGTH) : match.start() + 1]
        ):
            continue
        if match[0] == "\n" and _runs_on(text, start, match.start()):
            continue
        if bullet := _BULLET.match(text, start, end):
            start = bullet.end()
        while start < end and text[start].isspace():
            start += 1
        last = end
        while last > start and text[last - 1].isspace():
            last -= 1
        if last > start:
            yield start, last
        start = end


def mask_quotation_ends(text: str) -> str:
    """Mask what ends a sentence inside a quotation; the length of the text is unchanged."""
    return _QUOTATION.sub(_mask_sentence_ends, text)


def _mask_sentence_ends(match: re.Match[str]) -> str:
    """Return a quotation with its sentence ends masked; the last is kept where no small letter follows."""
    if match["on"]:
        return _PARTING.sub("_", match[0])
    return _PARTING.sub("_", match[0][:-2]) + match[0][-2:]


def extract_statements(text: str) -> list[str]:
    """Return the whole sentences of a text, each in one line, word for word, without the marks of a list or a heading.
    A list belongs to the words that introduce it, and a quotation to the sentence that quotes it. Omitted are code,
    lines that quote somebody, rows of tables, deleted text, and a sentence that any of it interrupts."""
    found = []
    for block, listed in _split_blocks(text):
        hidden = _ENCLOSED.sub(lambda match: _PARTING.sub("_", match[0]), block[:listed])
        masked = hidden + _PARTING.sub("_", block[listed:])
        for start, end in find_sentence_spans(masked):
            sentence = " ".join(block[start:end].split())
            if _DROPPED not in sentence and "~~" not in sentence and not sentence.endswith(":"):
                found.append(sentence)
    return found


def remove_enclosed_text(sentence: str) -> str:
    """Return a sentence without its text between quotation marks or brackets, to be judged by the rest."""
    return _ENCLOSED.sub(" ", sentence)


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question, and does not only quote one."""
    return sentence.rstrip(" !.…)").endswith("?")


def _split_blocks(text: str) -> Iterator[tuple[str, int]]:
    """Yield (a paragraph, a heading or an item of a list; the start of the list that its words introduce, or its end).
    _DROPPED marks in a sentence what was left out of it."""
    lines: list[str] = []
    listed = -1
    fence, blank = "", False

    def block() -> Iterator[tuple[str, int]]:
        nonlocal lines, listed
        if lines:
            whole = "\n".join(lines)
            yield whole, listed if listed >= 0 else len(whole)
        lines, listed = [], -1

    for line in text.splitlines():
        mark = _FENCE.match(line)
        ended = not lines or lines[-1].rstrip()[-1:] in ".!?…:"
        if fence or mark or _QUOTED_OR_TABLE.match(line):
            if mark and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            if ended:
                yield from block()
            elif not lines[-1].endswith(_DROPPED):
                lines[-1] += f" {_DROPPED}"
            blank = False
            continue
        if not line.strip():
            blank = True
            continue
        item, heading = _BULLET.match(line), _HEADING.match(line)
        announcing = bool(lines) and lines[-1].rstrip().endswith(":")
        interrupted = bool(lines) and lines[-1].endswith(_DROPPED) and not line.lstrip()[:1].islower()
        if announcing and listed < 0 and not heading:
            listed = len("\n".join(lines))
        elif heading or interrupted or (blank and not (item and listed >= 0)) or (item and listed < 0):
            yield from block()
        lines.append(line.lstrip("# \t") if heading else line)
        blank = False
        if heading:
            yield from block()
    yield from block()


def _runs_on(text: str, start: int, end: int) -> bool:
    """Return whether a sentence that starts at `start` continues after the end of a line at `end`."""
    if not text[end + 1 : end + 80].lstrip()[:1].islower():
        return False
    begins = max(start, text.rfind("\n", 0, end) + 1, end - CHECKED_LINE_LENGTH)
    line = text[begins:end].rstrip()
    if line.endswith(_DROPPED):
        return True
    if line.endswith((":", ".", "!", "?", "…")):
        return False
    return len(line) >= WRAPPED_LINE_LENGTH or bool(_hanging().search(line) or _continuing().match(text, end + 1))


# Detect texts that say nothing by themselves, and small talk: a greeting, thanks, a farewell or laughter, in Spanish
# or English.
#
# An answer is never small talk, however short: "sí", "ok" and "dale" decide things.

# characters: a longer text is not small talk
MAX_SMALL_TALK_LENGTH = 90
# characters: a longer text says something
MAX_BRIEF_TEXT = 60

_EMOJI = r"\U0001F300-\U0001FAFF☀-➿️‍"
_ONLY_SIGNS = re.compile(rf"[\s.!¡¿?:;()…{_EMOJI}-]+")


@cache
def _whole_turn() -> re.Pattern[str]:
    """Return the pattern of a turn that is nothing else."""
    phrases = tomllib.loads(Path(__file__).with_name("small_talk.toml").read_text(encoding="utf-8"))["small_talk"]
    return re.compile(
        rf"[\s{_EMOJI}]*(?:(?:{'|'.join(phrases)})(?!\w)"
        r"(?:[\s,]+(?:there|everyone|all|claude|amigo|amiga|equipo|team|che|todos|man|mate))?"
        rf"[\s,.!¡¿?:;)…{_EMOJI}-]*)+",
        re.IGNORECASE,
    )


def is_small_talk(text: str) -> bool:
    """Return whether a turn is only a greeting, thanks, a farewell or laughter, in Spanish or English."""
    plain = text.strip()
    if len(plain) > MAX_SMALL_TALK_LENGTH:
        return False
    bare = plain.lstrip("¡¿ ")
    return bool(_whole_turn().fullmatch(bare) or _ONLY_SIGNS.fullmatch(bare)) if bare else True


def says_something(text: str) -> bool:
    """Return whether a text has a content word: not only signs, stop words, and words of assent, thanks and
    greeting."""
    if len(text) > MAX_BRIEF_TEXT:
        return True
    empty = load_stop_words("search") | load_words("stop", "assent")
    return any(
        normalize_text(word) not in empty and word.lower() not in empty for word in LETTERS_PATTERN.findall(text)
    )
