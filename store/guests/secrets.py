"""A text as it is shown, with its secrets cut, and back: what a person makes of the shown form is written with the
secrets that were cut, never with the cuts."""

import re
from difflib import SequenceMatcher

from store.base.errors import InvalidInput
from store.redaction import MARKER
from store.redaction.redactor import findings, replaced

_MARK = re.compile(re.escape(MARKER) + r"\w+\]")
_PART = re.compile(rf"({_MARK.pattern}|\s+)")
IN_EDITOR = "Change the file itself in your editor, or leave them where they are."


def shown(text: str) -> str:
    """Return the text with each secret cut."""
    return replaced(text, findings(text))


def restored(original: str, text: str) -> str:
    """Return what to write for `text`, which a person made of `shown(original)`. Raise InvalidInput where it is not
    clear which secret a cut stands for, or the text brings a secret of its own."""
    held = _held(original)
    parts = _PART.split(text)
    if any(_MARK.fullmatch(part) for part in parts):
        parts = _filled(_PART.split(shown(original)), parts, held)
    written = "".join(parts)
    known = [original[cut.start : cut.end] for cut in findings(original)]
    for cut in findings(written):
        value = written[cut.start : cut.end]
        if not any(value in one or one in value for one in known):
            raise InvalidInput(f"The new text holds a secret ({cut.label}).", "Leave it out: agents read this file.")
    return written


def _held(original: str) -> list[str]:
    """Return what each cut of the shown form stands for, in order; a cut that the text itself has stands for itself."""
    secrets = {cut.start: original[cut.start : cut.end] for cut in findings(original)}
    own = {found.start(): found[0] for found in _MARK.finditer(original)}
    return [value for _, value in sorted((own | secrets).items())]


def _filled(old: list[str], new: list[str], held: list[str]) -> list[str]:
    """Put what the cuts stand for into the parts of a new text."""
    place = {at: number for number, at in enumerate(at for at, part in enumerate(old) if _MARK.fullmatch(part))}
    found: dict[int, str] = {}
    for first, start, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for at in range(size):
            if first + at in place and _word_before(old, first + at) == _word_before(new, start + at):
                found[start + at] = held[place[first + at]]
    for at, part in enumerate(new):
        if _MARK.fullmatch(part) and at not in found:
            same = {held[number] for other, number in place.items() if old[other] == part}
            if len(same) != 1 or new.count(part) > old.count(part):
                raise InvalidInput(f"It is not clear what {part} stands for where it is now.", IN_EDITOR)
            found[at] = same.pop()
    return [found.get(at, part) for at, part in enumerate(new)]


def _word_before(parts: list[str], place: int) -> str:
    return next((part for part in reversed(parts[:place]) if part.strip()), "")
