"""Team: who shares through the remote of this project, what each shared, and what is wrong with a stream."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from store.base.citations import cite
from store.base.clock import format_age
from store.base.errors import MemorandaError
from store.team.collect import choice_words
from store.team.exchange import Team
from store.team.stream import SharedRecord
from store.team.team_file import StreamState
from store.text.display import format_count, format_size, visible
from store.upkeep.optional import has_shared_records
from tui.actions.action import Action, ActionScreen
from tui.lists.record_rows import RowLine, row_lines
from tui.panes.pane import Entry, EntryRows, Loaded, Pane, Reading
from tui.render.lines import StyledLine

# records of one writer that are listed
MEMBER_RECORDS = 200
NOBODY_SHARES_HINT = (
    "Nobody shares yet. `memoranda team share work decisions` begins, and shows first what would leave this"
    " machine."
)
EXCHANGE = "Exchange now"
EXCHANGE_HINT = "Sends what you share, and receives what others shared: now, and not only every few minutes."


def read_team(reading: Reading) -> Loaded:
    """Read who shares, and what."""
    # nothing is made to say so
    if not has_shared_records(reading.memory):
        return Loaded(EntryRows([]))
    now, entries, wrong = reading.memory.now, list[Entry](), 0
    with Team(reading.memory) as team:
        here = {
            one.id: cite("fact" if one.id[0] == "F" else "decision", one.number) for one in team.held_records()
        }
        for state, _ in team.members():
            wrong += bool(state.said)
            you, size = team.you_label(state.writer), team.stream_size(state)
            records = [(record, here.get(record.id, "")) for record in team.writer_records(state.writer)]
            draw = partial(draw_member, state, you, len(records), now)
            entries.append(Entry(state.writer, state, draw, partial(describe_member, state, you, size, records)))
    invite = partial(row_lines, [("⇄ ", "accent")], EXCHANGE, "", [])
    hint: list[StyledLine] = [[(EXCHANGE_HINT, "")], []]
    hint += [[(line, "warning")] for line in reading.engine.team.report]
    says = [(f"{wrong:,} with something wrong", "$text-warning")] if wrong else []
    return Loaded(
        EntryRows([*entries, Entry(EXCHANGE, EXCHANGE, invite, lambda: hint)]), says=says, size=len(entries)
    )


def draw_member(state: StreamState, you: str, records: int, now: str, width: int) -> list[RowLine]:
    """Draw a writer, `you` or somebody else: who it is, how much they shared and when, or what is wrong."""
    name = visible(state.name or state.writer) + (f" ({you})" if you else "")
    if state.said:
        return row_lines([("⚠ ", "removed")], name, "bold", [(visible(state.said), "warning")], width)
    about = visible(f"{format_count(records, 'record')} · {format_age(now, state.at)}")
    return row_lines([("● ", "added")], name, "bold", [(about, "dim")], width)


def describe_member(
    state: StreamState, you: str, size: int, records: Sequence[tuple[SharedRecord, str]]
) -> list[StyledLine]:
    """Return the lines about a writer: the bytes of the stream here, and each record with its citation here, empty
    without one."""
    parts = (format_count(state.seq, "operation"), format_size(size) if size else "")
    lines: list[StyledLine] = [
        [(state.name or "(no name)", "title"), (f"  {state.writer}", "dim")],
        [(f"{', '.join(filter(None, parts))}, the last received {state.at[:16].replace('T', ' ')}", "dim")],
    ]
    if state.said:
        lines += [[], [(f"Something is wrong: {state.said}. What was good before stays.", "warning")]]
    signed = "Not signed: whoever may push to the remote could have written it."
    if state.key:
        signed = f"Signed by {state.key}."
    lines += [[], [(signed, "")]]
    if not you:
        words = choice_words(state.believed)
        taken = f"Taken without a question: {words}." if words else "All that is shared waits in the inbox."
        lines += [[], [(taken, "")]]
    lines.append([])
    for record, citation in records[:MEMBER_RECORDS]:
        text = str(record.shown_value("fact" if record.kind == "fact" else "title") or "")
        note = record.status if record.status != "active" else "several texts" if record.conflicts() else ""
        here = citation or "not taken"
        lines.append([(f"{here:<10} ", "cite" if citation else "dim"), (text, ""), (f"  {note}", "warning")])
    if len(records) > MEMBER_RECORDS:
        lines.append([(f"… and {len(records) - MEMBER_RECORDS:,} more", "dim")])
    return lines


def exchange(screen: ActionScreen, things: Sequence[str]) -> None:
    """Send and receive now, on a thread of its own; then say what arrived."""

    team = screen.engine.team

    def work() -> None:
        try:
            team.exchange(wait=True)
            screen.later(screen.say, " ".join(team.report) or "Nothing is shared here yet.")
        except MemorandaError as error:
            screen.later(screen.say, str(error), "error")
        screen.later(screen.refresh_rows)

    screen.say("Exchanging …")
    screen.in_background(work, "team")


PANE = Pane(
    "team",
    "Team",
    read_team,
    empty=NOBODY_SHARES_HINT,
    actions=(Action("preview.follow", "exchange", (str,), run=exchange),),
)
