"""Agents: who is connected, what each did, and what each was sent and why; refreshed while they work. Enter opens a
row on the whole screen, `x` mutes the records of a text that was sent, or unmutes them, `u` undoes what an agent wrote
in a session, `p` pauses all doors for an hour, or resumes them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from shlex import quote
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.citations import cite, parse_citation
from store.base.clock import Clock, format_local_time
from store.base.errors import MemorandaError
from store.base.location import Location
from store.base.vocabulary import pack_key, unpack_key
from store.doors.agent_log import (
    AgentActivity,
    AgentCall,
    Injection,
    list_agent_activity,
    list_agent_calls,
    list_injections,
)
from store.doors.trust import get_pause_end, pause_doors, resume_doors
from store.memory import Memory
from store.records.mutes import MUTE_KINDS
from tui.commands.agents import NO_AGENT_YET
from tui.lists.record_rows import NumberedRows, RowLine, row_lines
from tui.render.details import activity_lines, agent_call_line, injection_line
from tui.render.lines import StyledLine, format_count
from tui.screens.base import ListScreen
from tui.theme.escape import visible
from tui.widgets.record_list import RecordList

REFRESH_SECONDS = 1.0  # seconds between two refreshes
MOST_LISTED = 200  # maximum calls and texts listed

AgentRow = AgentActivity | AgentCall | Injection


@dataclass(frozen=True, slots=True)
class AgentsSeen:
    """One refresh: agents, then their activity, newest first; until when the doors are paused; the keys of the records
    in these texts that are muted."""

    rows: tuple[AgentRow, ...]
    now: str
    paused: str
    muted: frozenset[int] = frozenset()


class AgentRows(NumberedRows):
    """Agents, then calls and sent texts, one a line."""

    def __init__(self, seen: AgentsSeen) -> None:
        self._seen = seen

    def __len__(self) -> int:
        return len(self._seen.rows)

    def key(self, index: int) -> Hashable:
        return agent_row_key(self._seen.rows[index])

    def lines(self, index: int, width: int) -> list[RowLine]:
        seen, now = self._seen.rows[index], self._seen.now
        if isinstance(seen, AgentActivity):
            head = ("● ", "added") if seen.at_work else ("○ ", "dim")
            return row_lines([head], visible(activity_lines(seen, now)[0]), "bold", [], width)
        if isinstance(seen, AgentCall):
            text = visible(f"{seen.client}  {agent_call_line(seen, now)}")
            return row_lines([("  ", "")], text, "" if seen.writes else "dim", [], width)
        return row_lines([("→ ", "cite")], visible(f"{seen.client}  {injection_line(seen, now)}"), "", [], width)


def agent_row_key(row: AgentRow) -> tuple[str, str | int]:
    """Return a key that identifies the row."""
    return ("agent", row.agent) if isinstance(row, AgentActivity) else (type(row).__name__, row.id)


def read_agent_activity(memory: Memory) -> AgentsSeen:
    """Read what agents did, what they were sent, and whether they are paused."""
    database, now = memory.database, memory.now
    did: list[AgentCall | Injection] = [
        *list_agent_calls(database, limit=MOST_LISTED),
        *list_injections(database, limit=MOST_LISTED),
    ]
    did.sort(key=lambda row: (row.at, row.id), reverse=True)
    agents = list_agent_activity(database, now)
    shown = did[:MOST_LISTED]
    muted = memory.mutes.filter_muted_keys({key for row in shown for key in _mutable_keys(row)})
    return AgentsSeen((*agents, *shown), now, get_pause_end(memory.location.path, now), muted)


class AgentsScreen(ListScreen["str | None"]):
    """Shows what agents did, refreshed every second on a thread of its own. Dismisses with the line of a verb to run,
    or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="agents.close", tooltip="Close what is open, then the agents"),
        Binding(
            "x",
            "mute",
            "Mute",
            id="agents.mute",
            tooltip="Send no agent the records of this text; or send them again",
        ),
        Binding("u", "undo", "Undo", id="agents.undo", tooltip="Undo everything that it wrote in this session"),
        Binding("p", "pause", "Pause", id="agents.pause", tooltip="Pause all agents for an hour, or end the pause"),
    ]
    NAME, EMPTY = "agents", NO_AGENT_YET
    DEFAULT_CSS = """
    AgentsScreen {
        #agents-more { height: 12; }
        &.-whole #agents { display: none; }
        &.-whole #agents-more { height: 1fr; border-top: none; }
    }
    """

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._seen = AgentsSeen((), clock(), "")
        self._version = -1  # of the file, at the last refresh
        self._shown: Hashable = None
        self._left = False

    def first_rows(self) -> AgentRows:
        return AgentRows(self._seen)

    def on_mount(self) -> None:
        self._draw_title()
        self.row_list.focus()
        self._refresh()
        self.set_interval(REFRESH_SECONDS, self._refresh)

    def on_unmount(self) -> None:
        self._left = True

    @work(thread=True, exclusive=True, group="agents", exit_on_error=False, description="look what agents did")
    def _refresh(self) -> None:
        with Memory(self._location, "app", self._clock, create=False) as memory:
            self._later(read_agent_activity(memory))

    def _later(self, seen: AgentsSeen) -> None:
        if not self._left and self.app.is_running:
            self.app.call_from_thread(self._show_rows, seen)

    def _show_rows(self, seen: AgentsSeen) -> None:
        if self._left:
            return
        before, self._seen = self._seen, seen
        self._draw_title()
        if (before.rows, before.muted) != (seen.rows, seen.muted):
            self.row_list.set_rows(AgentRows(seen))
            self._preview(stay=True)

    def _draw_title(self) -> None:
        at_work = sum(isinstance(row, AgentActivity) and row.at_work for row in self._seen.rows)
        status = (
            f"paused until {format_local_time(self._seen.paused)}" if self._seen.paused else f"{at_work} at work"
        )
        self.put_title(self._location.display_name, status, "$text-error" if self._seen.paused else "")
        row = self._current_row()
        keys: list[tuple[str, str, str]] = []
        if cited := _mutable_keys(row):
            muted = self._seen.muted.issuperset(cited)
            keys = [("x", "lets it in again" if muted else "mutes what it says", "mute")]
        if isinstance(row, AgentCall) and row.writes:
            keys = [("u", "undoes its session", "undo")]
        keys.append(("p", "ends the pause" if self._seen.paused else "pauses all for an hour", "pause"))
        if row is not None and not self._is_whole:
            keys.append(("enter", "opens", "open"))
        self.put_keys(keys)

    def _current_row(self) -> AgentRow | None:
        return next((row for row in self._seen.rows if agent_row_key(row) == self._shown), None)

    def _preview(self, stay: bool = False) -> None:
        row = self._current_row()
        self.preview.show_lines(
            [] if row is None else agent_row_detail(row, self._seen.now, self._seen.muted), stay=stay
        )

    @property
    def _is_whole(self) -> bool:
        """Tell whether a row fills the screen."""
        return self.has_class("-whole")

    def action_open(self) -> None:
        """Show the row under the cursor on the whole screen."""
        if self._current_row() is not None:
            self.add_class("-whole")
            self.preview.focus()
            self._draw_title()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    def action_leave(self) -> None:
        """Go back from the row that is open to the list, or close the screen."""
        if not self._is_whole:
            self.dismiss(None)
            return
        self.remove_class("-whole")
        self.row_list.focus()
        self._draw_title()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self._shown = event.key
        self._draw_title()
        self._preview()

    def action_undo(self) -> None:
        """Undo all that the agent of the call under the cursor wrote in its session, after a confirmation."""
        row = self._current_row()
        if isinstance(row, AgentCall) and row.writes:
            self.dismiss(f"undo --all-by {row.door}:{row.client} --session {quote(row.session)}")

    def action_pause(self) -> None:
        """Pause all doors for an hour, or resume them."""
        path = self._location.path
        try:
            if self._seen.paused:
                resume_doors(path)
            else:
                pause_doors(path, self._clock())
        except MemorandaError as error:
            self.app.notify(str(error), severity="warning", markup=False)
        self._refresh()

    def action_mute(self) -> None:
        """Mute the records of the text under the cursor; unmute them if all are muted."""
        if keys := _mutable_keys(self._current_row()):
            self._mute(keys, not self._seen.muted.issuperset(keys))

    @work(thread=True, group="agents-mute", exit_on_error=False, description="mute the records of a text")
    def _mute(self, keys: list[int], muting: bool) -> None:
        try:
            with Memory(self._location, "app", self._clock, create=False) as memory:
                (memory.mutes.mute_keys if muting else memory.mutes.unmute_keys)(keys)
                self._later(read_agent_activity(memory))
            said, severity = (
                f"{'Muted' if muting else 'Unmuted'} {format_count(len(keys), 'record')}.",
                "information",
            )
        except MemorandaError as error:
            said, severity = str(error), "warning"
        if not self._left and self.app.is_running:
            self.app.call_from_thread(self.app.notify, said, severity=severity, markup=False)


def _mutable_keys(row: AgentRow | None) -> list[int]:
    """Return the keys of the records in a sent text that can be muted."""
    if not isinstance(row, Injection):
        return []
    cited = (parse_citation(citation) for citation in row.why)
    return [pack_key(citation.kind, int(citation.target)) for citation in cited if citation.kind in MUTE_KINDS]


def agent_row_detail(row: AgentRow, now: str, muted: frozenset[int] = frozenset()) -> list[StyledLine]:
    """Describe a row in full; say which records are `muted`."""
    if isinstance(row, AgentActivity):
        known = ", ".join(row.clients)
        return [[(line, "")] for line in activity_lines(row, now)] + [
            [(f"introduced itself as {visible(known)}", "dim")]
        ]
    if isinstance(row, AgentCall):
        lines: list[StyledLine] = [[(f"{row.name}  {format_local_time(row.at)}", "title")]]
        lines.append(
            [(visible(f"by {row.client}, session {row.session or '-'}, {row.tokens:,} tokens answered"), "dim")]
        )
        for word, citations in (("Read  ", row.reads), ("Wrote ", row.writes)):
            if citations:
                lines.append([(word, "label"), (visible(" ".join(citations)), "cite")])
        if row.problem:
            lines.append([("Failed ", "label"), (row.problem, "")])
        return lines
    title = (
        f"{row.client}, {format_local_time(row.at)}, {row.event}, "
        f"{row.tokens:,} tokens, session {row.session or '-'}"
    )
    lines = [[(visible(title), "title")]]
    if row.question:
        lines.append([("Prompt ", "label"), (visible(" ".join(row.question.split())[:300]), "")])
    silent = {cite(*unpack_key(key)) for key in muted.intersection(_mutable_keys(row))}
    for citation, why in row.why.items():
        used = ", used by the reply" if citation in row.used else ""
        out = ", muted" if citation in silent else ""
        lines.append([(f"{citation:6}", "cite"), (visible(f" {why}{used}{out}"), "dim")])
    return [*lines, [], *([(visible(line), "")] for line in row.text.split("\n"))]
