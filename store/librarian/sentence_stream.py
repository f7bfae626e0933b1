"""A model's answer as it comes, cut into whole sentences."""

import re
from collections.abc import Iterator

LONGEST = 600  # characters of a sentence

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|\n+")
_CITED = r"\s*[\[(]?[A-Za-z]#\w+"  # a citation after the full stop belongs before it
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|p\. ?ej|ej|sr|sra|dr|dra|mr|mrs|ms|vs|aprox|etc|nro|núm|num|art|pág)|\b[A-Z])\.$", re.I
)


class Sentences:
    """Cuts a stream of pieces into whole sentences, each with the citations that follow its full stop. Of one without
    an end the middle is dropped: it stays too long to be shown, and reading on takes no longer for it."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> Iterator[str]:
        """The sentences that are whole now."""
        for at in range(0, len(piece), LONGEST):
            self._held += piece[at : at + LONGEST]
            while (end := _ending(self._held)) is not None:
                sentence, self._held = self._held[:end], self._held[end:]
                if sentence.strip():
                    yield sentence.strip()
            self._held = self._held.lstrip()
            if len(self._held) > 2 * LONGEST + 1:
                self._held = self._held[: LONGEST + 1] + self._held[-LONGEST:]

    def rest(self) -> str:
        """What is left at the end."""
        rest, self._held = self._held.strip(), ""
        return rest


def _ending(text: str) -> int | None:
    """Where the first whole sentence of a text ends; None while that cannot be told."""
    for match in _END.finditer(text):
        end = match.end()
        if match[0].startswith(".") and _ABBREVIATED.search(text[max(0, match.start() - 8) : match.start() + 1]):
            continue
        if text[: match.start()].strip() in ("", *map(str, range(1, 20))):
            continue  # the number of a list
        after = text[end:]
        while cited := re.match(rf"{_CITED}(?:\s*[,;]\s*[A-Za-z]#\w+)*[\])]?[.]?", after):
            end += cited.end()
            after = text[end:]
        rest = after.lstrip()
        # the next character tells whether a citation comes; half of one does not
        if not rest or (rest[0] in "[(" and len(rest) < 24 and not re.match(r"[\[(][^\])]*[\])]", rest)):
            return None
        if len(rest) < 3 and rest[0].isalpha():
            return None
        return end
    return None
