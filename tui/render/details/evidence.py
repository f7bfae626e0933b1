"""Render the source of a fact as lines: its citations, with the sentence of a turn that contains it."""

import re
from collections.abc import Sequence

from store.base.citations import parse
from store.base.errors import MemorandaError
from store.base.models import Fact
from store.evidence.evidence import BoundEvidence
from store.memory import Memory
from tui.render.badges import EVIDENCE_BADGES
from tui.render.field_diff import LABEL, Line
from tui.theme.escape import visible

QUOTED = 4  # maximum quoted pieces of evidence; the rest is only cited
WIDTH = 200  # maximum characters of a quotation


def evidence(memory: Memory, fact: Fact, bound: Sequence[BoundEvidence]) -> list[Line]:
    """Return the evidence of a fact besides what it is `bound` to. A turn that contains it is quoted; one that is
    deleted, or differs in its words, is cited."""
    quoted: list[tuple[str, str]] = []
    cited: list[str] = []
    apart = {str(one.item) for one in bound}
    for place, citation in enumerate(one for one in fact.evidence if one not in apart):
        words = _words(memory, citation, fact.fact) if place < QUOTED else ""
        if words:
            quoted.append((f"[{citation}]  ", f"“{words}”"))
        else:
            cited.append(f"[{citation}]")
    if cited:
        quoted.append((" ".join(cited), ""))
    labels = ["Evidence", *[""] * len(quoted)]
    return [
        [(label.ljust(LABEL), "label"), (where, ""), (words, "dim")]
        for label, (where, words) in zip(labels, quoted, strict=False)
    ]


def bound_lines(bound: Sequence[BoundEvidence]) -> list[Line]:
    """Return what a record is bound to, each with its state, where it is now, and when it was looked at."""
    lines: list[Line] = []
    for place, one in enumerate(bound):
        glyph, word = EVIDENCE_BADGES[one.state]
        label = "" if place else "Rests on"
        now = f" → {visible(one.place)}" if one.place else ""
        lines.append(
            [
                (label.ljust(LABEL), "label"),
                (f"{glyph} {word}", f"evidence-{one.state or 'unseen'}"),
                (f"  {visible(one.item.shown)}{now}", ""),
            ]
        )
    return lines


def _words(memory: Memory, citation: str, fact: str) -> str:
    """Return the sentence of a turn that contains a fact verbatim; empty if there is none."""
    try:
        found = parse(citation)
        if found.kind != "turn":
            return ""
        text = memory.turns.get(int(found.target)).text
    except MemorandaError:
        return ""
    return sentence_with(text, fact)


def sentence_with(text: str, fact: str) -> str:
    """Return the sentence of a text that contains a fact, ignoring case; empty if none does."""
    plain = " ".join(text.split())
    match = re.search(re.escape(fact), plain, re.IGNORECASE)
    if match is None:
        return ""
    start = max((end.end() for end in re.finditer(r"[.!?…]\s", plain[: match.start()])), default=0)
    end = re.compile(r"[.!?…](?=\s|$)").search(plain, match.end())
    sentence = plain[start : end.end() if end else len(plain)].strip()
    return sentence if len(sentence) <= WIDTH else sentence[: WIDTH - 1] + "…"
