"""Memories that say the same, and memories that cannot both hold, by words alone."""

from collections import Counter
from collections.abc import Sequence

from rapidfuzz.fuzz import ratio

from store.inbox.candidate_pairs import by_words
from store.redaction.redactor import redact
from store.scan.report import CONTRADICTION, DUPLICATE, ScanFinding
from store.sources.source import FoundMemory
from store.text.similarity.contradiction import AGAINST, ALIKE, SAME, compare, taken_apart

LONGEST = 400  # characters of a text that is compared for contradictions: of a longer one words prove little
SERIES = 3  # texts of the same words, with different numbers or days, from which on they are a list


def pairs(memories: Sequence[FoundMemory]) -> list[ScanFinding]:
    """Return duplicates and likely contradictions among memories of one project, or of none."""
    texts = [one.text if one.decision is None else f"{one.text}\n{one.decision.chosen}" for one in memories]
    parts = [taken_apart(text) for text in texts]
    frames = Counter(frozenset(part.words) for part in parts)
    found = []
    for one, other in by_words([part.words for part in parts]):
        if memories[one].project and memories[other].project and memories[one].project != memories[other].project:
            continue
        how = compare(parts[one], parts[other], ratio(parts[one].plain, parts[other].plain) / 100)
        if how in (SAME, ALIKE):
            found.append(_finding(DUPLICATE, memories, other, one, "it says the same as"))
        elif how == AGAINST and max(len(texts[one]), len(texts[other])) <= LONGEST:
            frame = frozenset(parts[one].words)
            if frame != frozenset(parts[other].words) or frames[frame] < SERIES:
                found.append(_finding(CONTRADICTION, memories, other, one, "it does not agree with"))
    return found


def _finding(kind: str, memories: Sequence[FoundMemory], place: int, other: int, says: str) -> ScanFinding:
    one, against = memories[place], memories[other]
    where = f"{against.path}:{against.line}"
    return ScanFinding(kind, one.path, one.line, f"“{_short(one.text)}”: {says} “{_short(against.text)}”", where)


def _short(text: str) -> str:
    plain = " ".join(redact(text).split())  # before it is cut: a part of a secret is not recognised
    return plain if len(plain) <= 90 else plain[:89] + "…"
