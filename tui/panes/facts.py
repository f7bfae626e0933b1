"""The pane of the facts: in groups by how much they need a person; and as chips of it the decisions and the tasks."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import chain
from typing import Any

import apsw

from store.base.clock import Clock
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.state_files import find_known_memory
from store.base.vocabulary import TASK_STATUS_LABELS, pack_key
from store.history.compression import every_row_view
from store.memory import Memory
from store.search.lookup import records_by_key
from store.trust.ownership import read_identity
from tui.input.key_table import fill_in_keys
from tui.lists.filters import Facet, counted_choices, counted_facet, writer_facet
from tui.lists.record_rows import KeyedRows, RecordReader, RowHeading, draw_record
from tui.panes.pane import FIRST_ROWS, Loaded, Pane, Reading, View
from tui.render.lines import EVIDENCE_BADGES, FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS
from tui.theme.line_filters import Piece
from tui.theme.styles import piece_style
from tui.widgets.record_list import RecordList

Group = tuple[str, "array[int]"]
"""The need of facts (a key of NEEDS, GONE, or "" for all in one), and their keys."""

GONE = "gone"
GONE_STATES = {"superseded": ("superseded", "contradicted"), "forgotten": ("forgotten",)}
"""States of facts that hold no longer, and the statuses in each."""
# need → what `Facts.order` filters by, and why the group stands apart; in the order of the list
NEEDS: dict[str, tuple[dict[str, Any], str]] = {
    "stale": ({"state": 3}, "too old: agents no longer get them"),
    "low": ({"state": 2}, "weak or old: sent only if they fit well"),
    "aging": ({"state": 1}, "soon too old: confirm while you remember"),
    "pinned": ({"pinned": True}, "never too old"),
    "fresh": ({"state": 0, "pinned": False}, ""),
}
# chips beside the states of facts
DOUBTED, DECISIONS, TASKS = "doubted", "decisions", "tasks"
# moved, changed, gone
DOUBTED_SQL = "SELECT DISTINCT record FROM evidence_looks WHERE state > 1 ORDER BY record DESC"
NONE_HOLDS = "No fact holds any more. {list.only} shows those that were replaced or forgotten."
SORTS = {"oldest": "by age", "domain": "by domain", "newest": "newest first", "text": "by text"}
# facts from which a changed list is not kept in place: comparing orders takes 1 µs a fact
LARGEST_SETTLED = 20_000


def read_facts(reading: Reading) -> Loaded:
    """Read the facts, or the decisions or tasks, if their chip is chosen."""
    state = reading.view.get("state")
    if state == TASKS or reading.view.get("progress"):
        return _read_tasks(reading)
    if state in (DECISIONS, DOUBTED):
        return _read_keys(reading, _doubted_keys(reading.memory) if state == DOUBTED else _decision_keys(reading))
    memory, view, last = reading.memory, reading.view, reading.last
    now = memory.now
    step = memory.database.newest_step()
    true = groups = read_groups(memory, view, now, reading.limit)
    if last is not None and last.whole and last.kept is not None:
        before, since, shared = last.kept
        groups = keep_places(before, true, _find_successors(memory, since, shared))
    rows = _make_rows(groups, true, partial(read_records, reading), now)
    whole = reading.limit < 0
    facets = read_facets(memory) if whole else ()
    counts = count_facts(memory, now) if whole else {}
    return Loaded(
        rows,
        facets,
        _title(view, counts),
        len(rows.keys) if whole else None,
        empty=NONE_HOLDS if 0 < sum(counts.values()) == sum(counts.get(name, 0) for name in GONE_STATES) else "",
        whole=whole,
        kept=(groups, step, memory.globals.step),
    )


def _make_rows(groups: Sequence[Group], true: Sequence[Group], read: RecordReader, now: str) -> KeyedRows:
    keys = array("q", chain.from_iterable(some for _, some in groups))
    return KeyedRows(keys, read, partial(draw_record, now=now), headings(groups, true))


def read_first_facts(location: Location, clock: Clock) -> Loaded | None:
    """Return the first facts of a memory that is ours and is only looked at, to be shown while all that acts on them is
    imported; None where that cannot be: the main screen explains why."""
    known, looked = find_known_memory(location.path), copy(location)
    looked.look = True
    try:
        with Memory(looked, "app", clock) as memory:
            identity = read_identity(memory.database.connection)
            if not location.look and (known is None or known.identity != identity):
                return None
            now = memory.now
            groups = read_groups(memory, View(), now, FIRST_ROWS)
            records: dict[int, Any] = {}
            rows = _make_rows(groups, groups, lambda wanted: records, now)
            records.update(records_by_key(memory.database, list(rows.keys)))
            counts = {} if groups else count_facts(memory, now)
    except (MemorandaError, apsw.Error):  # such as of a file that an earlier build made
        return None
    return Loaded(rows, empty=NONE_HOLDS if any(counts.values()) else PANE.empty)


def list_first_facts(loaded: Loaded) -> RecordList:
    """Return the list of the first facts, without a focus."""
    shown = RecordList(loaded.rows, empty_text=fill_in_keys(loaded.empty))
    shown.can_focus = False
    return shown


def read_records(reading: Reading, keys: Sequence[int]) -> Mapping[int, Any]:
    """Return the records of some keys, read on the screen's own connection."""
    return records_by_key(reading.engine.screen.database, list(keys))


def _read_keys(reading: Reading, keys: Sequence[int]) -> Loaded:
    """Return records of several kinds, each drawn by what it is."""
    memory = reading.memory
    rows = KeyedRows(keys, partial(read_records, reading), partial(draw_record, now=memory.now))
    return Loaded(rows, read_facets(memory), _title(reading.view, {}), len(keys))


def _decision_keys(reading: Reading) -> array[int]:
    statuses = ("active", "superseded", "forgotten") if reading.view.hidden else ("active",)
    return pack_keys("decision", reading.memory.decisions.ids(statuses=statuses))


def _doubted_keys(memory: Memory) -> array[int]:
    """Return the keys of what rests on evidence that moved, changed or is gone."""
    keys = [key for (key,) in memory.database.rows(DOUBTED_SQL)]
    found = records_by_key(memory.database, keys)
    return array("q", (key for key in keys if key in found and getattr(found[key], "status", "") == "active"))


def _read_tasks(reading: Reading) -> Loaded:
    """Return the tasks: those to be done, with `hidden` those that are done too."""
    memory, view = reading.memory, reading.view
    progress = view.get("progress")
    statuses = (progress,) if progress else ("in_progress", "pending", *(("done",) if view.hidden else ()))
    keys = pack_keys("task", memory.tasks.ids(statuses=statuses))
    counts = dict(memory.database.rows("SELECT status, count(*) FROM tasks GROUP BY status"))
    words = {status: TASK_STATUS_LABELS[status].capitalize() for status in ("in_progress", "pending", "done")}
    choices = counted_choices(words, counts, TASK_GLYPHS)
    done = counts.get("done", 0)
    said = f"{done:,} done {'shown' if view.hidden else 'hidden'}"
    says: list[Piece] = [(said, "$dim", "hidden")] if done and not progress else []
    rows = KeyedRows(keys, partial(read_records, reading), partial(draw_record, now=memory.now))
    facets = [*read_facets(memory), Facet("progress", "Status", choices, sum(counts.values()) - done)]
    return Loaded(
        rows, facets, says, len(keys), "No tasks to be done. {record.add} adds one; {record.confirm} starts it."
    )


# the groups


def read_groups(memory: Memory, view: View, now: str, limit: int = -1) -> list[Group]:
    """Return the groups of a view, without empty groups; at most `limit` facts, unless it is negative."""
    filters: dict[str, Any] = {name: view.get(name) for name in ("domain", "origin", "tag")}
    filters["words"] = view.get("words") or ""
    state, sort = view.get("state"), view.sort
    gone = tuple(status for some in GONE_STATES.values() for status in some)
    if state in GONE_STATES:
        found = _order_facts(memory, now, limit, statuses=GONE_STATES[state], sort=sort or "newest", **filters)
        return [(GONE, found)] if found else []
    if sort:
        needed = NEEDS[state][0] if state in NEEDS else {}
        statuses = ("active", *gone) if view.hidden else ("active",)
        found = _order_facts(memory, now, limit, statuses=statuses, sort=sort, **needed, **filters)
        return [("", found)] if found else []
    groups: list[Group] = []
    left = limit
    for need, (condition, _) in NEEDS.items():
        if state in (None, need) and left:
            found = _order_facts(memory, now, left, sort="oldest", **condition, **filters)
            groups.append((need, found))
            left -= len(found) if limit > 0 else 0
    if view.hidden and state is None and left:
        groups.append((GONE, _order_facts(memory, now, left, statuses=gone, sort="newest", **filters)))
    return [group for group in groups if group[1]]


def _order_facts(memory: Memory, now: str, limit: int, **filters: Any) -> array[int]:
    """Return the keys of the facts that match the filters, the project's before the global ones; at most `limit`,
    unless it is negative."""
    keys = pack_keys("fact", memory.facts.order(now, limit=limit, **filters))
    left = limit if limit < 0 else limit - len(keys)
    if left:
        keys.extend(pack_keys("global", memory.globals.order(now, limit=left, **filters)))
    return keys


def pack_keys(kind: str, numbers: Iterable[int]) -> array[int]:
    """Return the keys of records of a kind."""
    code = pack_key(kind, 0)
    return array("q", [number * 16 + code for number in numbers])


def keep_places(before: Sequence[Group], after: Sequence[Group], successors: Mapping[int, int]) -> list[Group]:
    """Return the groups `after` with every fact where it stood `before`, and a new one where its order puts it.

    `successors` maps a corrected fact to the one that replaces it, which takes its place. So a change moves nothing
    below the cursor until the list is sorted or filtered again."""
    kinds = [need for need, _ in before] + [need for need, _ in after]
    if "" in kinds or sum(len(keys) for _, keys in (*before, *after)) > 2 * LARGEST_SETTLED:
        return list(after)
    present = {key for _, keys in after for key in keys}
    groups: dict[str, list[int]] = {need: [] for need in (*NEEDS, GONE) if need in kinds}
    placed: set[int] = set()
    for need, keys in before:
        for key in keys:
            there = key if key in present else successors.get(key)
            if there in present and there not in placed:
                placed.add(there)
                groups[need].append(there)
    for need, keys in after:
        previous: int | None = None
        for key in keys:
            if key not in placed:
                place = groups[need].index(previous) + 1 if previous in groups[need] else 0
                groups[need].insert(place, key)
            previous = key
    return [(need, array("q", some)) for need, some in groups.items() if some]


def headings(groups: Sequence[Group], true: Sequence[Group]) -> list[RowHeading]:
    """Return the headings of groups: (index of the first fact, name and count, reason). `true` are the groups as they
    are now: a fact that was confirmed or corrected keeps its place, and is not counted as stale."""
    found: list[RowHeading] = []
    now = dict(true)
    first = 0
    for need, keys in groups:
        if need == GONE:
            found.append((first, f"Replaced and forgotten {len(keys):,}", "kept, never sent"))
        elif need:
            having = now.get(need, array("q"))
            others = 0 if keys == having else len(set(keys).difference(having))
            kept = f" + {others:,} changed" if others else ""
            found.append((first, f"{FACT_BADGES[need][1].capitalize()} {len(having):,}{kept}", NEEDS[need][1]))
        first += len(keys)
    return found


def _find_successors(memory: Memory, since: int, shared: int) -> dict[int, int]:
    """Return which facts were replaced after step `since`, and by which; global ones after step `shared` of the
    person's own memory."""
    found = _replaced_facts(memory, since, "fact")
    if shared and memory.globals.step > shared:
        found |= _replaced_facts(memory.require_personal(), shared, "global")
    return found


def _replaced_facts(memory: Memory, since: int, kind: str) -> dict[int, int]:
    """Return the keys of the facts replaced after a step of history, and of those that replaced them."""
    rows = memory.database.rows(
        f"SELECT f.supersedes, f.id FROM facts f JOIN {every_row_view(memory.database)} h"
        " ON h.tbl = 'facts' AND h.op = 'INSERT' AND json_extract(h.pk, '$[0]') = f.id"
        " WHERE h.seq > ? AND f.supersedes IS NOT NULL AND f.status = 'active'",
        (since,),
    )
    return {pack_key(kind, old): pack_key(kind, new) for old, new in rows}


# what the facts can be narrowed by


def count_facts(memory: Memory, now: str) -> dict[str, int]:
    """Count the facts in each state, with the global facts."""
    here = memory.facts.count_by_state(now)
    shared = memory.globals.count_by_state(now)
    return {name: count + shared.get(name, 0) for name, count in here.items()}


def read_facets(memory: Memory) -> list[Facet]:
    """Count the facts of every choice, the decisions and the tasks; takes a second for a million facts."""
    counts, database = count_facts(memory, memory.now), memory.database
    numbers = {
        **counts,
        "fresh": counts.get("fresh", 0) - counts.get("pinned", 0),
        DOUBTED: len(_doubted_keys(memory)),
        DECISIONS: database.value("SELECT count(*) FROM decisions WHERE status = 'active'"),
        TASKS: database.value("SELECT count(*) FROM tasks WHERE status <> 'done'"),
    }
    words = {name: FACT_BADGES[name][1].capitalize() for name in (*NEEDS, *GONE_STATES)}
    looks = {name: piece_style(f"glyph-{name}") for name in words}
    words |= {DOUBTED: "Evidence moved", DECISIONS: "Decisions", TASKS: "Tasks"}
    glyphs = {name: glyph for name, (glyph, _) in FACT_BADGES.items()}
    glyphs |= {
        DOUBTED: EVIDENCE_BADGES["moved"][0],
        DECISIONS: KIND_GLYPHS["decision"],
        TASKS: KIND_GLYPHS["task"],
    }
    return [
        Facet("state", "State", counted_choices(words, numbers, glyphs, looks), counts.get("active")),
        counted_facet("domain", "Domain", _count_by_column(memory, "domain")),
        writer_facet("origin", _count_by_column(memory, "origin")),
        counted_facet("tag", "Tag", memory.facts.tags()),
    ]


def _count_by_column(memory: Memory, column: str) -> list[tuple[str, int]]:
    """Count the active facts by a column, with the global facts; the highest number first."""
    found = dict(memory.database.rows(f"SELECT {column}, count(*) FROM facts WHERE status = 'active' GROUP BY 1"))
    for value, count in memory.globals.tally(column):
        found[value] = found.get(value, 0) + count
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


def _title(view: View, counts: Mapping[str, int]) -> list[Piece]:
    """Return what the title says beside the chips: the order of the facts, and how many are hidden or shown too."""
    gone = {word: counts.get(name, 0) for name, word in (("forgotten", "forgotten"), ("superseded", "replaced"))}
    says: list[Piece] = [(SORTS[view.sort], "$dim", "only")] if view.sort else []
    if hidden := ", ".join(f"{number:,} {word}" for word, number in gone.items() if number):
        says.append(("all shown" if view.hidden else f"{hidden} hidden", "$dim", "hidden"))
    return says


# What a list without rows is waiting for: what is missing in this memory, and what brings it.

# what is counted, and the sentence where there is some of it, or where there is none
MISSING = (
    (
        "commits",
        "Commits read from git: {number}. {pane.timeline} shows them; {search.open} and a question asks about them.",
        "",
    ),
    (
        "proposals WHERE state = 'waiting'",
        "{number are} proposed and waiting for you: {pane.today} goes there.",
        "",
    ),
    ("facts WHERE status != 'active'", "{number are} replaced or forgotten: {list.only} shows them.", ""),
    (
        "(SELECT 1 FROM agent_sessions LIMIT 1)",
        "",
        "No agent is connected yet: :connect NAME lets one remember here. :connect lists them.",
    ),
    (
        "(SELECT 1 FROM turns LIMIT 1)",
        "",
        "No conversation was read yet: :import FILE.jsonl reads one, and proposes what it says.",
    ),
    ("(SELECT 1)", "Another tool's memory can be brought in: :import NAME; :import lists what is found.", ""),
)


def missing_sentences(memory: Memory) -> list[str]:
    """Return what a memory without facts waits for. Takes a few counts."""
    said: list[str] = []
    for counted, some, none in MISSING:
        number = memory.database.number(f"SELECT count(*) FROM {counted}")
        sentence = (some if number else none).replace("{number}", f"{number:,}")
        said.append(sentence.replace("{number are}", f"{number:,} {'is' if number == 1 else 'are'}"))
    return [sentence for sentence in said if sentence]


PANE = Pane(
    "facts",
    "Facts",
    read_facts,
    empty="No facts yet. {record.add} adds the first one: what should be remembered here?",
    filtered="No facts match. {screen.leave} shows all facts; {list.only} chooses another filter.",
    kinds=("fact", "global", "task", "decision"),
    paged=True,
)
