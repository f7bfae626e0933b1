"""References: what else must change, or cannot, so that no record refers to one that does not exist.

The foreign keys are read from the schema: a fact and a decision that they supersede, a link and its decision.
References to the journal (a commit, an iteration) never prevent anything: the journal is not rolled back. What stands
in the way is said in words of what the reference means: a record took another's place, a commit is linked.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from store.database.database import Database
from store.database.schema.tables import RECORDED
from store.history.rewind import Row
from store.history.row_edits import primary_key

Ref = tuple[str, tuple[Any, ...]]  # a table, and the values of its key
Move = tuple[Ref, Row | None, Row | None]  # a record, its current row and its row then
Cite = Callable[[list[Ref]], dict[Ref, str]]


def bounds(
    database: Database, moves: Sequence[Move], impossible: Mapping[int, str], along: Collection[int], cite: Cite
) -> tuple[list[set[int]], dict[int, str]]:
    """Return (which other moves each one needs, why some cannot be made), all by index. `impossible` are known already;
    what needs one of them cannot be made either. Those `along` are made only with that of what they refer to; what was
    replaced is in force again only if what took its place goes."""
    index = {ref: place for place, (ref, *_) in enumerate(moves)}
    needs: list[set[int]] = [set() for _ in moves]
    referrers: dict[int, Ref] = {}  # moves that cannot be made, and the existing record that refers to them
    missing: dict[int, Ref] = {}  # moves that cannot be made, and the missing record that they refer to
    for child, column, parent in _foreign_keys(database):
        leaving = [ref[1][0] for ref, now, then in moves if ref[0] == parent and now is not None and then is None]
        for ref, target in _referring(database, child, column, leaving):
            gone = index[parent, (target,)]
            place = index.get(ref)
            then = moves[place][2] if place is not None else None
            if place is None or (then is not None and then[column] == target):
                referrers.setdefault(gone, ref)
            elif place != gone:
                needs[gone].add(place)
                if place in along:
                    needs[place].add(gone)
        wanted: dict[Any, list[int]] = {}
        for place, (ref, now, then) in enumerate(moves):
            target = then[column] if ref[0] == child and then is not None else None
            if target is not None and (now is None or now[column] != target):
                wanted.setdefault(target, []).append(place)
        there = _existing(database, parent, wanted)
        for target, places in wanted.items():
            coming = index.get((parent, (target,)))
            if coming is not None and moves[coming][1] is None:
                for place in places:
                    needs[place].add(coming)
            elif coming is not None and moves[coming][2] is None:
                referrers.setdefault(coming, moves[places[0]][0])
            elif target not in there:
                missing.update(dict.fromkeys(places, (parent, (target,))))
    back = {
        ref: place
        for place, (ref, now, then) in enumerate(moves)
        if now and then and now.get("status") == "superseded" and then["status"] == "active"
    }
    for place, ((table, _), now, then) in enumerate(moves):
        replaced = back.get((table, (now.get("supersedes"),))) if now and then is None else None
        if replaced is not None:
            needs[replaced].add(place)
    cited = cite([*referrers.values(), *missing.values()]) if referrers or missing else {}
    blocked = {
        **{
            place: _refers(ref, cited[ref], ref in index and moves[index[ref]][1] is None)
            for place, ref in referrers.items()
        },
        **{
            place: f"{cited[ref]}, {_whose(moves[place][0])}, is not there any more:"
            " bring that back first, unless it was erased."
            for place, ref in missing.items()
        },
        **impossible,
    }
    return needs, _spread(needs, blocked, moves, cite)


def _refers(ref: Ref, cited: str, back: bool) -> str:
    """Return that a record cannot go because this one refers to it, which is there or would come `back`, and what can
    be done. A link that is there goes along."""
    if ref[0] == "commit_links":
        return f"Its link to {cited.split()[0]} would come back: undo the step that removed the link first."
    if back:
        return f"{cited}, which took its place, would come back: undo the step that removed {cited} first."
    return f"{cited} took its place, and stays: undo the step that made {cited} first."


def _whose(ref: Ref) -> str:
    """Return what the record to which this one refers is to it."""
    return "to which it links" if ref[0] == "commit_links" else "whose place it took"


def needed_by(needs: Sequence[Iterable[int]]) -> dict[int, list[int]]:
    """Return the inverse relation: by which moves each one is needed."""
    turned: dict[int, list[int]] = {}
    for place, wanted in enumerate(needs):
        for other in wanted:
            turned.setdefault(other, []).append(place)
    return turned


def closure(start: Iterable[int], following: Callable[[int], Iterable[int]]) -> frozenset[int]:
    """Return all that is reachable from `start`, `start` included."""
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for other in following(waiting.pop()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return frozenset(reached)


def _spread(
    needs: Sequence[Iterable[int]], blocked: dict[int, str], moves: Sequence[Move], cite: Cite
) -> dict[int, str]:
    """Return `blocked`, with all that needs what is blocked."""
    turned = needed_by(needs)
    waiting = list(blocked)
    causes: dict[int, int] = {}
    while waiting:
        cause = waiting.pop()
        for place in turned.get(cause, ()):
            if place not in blocked and place not in causes:
                causes[place] = cause
                waiting.append(place)
    cited = cite([moves[cause][0] for cause in causes.values()]) if causes else {}
    for place, cause in causes.items():
        other = cited[moves[cause][0]]
        if moves[cause][2] is not None:
            blocked[place] = f"{other}, {_whose(moves[place][0])}, cannot come back: its row says why."
        else:
            blocked[place] = f"{other}, which took its place, cannot go: its row says why."
    return blocked


def _foreign_keys(database: Database) -> list[tuple[str, str, str]]:
    """Return (child table, its column, parent table) of each reference between recorded tables."""
    return [
        (child, column, parent)
        for child in RECORDED
        for column, parent in database.rows('SELECT "from", "table" FROM pragma_foreign_key_list(?)', (child,))
        if parent in RECORDED
    ]


def _referring(database: Database, child: str, column: str, targets: Sequence[Any]) -> list[tuple[Ref, Any]]:
    """Return (record, what it refers to) of the current rows that refer to one of these."""
    if not targets:
        return []
    key = primary_key(database.connection, child)
    rows = database.rows(
        f"SELECT {column}, {', '.join(key)} FROM {child} WHERE {column} IN (SELECT value FROM json_each(?))",
        (json.dumps(targets),),
    )
    return [((child, tuple(values)), target) for target, *values in rows]


def _existing(database: Database, parent: str, targets: Iterable[Any]) -> set[Any]:
    wanted = list(targets)
    if not wanted:
        return set()
    (key,) = primary_key(database.connection, parent)
    rows = database.rows(
        f"SELECT {key} FROM {parent} WHERE {key} IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
    )
    return {value for (value,) in rows}
