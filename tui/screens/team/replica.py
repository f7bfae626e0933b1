"""Replica: what teams shared, read from the PostgreSQL database of `team.replica`; nothing there can be changed from
here. `/` searches, `t` keeps to one team, `r` reads again, enter opens a record on the whole screen."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.clock import ago
from store.base.errors import MemorandaError
from store.config.configuration import load as load_config
from store.team.postgres.reader import ReplicaFound, ReplicaReader, ReplicaRecord, ReplicaTeam
from tui.commands.files.replica import fields, grouped, team_line, written_by
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, heading, row
from tui.render.badges import KIND_GLYPHS
from tui.render.field_diff import Line
from tui.render.line_parts import row as field
from tui.render.plurals import count
from tui.screens.list_screen import ListScreen
from tui.theme.escape import visible
from tui.widgets.prompt_bar import AskBar
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.clock import Clock
    from store.base.location import Location

SHOWN = 200  # the newest records of a list
HITS = 100
UNSET = (
    "No database is set. `memoranda config team.replica postgresql://user@host/name`, or `0` `s`, names one to which"
    " `memoranda replicate` copied what a team shared."
)
NOTHING = "Nothing of these teams may be read there, or nothing was shared yet."


class ReplicaRows(NumberedRows):
    """Records in groups of (heading, records); a group without heading has no row for it."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[ReplicaRecord]]], now: str) -> None:
        self.entries: list[str | ReplicaRecord] = []
        for name, records in groups:
            self.entries += [*([name] if name else []), *records]
        self._now = now
        self._places = {self.key(index): index for index in range(len(self.entries))}

    def __len__(self) -> int:
        return len(self.entries)

    def selectable(self, index: int) -> bool:
        return not isinstance(self.entries[index], str)

    def key(self, index: int) -> Hashable:
        one = self.entries[index]
        return one if isinstance(one, str) else (one.team, one.id)

    def index_of(self, key: Hashable) -> int | None:
        return self._places.get(key)

    def record(self, key: Hashable) -> ReplicaRecord | None:
        index = self._places.get(key)
        one = None if index is None else self.entries[index]
        return one if isinstance(one, ReplicaRecord) else None

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self.entries[index]
        if isinstance(one, str):
            return [heading(one, "", width)]
        age = ago(self._now, one.created) if one.created else ""
        about = " · ".join(filter(None, (one.domain, written_by(one), one.team, age)))
        look = "glyph-record" if one.kind == "decision" else "dim"
        text = visible(one.text.replace("\n", " "))
        return row(
            [(f"{KIND_GLYPHS.get(one.kind, '·')} ", look)], text, "", [], width, second=[(visible(about), "dim")]
        )


class ReplicaScreen(ListScreen["str | None"]):
    """Shows the records of a database, searched with `query`, of one `team` or of all. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="replica.close", tooltip="Leave record, search and team, then close"),
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
        self.listed.focus()
        self.action_again()

    def on_unmount(self) -> None:
        if self._reader is not None:
            self._asked += 1
            self.app.run_worker(self._reader.close, thread=True, exit_on_error=False, group="replica")

    # reading

    def action_again(self) -> None:
        """Read what is there now, instead of what is being read."""
        self._asked += 1
        self._title("reading …")
        self._read(self._asked, self._query, self._team)

    @work(thread=True, group="replica", exit_on_error=False, description="read a database of teams")
    def _read(self, asked: int, query: str, team: str) -> None:
        found, teams, failed = ReplicaFound(), self._teams, ""
        if self._reader is not None:
            self._reader.stop()  # what was asked before
        with self._busy:
            if asked != self._asked:
                return
            try:
                if self._reader is None or not self._reader.place:
                    self._reader = ReplicaReader(load_config(self._location))
                if not self._reader.place:
                    failed = UNSET
                else:
                    teams = self._reader.teams()
                    if query:
                        found = self._reader.search(query, team, HITS)
                    else:
                        found = ReplicaFound(self._reader.newest(team, SHOWN))
            except MemorandaError as error:
                failed = str(error)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, asked, found, teams, failed)

    def _show(self, asked: int, found: ReplicaFound, teams: list[ReplicaTeam], failed: str) -> None:
        if not self.is_attached or asked != self._asked:
            return
        self._teams, self._record = teams, None
        groups = grouped(found.records) if self._query else [("", found.records)]
        self._rows = ReplicaRows(groups, self._clock())
        shown = self.listed
        shown.empty_text = failed or (f"No record contains “{self._query}”." if self._query else NOTHING)
        shown.set_rows(self._rows)
        first = next((at for at in range(len(self._rows)) if self._rows.selectable(at)), None)
        if first is not None:
            shown.select(self._rows.key(first))
            self._record = self._rows.record(self._rows.key(first))  # also where the cursor was on it before
        self._title(self._counted(len(found.records), failed))
        self._preview()
        if found.note:
            self.say(found.note, "warning")

    def _counted(self, shown: int, failed: str) -> str:
        if failed:
            return ""
        if self._query:
            return f"{shown:,} found" + (f" in {self._team}" if self._team else "")
        many = sum(one.records for one in self._teams if self._team in ("", one.name))
        newest = f"the newest {shown:,} of " if shown < many else ""
        return f"{newest}{count(many, 'record')} of {self._team or count(len(self._teams), 'team')}"

    def _title(self, status: str) -> None:
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
            lines: list[Line] = []
            for label, text in fields(one):
                first, *rest = visible(text).split("\n") if label else text.split("\n")
                lines.append(field(label, first) if label else [(visible(first), "title")])
                lines += [[(f"  {visible(line)}", "")] for line in rest]
                lines += [] if label else [[]]
            self.told.show(lines)
        else:
            self.told.show([[(team_line(team), "dim")] for team in self._teams])

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
            self.told.focus()

    def action_leave(self) -> None:
        """Leave one thing at a time: the record that is open, the search, the team, the screen."""
        if self.has_class("-whole"):
            self.remove_class("-whole")
            self.listed.focus()
        elif self._query or self._team:
            self._team = "" if not self._query else self._team
            self._query = ""
            self.action_again()
        else:
            self.dismiss(None)
