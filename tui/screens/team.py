"""The screens of teams: who shares what, and what they shared.

Replica: what teams shared, read from the PostgreSQL database of `team.replica`; nothing there can be changed from
here. `/` searches, `t` keeps to one team, `r` reads again, enter opens a record on the whole screen.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.citations import cite
from store.base.clock import Clock, format_age
from store.base.errors import MemorandaError
from store.base.location import Location
from store.config.configuration import load_config
from store.memory import Memory
from store.team.exchange import Team
from store.team.postgres import ReplicaFound, ReplicaReader, ReplicaRecord, ReplicaTeam
from store.team.stream import SharedRecord
from store.team.team_file import StreamState
from tui.commands.team import group_by_match, replica_fields, replica_writer, team_line
from tui.lists.record_rows import ListedRows, NumberedRows, RowLine, heading_line, row_lines
from tui.render.lines import KIND_GLYPHS, StyledLine, format_count, label_row
from tui.render.metrics import format_size
from tui.screens.base import ListScreen
from tui.theme.escape import visible
from tui.widgets.inputs import AskBar
from tui.widgets.record_list import RecordList
from tui.workers.background import TeamWorker

NEWEST_SHOWN = 200  # the newest records of a list
REPLICA_HITS = 100
REPLICA_UNSET = (
    "No database is set. `memoranda config team.replica postgresql://user@host/name`, or `0` `s`, names one to which"
    " `memoranda team replicate` copied what a team shared."
)
REPLICA_EMPTY = "Nothing of these teams may be read there, or nothing was shared yet."


class ReplicaRows(NumberedRows):
    """Records in groups of (heading, records); a group without heading has no row for it."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[ReplicaRecord]]], now: str) -> None:
        self.entries: list[str | ReplicaRecord] = []
        for name, records in groups:
            self.entries += [*([name] if name else []), *records]
        self._now = now

    def __len__(self) -> int:
        return len(self.entries)

    def selectable(self, index: int) -> bool:
        return not isinstance(self.entries[index], str)

    def key(self, index: int) -> Hashable:
        one = self.entries[index]
        return one if isinstance(one, str) else (one.team, one.id)

    def record(self, key: Hashable) -> ReplicaRecord | None:
        index = self.index_of(key)
        one = None if index is None else self.entries[index]
        return one if isinstance(one, ReplicaRecord) else None

    def lines(self, index: int, width: int) -> list[RowLine]:
        one = self.entries[index]
        if isinstance(one, str):
            return [heading_line(one, "", width)]
        age = format_age(self._now, one.created_at) if one.created_at else ""
        about = " · ".join(filter(None, (one.domain, replica_writer(one), one.team, age)))
        look = "glyph-record" if one.kind == "decision" else "dim"
        text = visible(one.text.replace("\n", " "))
        return row_lines(
            [(f"{KIND_GLYPHS.get(one.kind, '·')} ", look)], text, "", [], width, second=[(visible(about), "dim")]
        )


class ReplicaScreen(ListScreen["str | None"]):
    """Shows the records of a database, searched with `query`, of one `team` or of all. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q", "leave", "Close", id="replica.close", tooltip="Leave record, search and team, then close"
        ),
        Binding("slash", "search", "Search", id="replica.search", tooltip="Search by words, and by meaning"),
        Binding("t", "team", "Team", id="replica.team", tooltip="Keep to the next team, then to all again"),
        Binding("r", "again", "Read again", id="replica.again", tooltip="Read what is there now"),
    ]
    NAME = "replica"
    DEFAULT_CSS = """
    ReplicaScreen {
        &.-whole #replica { display: none; }
        &.-whole #replica-more { border-top: none; }
    }
    """

    def __init__(self, location: Location, clock: Clock, query: str = "", team: str = "") -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._query = query
        self._team = team
        self._teams: list[ReplicaTeam] = []
        self._rows = ReplicaRows([], "")
        self._record: ReplicaRecord | None = None
        self._reader: ReplicaReader | None = None
        self._asked = 0  # what was asked for last, by number
        self._busy = Lock()

    def bars(self) -> Iterable[AskBar]:
        return (AskBar(id="ask"),)

    def on_mount(self) -> None:
        self.row_list.focus()
        self.action_again()

    def on_unmount(self) -> None:
        if self._reader is not None:
            self._asked += 1
            self.app.run_worker(self._reader.close, thread=True, exit_on_error=False, group="replica")

    # reading

    def action_again(self) -> None:
        """Read what is there now, instead of what is being read."""
        self._asked += 1
        self._draw_title("reading …")
        self._read_replica(self._asked, self._query, self._team)

    @work(thread=True, group="replica", exit_on_error=False, description="read a database of teams")
    def _read_replica(self, asked: int, query: str, team: str) -> None:
        found, teams, failed = ReplicaFound(), self._teams, ""
        if self._reader is not None:
            self._reader.stop_query()  # what was asked before
        with self._busy:
            if asked != self._asked:
                return
            try:
                if self._reader is None or not self._reader.place:
                    self._reader = ReplicaReader(load_config(self._location))
                if not self._reader.place:
                    failed = REPLICA_UNSET
                else:
                    teams = self._reader.list_teams()
                    if query:
                        found = self._reader.search_records(query, team, REPLICA_HITS)
                    else:
                        found = ReplicaFound(self._reader.newest_records(team, NEWEST_SHOWN))
            except MemorandaError as error:
                failed = str(error)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_rows, asked, found, teams, failed)

    def _show_rows(self, asked: int, found: ReplicaFound, teams: list[ReplicaTeam], failed: str) -> None:
        if not self.is_attached or asked != self._asked:
            return
        self._teams, self._record = teams, None
        groups = group_by_match(found.records) if self._query else [("", found.records)]
        self._rows = ReplicaRows(groups, self._clock())
        shown = self.row_list
        shown.empty_text = failed or (f"No record contains “{self._query}”." if self._query else REPLICA_EMPTY)
        shown.set_rows(self._rows)
        first = next((at for at in range(len(self._rows)) if self._rows.selectable(at)), None)
        if first is not None:
            shown.select(self._rows.key(first))
            self._record = self._rows.record(self._rows.key(first))  # also where the cursor was on it before
        self._draw_title(self._count_words(len(found.records), failed))
        self._preview()
        if found.note:
            self.say(found.note, "warning")

    def _count_words(self, shown: int, failed: str) -> str:
        if failed:
            return ""
        if self._query:
            return f"{shown:,} found" + (f" in {self._team}" if self._team else "")
        many = sum(one.records for one in self._teams if self._team in ("", one.name))
        newest = f"the newest {shown:,} of " if shown < many else ""
        return f"{newest}{format_count(many, 'record')} of {self._team or format_count(len(self._teams), 'team')}"

    def _draw_title(self, status: str) -> None:
        place = self._reader.place if self._reader is not None else ""
        asked = f"  / {visible(self._query)}" if self._query else ""
        self.put_title("read-only", place, "$dim", (f"  {visible(status)}", ""), (asked, "$text-accent"))
        keys = [("/", "search", "search"), ("enter", "opens", "open"), ("r", "read again", "again")]
        if len(self._teams) > 1:
            keys.insert(1, ("t", f"team: {self._team or 'all'}", "team"))
        back = "back" if self.has_class("-whole") or self._query or self._team else "closes"
        self.put_keys(keys, back)

    def _preview(self) -> None:
        one = self._record
        if one is not None:
            lines: list[StyledLine] = []
            for label, text in replica_fields(one):
                first, *rest = visible(text).split("\n") if label else text.split("\n")
                lines.append(label_row(label, first) if label else [(visible(first), "title")])
                lines += [[(f"  {visible(line)}", "")] for line in rest]
                lines += [] if label else [[]]
            self.preview.show_lines(lines)
        else:
            self.preview.show_lines([[(team_line(team), "dim")] for team in self._teams])

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self._record = self._rows.record(event.key)
        self._preview()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    # what keys do

    def action_search(self) -> None:
        """Ask for words, and search for them."""
        self.query_one(AskBar).ask("Search", self._query, self._search, over=True)

    def _search(self, text: str) -> None:
        self._query = text.strip()
        self.action_again()

    def action_team(self) -> None:
        """Keep to the next team; after the last one to all again."""
        names = ["", *(one.name for one in self._teams)]
        if len(names) > 2:
            self._team = names[(names.index(self._team) + 1) % len(names)] if self._team in names else ""
            self.action_again()

    def action_open(self) -> None:
        """Show the record under the cursor on the whole screen."""
        if self._record is not None:
            self.add_class("-whole")
            self.preview.focus()

    def action_leave(self) -> None:
        """Leave one thing at a time: the record that is open, the search, the team, the screen."""
        if self.has_class("-whole"):
            self.remove_class("-whole")
            self.row_list.focus()
        elif self._query or self._team:
            self._team = "" if not self._query else self._team
            self._query = ""
            self.action_again()
        else:
            self.dismiss(None)


# Team: who shares through the remote of this project, what each shared, and what is wrong with a stream. `s` exchanges
# now; enter opens a row on the whole screen.

MEMBER_RECORDS = 200  # records of one writer that are listed
NOBODY_SHARES_HINT = (
    "Nobody shares yet. `memoranda team share work decisions` begins, and shows first what would leave this"
    " machine."
)


@dataclass(frozen=True, slots=True)
class TeamMember:
    """One stream, whether its writer is oneself (see `Team.you`), the bytes that it takes here, and the records of its
    writer: of each what is known, and its citation here, empty without one."""

    state: StreamState
    you: str
    bytes: int
    records: tuple[tuple[SharedRecord, str], ...]


def team_rows(members: Sequence[TeamMember], now: str) -> ListedRows[TeamMember]:
    """Return the rows of writers."""

    def draw(one: TeamMember, width: int) -> list[RowLine]:
        name = visible(one.state.name or one.state.writer) + (f" ({one.you})" if one.you else "")
        if one.state.said:
            return row_lines([("⚠ ", "removed")], name, "bold", [(visible(one.state.said), "warning")], width)
        about = visible(f"{format_count(len(one.records), 'record')} · {format_age(now, one.state.at)}")
        return row_lines([("● ", "added")], name, "bold", [(about, "dim")], width)

    return ListedRows(members, draw, lambda one: one.state.writer)


def read_members(memory: Memory) -> list[TeamMember]:
    """Read who shares, and what."""
    with Team(memory) as team:
        here = {one.id: cite("fact" if one.id[0] == "F" else "decision", one.number) for one in team.held_records()}
        return [
            TeamMember(
                state,
                team.you_label(state.writer),
                team.stream_size(state),
                tuple((record, here.get(record.id, "")) for record in team.writer_records(state.writer)),
            )
            for state, _ in team.members()
        ]


def describe_member(one: TeamMember) -> list[StyledLine]:
    """Return the lines about a writer."""
    state = one.state
    parts = (format_count(state.seq, "operation"), format_size(one.bytes) if one.bytes else "")
    lines: list[StyledLine] = [
        [(state.name or "(no name)", "title"), (f"  {state.writer}", "dim")],
        [(f"{', '.join(filter(None, parts))}, the last received {state.at[:16].replace('T', ' ')}", "dim")],
    ]
    if state.said:
        lines += [[], [(f"Something is wrong: {state.said}. What was good before stays.", "warning")]]
    signed = (
        f"Signed by {state.key}."
        if state.key
        else "Not signed: whoever may push to the remote could have written it."
    )
    lines += [[], [(signed, "")]]
    if not one.you:
        words = " ".join(dict.fromkeys(state.believed.replace("+", "").split()))
        taken = f"Taken without a question: {words}." if words else "All that is shared waits in the inbox."
        lines += [[], [(taken, "")]]
    lines.append([])
    for record, citation in one.records[:MEMBER_RECORDS]:
        text = str(record.shown_value("fact" if record.kind == "fact" else "title") or "")
        note = record.status if record.status != "active" else "several texts" if record.conflicts() else ""
        here = citation or "not taken"
        lines.append([(f"{here:<10} ", "cite" if citation else "dim"), (text, ""), (f"  {note}", "warning")])
    if len(one.records) > MEMBER_RECORDS:
        lines.append([(f"… and {len(one.records) - MEMBER_RECORDS:,} more", "dim")])
    return lines


class TeamScreen(ListScreen["str | None"]):
    """Shows the team of a memory. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="team.close", tooltip="Close what is open, then the team"),
        Binding("s", "exchange", "Exchange", id="team.exchange", tooltip="Send and receive now"),
    ]
    NAME, EMPTY = "team", NOBODY_SHARES_HINT
    DEFAULT_CSS = """
    TeamScreen {
        #team-more { height: 2fr; }
        &.-whole #team { display: none; }
        &.-whole #team-more { border-top: none; }
    }
    """

    def __init__(self, location: Location, clock: Clock, worker: TeamWorker) -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._worker = worker
        self._members: list[TeamMember] = []
        self._shown: Hashable = None
        self._said: list[str] = []  # what came of the last exchange, until the cursor moves

    def on_mount(self) -> None:
        self.row_list.focus()
        self._draw_title()
        self._read_team()

    @work(thread=True, exclusive=True, group="team", exit_on_error=False, description="look who shares")
    def _read_team(self, exchange: bool = False) -> None:
        said: list[str] = []
        try:
            if exchange:
                done = self._worker.exchange(wait=True)
                said = ["Nothing is shared here yet."] if done is None else done or ["Nothing new on either side."]
            with Memory(self._location, "app", self._clock, create=False) as memory:
                members = read_members(memory)
        except MemorandaError as error:
            members, said = self._members, [str(error)]
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_rows, members, said)

    def _show_rows(self, members: list[TeamMember], said: list[str]) -> None:
        if self.is_attached:
            self._members, self._said = members, said
            self.row_list.set_rows(team_rows(members, self._clock()))
            self._draw_title()
            self._preview()

    def _draw_title(self, doing: str = "") -> None:
        wrong = sum(bool(one.state.said) for one in self._members)
        right = doing or (f"{wrong:,} with something wrong" if wrong else "")
        self.put_title(self._location.display_name, right, "$text-warning" if wrong else "$dim")
        self.put_keys([("s", "exchanges now", "exchange"), ("enter", "opens", "open")])

    def _preview(self) -> None:
        one = next((one for one in self._members if one.state.writer == self._shown), None)
        said: list[StyledLine] = [[(visible(line), "warning")] for line in self._said]
        about = [] if one is None else describe_member(one)
        self.preview.show_lines([*said, *([[]] if said and about else []), *about])

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.key != self._shown:
            self._said = []
        self._shown = event.key
        self._preview()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Show the writer under the cursor on the whole screen."""
        self.add_class("-whole")
        self.preview.focus()

    def action_leave(self) -> None:
        """Go back from the writer that is open to the list, or close the screen."""
        if not self.has_class("-whole"):
            self.dismiss(None)
            return
        self.remove_class("-whole")
        self.row_list.focus()

    def action_exchange(self) -> None:
        """Send and receive now, on a thread of its own."""
        self._draw_title("Exchanging …")
        self._read_team(exchange=True)
