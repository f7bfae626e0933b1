"""Team: who shares through the remote of this project, what each shared, and what is wrong with a stream. `s` exchanges
now; enter opens a row on the whole screen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.citations import cite
from store.base.clock import ago
from store.base.errors import MemorandaError
from store.memory import Memory
from store.team.exchange import Team
from store.team.team_file import StreamState
from store.team.view import SharedRecord
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.render.metrics.metric import size
from tui.render.plurals import count
from tui.screens.list_screen import ListScreen
from tui.theme.escape import visible
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.clock import Clock
    from store.base.location import Location
    from tui.workers.background.team_worker import TeamWorker

SHOWN = 200  # records of one writer that are listed
HINT = "Nobody shares yet. `memoranda share work decisions` begins, and shows first what would leave this machine."


@dataclass(frozen=True, slots=True)
class Member:
    """One stream, whether its writer is oneself (see `Team.you`), the bytes that it takes here, and the records of its
    writer: of each what is known, and its citation here, empty without one."""

    state: StreamState
    you: str
    bytes: int
    records: tuple[tuple[SharedRecord, str], ...]


class TeamRows(NumberedRows):
    """The writers, one's own first."""

    def __init__(self, members: list[Member], now: str) -> None:
        self._members = members
        self._now = now

    def __len__(self) -> int:
        return len(self._members)

    def key(self, index: int) -> Hashable:
        return self._members[index].state.writer

    def index_of(self, key: Hashable) -> int | None:
        return next((at for at, one in enumerate(self._members) if one.state.writer == key), None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self._members[index]
        name = visible(one.state.name or one.state.writer) + (f" ({one.you})" if one.you else "")
        about = visible(f"{count(len(one.records), 'record')} · {ago(self._now, one.state.at)}")
        if one.state.said:
            return row([("⚠ ", "removed")], name, "bold", [(visible(one.state.said), "warning")], width)
        return row([("● ", "added")], name, "bold", [(about, "dim")], width)


def look(memory: Memory) -> list[Member]:
    """Read who shares, and what."""
    with Team(memory) as team:
        here = {one.id: cite("fact" if one.id[0] == "F" else "decision", one.number) for one in team.held()}
        return [
            Member(
                state,
                team.you(state.writer),
                team.size(state),
                tuple((record, here.get(record.id, "")) for record in team.records(state.writer)),
            )
            for state, _ in team.members()
        ]


def describe(one: Member) -> list[Line]:
    """Return the lines about a writer."""
    state = one.state
    parts = (count(state.seq, "operation"), size(one.bytes) if one.bytes else "")
    lines: list[Line] = [
        [(state.name or "(no name)", "title"), (f"  {state.writer}", "dim")],
        [(f"{', '.join(filter(None, parts))}, the last received {state.at[:16].replace('T', ' ')}", "dim")],
    ]
    if state.said:
        lines += [[], [(f"Something is wrong: {state.said}. What was good before stays.", "warning")]]
    signed = (
        f"Signed by {state.key}." if state.key else "Not signed: whoever may push to the remote could have written it."
    )
    lines += [[], [(signed, "")]]
    if not one.you:
        words = " ".join(dict.fromkeys(state.believed.replace("+", "").split()))
        taken = f"Taken without a question: {words}." if words else "All that is shared waits in the inbox."
        lines += [[], [(taken, "")]]
    lines.append([])
    for record, citation in one.records[:SHOWN]:
        text = str(record.value("fact" if record.kind == "fact" else "title") or "")
        note = record.status if record.status != "active" else "several texts" if record.conflicts() else ""
        here = citation or "not taken"
        lines.append([(f"{here:<10} ", "cite" if citation else "dim"), (text, ""), (f"  {note}", "warning")])
    if len(one.records) > SHOWN:
        lines.append([(f"… and {len(one.records) - SHOWN:,} more", "dim")])
    return lines


class TeamScreen(ListScreen["str | None"]):
    """Shows the team of a memory. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="team.close", tooltip="Close what is open, then the team"),
        Binding("s", "exchange", "Exchange", id="team.exchange", tooltip="Send and receive now"),
    ]
    NAME, EMPTY = "team", HINT
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
        self._members: list[Member] = []
        self._shown: Hashable = None
        self._said: list[str] = []  # what came of the last exchange, until the cursor moves

    def on_mount(self) -> None:
        self.listed.focus()
        self._title()
        self._look()

    @work(thread=True, exclusive=True, group="team", exit_on_error=False, description="look who shares")
    def _look(self, exchange: bool = False) -> None:
        said: list[str] = []
        try:
            if exchange:
                done = self._worker.run(wait=True)
                said = (done[1] or ["Nothing new on either side."]) if done else ["Nothing is shared here yet."]
            with Memory(self._location, "app", self._clock, create=False) as memory:
                members = look(memory)
        except MemorandaError as error:
            members, said = self._members, [str(error)]
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show, members, said)

    def _show(self, members: list[Member], said: list[str]) -> None:
        if self.is_attached:
            self._members, self._said = members, said
            self.listed.set_rows(TeamRows(members, self._clock()))
            self._title()
            self._preview()

    def _title(self, doing: str = "") -> None:
        wrong = sum(bool(one.state.said) for one in self._members)
        right = doing or (f"{wrong:,} with something wrong" if wrong else "")
        self.put_title(self._location.name, right, "$text-warning" if wrong else "$dim")
        self.put_keys([("s", "exchanges now", "exchange"), ("enter", "opens", "open")])

    def _preview(self) -> None:
        one = next((one for one in self._members if one.state.writer == self._shown), None)
        said: list[Line] = [[(visible(line), "warning")] for line in self._said]
        about = [] if one is None else describe(one)
        self.told.show([*said, *([[]] if said and about else []), *about])

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
        self.told.focus()

    def action_leave(self) -> None:
        """Go back from the writer that is open to the list, or close the screen."""
        if not self.has_class("-whole"):
            self.dismiss(None)
            return
        self.remove_class("-whole")
        self.listed.focus()

    def action_exchange(self) -> None:
        """Send and receive now, on a thread of its own."""
        self._title("Exchanging …")
        self._look(exchange=True)
