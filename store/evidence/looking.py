"""Look at files, symbols and commits again: whether each is what it was. Nothing is run and nothing is written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from store.documents.paths import Unreadable
from store.evidence import symbols
from store.evidence.items import (
    CHANGED,
    COMMIT,
    FILE,
    GONE,
    HOLDS,
    MOVED,
    NO_BASE,
    RUN,
    SYMBOL,
    UNSEEN,
    EvidenceItem,
    digest_of,
    placed,
)
from store.evidence.project import ProjectSources


@dataclass(frozen=True, slots=True)
class EvidenceLook:
    """What was seen: a state of `items.STATES`, and where it is now if that is elsewhere."""

    state: int
    place: str = ""


def bound(item: EvidenceItem, sources: ProjectSources) -> EvidenceItem | str:
    """Return an item as it is now, with its digest; else why it cannot be bound."""
    if item.type == COMMIT:
        known = sources.commits([item.target]).get(item.target)
        return EvidenceItem(COMMIT, known[0]) if known else "git has no such commit"
    if item.type in RUN:
        return item
    try:
        lines = sources.lines(item.target)
    except Unreadable as error:
        return error.message
    if lines is None:
        return "there is no such file"
    first, last = item.first, item.last
    if item.type == SYMBOL:
        found = symbols.find(item.target, lines, item.symbol)
        if found is None:
            return f"it does not define {item.symbol}"
        first, last = found
    elif last > len(lines):
        return f"it has {len(lines):,} lines"
    part = lines[first - 1 : last] if first else lines
    base = sources.head or NO_BASE
    return EvidenceItem(item.type, item.target, item.symbol, item.first, item.last, base, digest_of(part))


def look(items: Iterable[EvidenceItem], sources: ProjectSources) -> dict[EvidenceItem, EvidenceLook]:
    """Look at each item that needs no permission; of the others nothing is said."""
    wanted = list(dict.fromkeys(items))
    shas = sources.commits([item.target for item in wanted if item.type == COMMIT])
    found = {}
    for item in wanted:
        if item.type == FILE:
            found[item] = _file(item, sources)
        elif item.type == SYMBOL:
            found[item] = _symbol(item, sources)
        elif item.type == COMMIT:
            held = shas.get(item.target, ("", False))[1]
            found[item] = EvidenceLook(HOLDS if held else GONE if sources.git else UNSEEN)
    return found


def _file(item: EvidenceItem, sources: ProjectSources) -> EvidenceLook:
    try:
        lines = sources.lines(item.target)
    except Unreadable:
        return EvidenceLook(CHANGED)  # a pipe, a link, something large: not what was bound
    size = item.last - item.first + 1
    if lines is not None:
        part = lines[item.first - 1 : item.last] if item.first else lines
        if digest_of(part) == item.digest:
            return EvidenceLook(HOLDS)
        if not item.first:
            return EvidenceLook(CHANGED)
        if found := sources.find_lines(item.target, size, item.digest, item.first):
            return EvidenceLook(MOVED, placed(item.target, *found))
    move = sources.moved(item)
    path = move.path if move and move.path else item.target
    there = sources.readable(path)
    if path != item.target and there is not None:
        if not item.first:
            same = digest_of(there) == item.digest
            return EvidenceLook(MOVED if same else CHANGED, path)
        if found := sources.find_lines(path, size, item.digest, item.first):
            return EvidenceLook(MOVED, placed(path, *found))
    if there is None:
        return _elsewhere(item, sources)
    if move and (now := move.lines(item.first, item.last)) is None:
        return EvidenceLook(GONE)
    if move and now:
        first, last = min(now[0], len(there) or 1), min(now[1], len(there) or 1)
        return EvidenceLook(
            CHANGED, "" if (path, first, last) == (item.target, item.first, item.last) else placed(path, first, last)
        )
    return EvidenceLook(CHANGED if item.first <= len(there) else GONE)


def _elsewhere(item: EvidenceItem, sources: ProjectSources) -> EvidenceLook:
    """Look for the content of a file that is gone, in files that may be the same under another name."""
    size = item.last - item.first + 1
    for path in sources.others(item.target):
        if item.first:
            if found := sources.find_lines(path, size, item.digest, item.first):
                return EvidenceLook(MOVED, placed(path, *found))
        elif (lines := sources.readable(path)) is not None and digest_of(lines) == item.digest:
            return EvidenceLook(MOVED, path)
    return EvidenceLook(GONE)


def _symbol(item: EvidenceItem, sources: ProjectSources) -> EvidenceLook:
    try:
        lines = sources.lines(item.target)
    except Unreadable:
        return EvidenceLook(CHANGED)
    if lines is not None and (found := symbols.find(item.target, lines, item.symbol)):
        same = digest_of(lines[found[0] - 1 : found[1]]) == item.digest
        return EvidenceLook(HOLDS if same else CHANGED, "" if same else placed(item.target, *found))
    changed = ""
    move = sources.moved(item)
    first = [move.path] if move and move.path else []
    for path in dict.fromkeys([*first, *sources.holding(item.symbol)]):
        lines = sources.readable(path)
        if lines is None or path == item.target or not (found := symbols.find(path, lines, item.symbol)):
            continue
        if digest_of(lines[found[0] - 1 : found[1]]) == item.digest:
            return EvidenceLook(MOVED, placed(path, symbol=item.symbol))
        if os.path.splitext(path)[1] == os.path.splitext(item.target)[1]:  # in another language it is another thing
            changed = changed or placed(path, symbol=item.symbol)
    return EvidenceLook(CHANGED, changed) if changed else EvidenceLook(GONE)
