"""Memories that say the same, and memories that cannot both hold, by words alone."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from rapidfuzz.fuzz import ratio

from store.inbox.candidate_pairs import by_words
from store.redaction.redactor import redact
from store.scan.report import CONTRADICTION, DUPLICATE, ScanFinding
from store.sources.source import FoundMemory
from store.text.folding import normalize
from store.text.similarity.contradiction import AGAINST, ALIKE, SAME, ParsedSentence, compare, taken_apart

LONGEST = 400  # characters of a text that is compared for contradictions: of a longer one words prove little
SERIES = 3  # texts of the same words, with different numbers or days, from which on they are a list
FEWEST = 2  # words that carry meaning: of less it is the heading that says what it is about
VALUE = 4  # words of a value; a longer one describes
SAYS_SAME = "it says the same as"
DIFFERENT = 4  # words, by which two texts are about two things and not against each other
_FIELD = re.compile(
    r"\W{0,4}(?P<name>[^:\uff1a=\n]{1,40}?)\W{0,4}[:\uff1a=]+(?!(?<=\d:)\d)\W{0,4}(?P<value>\S.*)?"
    r"|\*\*(?P<bold>[^*\n]{1,40})\*\*\s+(?P<rest>\S.*)",
    re.DOTALL,
)
_LINKED = r"\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\]|https?://\S+|(?:[\w.@-]+/)+[\w.@-]+"
_LINK = re.compile(_LINKED)
_NAMED = re.compile(rf"`[^`\n]+`|\$[^$\n]+\$|{_LINKED}")  # what two texts must both name to say the same
_SUBJECT = re.compile(r"\W{0,3}`([^`\n]+)`")  # code at the beginning is what a text is about
# a cross before what is not to be done; a sample of how it is written
_NO_STATEMENT = re.compile(r"^\W{0,3}[\u274c\u2716\u2717\U0001f6ab]|\byour[-_]")
_JOINED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = re.compile(r"\w+")
# lines of a log, of a list of links or of files
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic)[a-z]{0,7}"
_DAY = rf"\d{{4}}-\d\d-\d\d|{_MONTH} \d{{1,2}}\b|\d{{1,2}}(?: de)? {_MONTH}\b|\d\d:\d\d:\d\d"
_ENTRY = re.compile(rf"\W{{0,3}}(?:{_DAY})|[*`\s]{{0,3}}(?:{_LINKED}|`[\w.-]+\.\w+`)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Read:
    """A text and its parts. A `name` before a colon, or in bold at its beginning, has a `value` behind it; `links` are
    where it leads, and `named` what it names besides: code, formulas."""

    text: str
    part: ParsedSentence
    name: str
    value: str
    links: tuple[str, ...]
    named: frozenset[str]


def pairs(memories: Sequence[FoundMemory], documents: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return duplicates and likely contradictions among memories of one project, or of none: of what is there several
    times, each after the first is a duplicate once. What stands in a file of `documents` is about what its heading
    says, and contradicts nothing by its words alone."""
    texts = [_read(one.text if one.decision is None else f"{one.text}\n{one.decision.chosen}") for one in memories]
    frames = Counter(frozenset(one.part.words) for one in texts)
    names = Counter(one.name for one in texts if one.name)
    facts = [_is_fact(one) and names[one.name] < SERIES for one in texts]
    found, firsts, copies = list[ScanFinding](), dict[tuple[str, str], int](), set[int]()
    for place, memory in enumerate(memories):
        first = firsts.setdefault((texts[place].part.plain, memory.project), place)
        if first != place and (facts[place] or len(texts[place].part.words) > VALUE):
            found.append(_finding(DUPLICATE, memories[first], memory, SAYS_SAME))
    different = list(firsts.values())
    for early, late in by_words([texts[place].part.words for place in different]):
        first, second = different[early], different[late]
        where = memories[first], memories[second]
        if where[0].project and where[1].project and where[0].project != where[1].project:
            continue
        one, other, fact = texts[first], texts[second], facts[first] and facts[second]
        how = compare(one.part, other.part, ratio(one.part.plain, other.part.plain) / 100)
        if _letters(one.part.plain).replace(" ", "") == _letters(other.part.plain).replace(" ", ""):
            how = SAME
        if (how == SAME and (fact or len(one.part.words) > VALUE)) or (
            how == ALIKE and fact and one.named == other.named
        ):
            if second not in copies:
                copies.add(second)
                found.append(_finding(DUPLICATE, *where, SAYS_SAME))
        elif how == AGAINST and fact and documents.isdisjoint(memory.path for memory in where):
            frame = frozenset(one.part.words)
            alone = frame != frozenset(other.part.words) or frames[frame] < SERIES
            apart = bool(one.name or other.name) and where[0].tags != where[1].tags  # a field is about its heading
            if alone and not apart and _against(one, other):
                found.append(_finding(CONTRADICTION, *where, "it does not agree with"))
    return found


def _read(text: str) -> _Read:
    field = _FIELD.match(text)
    name = normalize(field["name"] or field["bold"]) if field else ""
    value = (field["value"] or field["rest"] or "") if field else ""
    links = tuple(_LINK.findall(text[:LONGEST]))
    named = frozenset(one.strip("`$") for one in _NAMED.findall(text[:LONGEST]))
    return _Read(text, taken_apart(text), name, value, links, named)


def _is_fact(one: _Read) -> bool:
    """Return whether a text says something by itself, and is no line of a log or of a list of links."""
    return len(one.part.words) + len(one.part.values) >= FEWEST and not _ENTRY.match(one.text)


def _against(one: _Read, other: _Read) -> bool:
    """Return whether two texts are about one thing: few words are in one alone, neither goes on where the other ends,
    says the same and more or leads elsewhere, and they do not describe one name, which may have several descriptions
    that are true."""
    mine, yours = set(one.part.words), set(other.part.words)
    all_mine, all_yours = mine | one.part.values, yours | other.part.values
    if one.part.negations == other.part.negations and (all_mine <= all_yours or all_yours <= all_mine):
        return False
    short, long = sorted((_letters(one.part.plain), _letters(other.part.plain)), key=len)
    if one.name and other.name and one.name != other.name:
        return False
    if one.name == other.name != "" and max(_length(one.value), _length(other.value)) > VALUE:
        return False
    if one.links and other.links and one.links != other.links:
        return False
    first, second = _SUBJECT.match(one.text), _SUBJECT.match(other.text)
    if (first and second and first[1] != second[1]) or any(_NO_STATEMENT.search(part.text) for part in (one, other)):
        return False
    near = max(len(mine - yours), len(yours - mine)) <= DIFFERENT
    return near and max(len(one.text), len(other.text)) <= LONGEST and not long.startswith(short)


def _length(value: str) -> int:
    """Return about how many words a value has; in Chinese and Japanese nothing stands between them."""
    return len(value.split()) + len(_JOINED.findall(value)) // 3


def _letters(text: str) -> str:
    return " ".join(_LETTERS.findall(text))


def _finding(kind: str, against: FoundMemory, one: FoundMemory, says: str) -> ScanFinding:
    where = f"{against.path}:{against.line}"
    return ScanFinding(kind, one.path, one.line, f"“{_short(one.text)}”: {says} “{_short(against.text)}”", where)


def _short(text: str) -> str:
    plain = " ".join(redact(text).split())  # before it is cut: a part of a secret is not recognised
    return plain if len(plain) <= 90 else plain[:89] + "…"
