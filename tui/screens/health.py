"""The screens of the doctor, of evidence and of plots.

Evidence: what facts and decisions are bound to, the worst first, and what it is now. `l` looks again, `r` runs a
command or asks an address after showing it, `b` takes what is there now, `x` takes it away, enter opens the record.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from store.base.citations import parse_citation
from store.base.clock import Clock, format_age
from store.base.errors import MemorandaError
from store.base.location import Location
from store.evidence.evidence import BoundEvidence
from store.evidence.items import RUN_TYPES
from store.memory import Memory
from store.records.timeline import Trend, measure_trends
from store.upkeep.checks import NOTE, OK, WRONG, Finding
from store.upkeep.doctor import examine
from tui.commands.evidence import WORST_FIRST, evidence_text, run_question
from tui.commands.health import doctor_verdict
from tui.lists.record_rows import NumberedRows, RowLine, row_lines
from tui.render.lines import EVIDENCE_BADGES, StyledLine, format_count
from tui.render.metrics import draw_trend, tell_trend
from tui.screens.base import HelpedScreen, ListScreen
from tui.theme.escape import visible
from tui.theme.line_filters import fit_cells
from tui.widgets.bars import Bar, SaysDefects, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList
from tui.workers.engine import Engine

# The doctor: the current check, the findings, and below them details of the finding under the cursor. Enter runs its
# next step, if that is one of our verbs.

FINDING_SIGNS = {OK: ("✓ ", "added"), NOTE: ("· ", "warning"), WRONG: ("✕ ", "removed")}
SUBJECT_CELLS = 11  # cells of the check's subject
DOCTOR_PROGRESS_SECONDS = 0.1  # minimum seconds between two progress updates


class FindingRows(NumberedRows):
    """Findings, one a line, in the order in which they were made."""

    def __init__(self, found: list[Finding]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def lines(self, index: int, width: int) -> list[RowLine]:
        found = self._found[index]
        look = "dim" if found.state == OK else ""
        return row_lines(
            [FINDING_SIGNS[found.state], (fit_cells(found.subject, SUBJECT_CELLS), look)],
            visible(found.says),
            look,
            [],
            width,
        )


class DoctorScreen(ListScreen["str | None"]):
    """Checks a memory on a thread of its own. Dismisses with the line of a verb to run, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="doctor.close", tooltip="Close the doctor"),
    ]
    NAME, EMPTY, CLOSE = "doctor", "Looking …", "dismiss"
    DEFAULT_CSS = "DoctorScreen { #doctor-more { height: 8; } }"

    def __init__(self, location: Location, clock: Clock, quick: bool) -> None:
        super().__init__()
        self._location = location
        self._clock = clock
        self._quick = quick
        self._found: list[Finding] = []
        self._left = False
        self._reported = 0.0

    def on_mount(self) -> None:
        self._say("looking …")
        self._keys("")
        self.row_list.focus()
        self._examine()

    def on_unmount(self) -> None:
        self._left = True

    @work(thread=True, group="doctor", exit_on_error=False, description="look for what is wrong with the memory")
    def _examine(self) -> None:
        def progress(what: str, done: int, total: int) -> None:
            if monotonic() - self._reported > DOCTOR_PROGRESS_SECONDS:
                self._reported = monotonic()
                self._later(self._say, f"checking {what}{f' {done:,} of {total:,}' if total else ''}")

        for found in examine(
            self._location, self._quick, "", progress, lambda: self._left, door="app", clock=self._clock
        ):
            self._later(self._add, found)
        self._later(self._end)

    def _later(self, function: Callable[..., None], *arguments: object) -> None:
        if not self._left and self.app.is_running:
            self.app.call_from_thread(function, *arguments)

    def _say(self, status: str) -> None:
        if self._left:
            return
        self.put_title(self._location.display_name, status, "")

    def _add(self, found: Finding) -> None:
        if not self._left:
            self._found.append(found)
            self.row_list.set_rows(FindingRows(list(self._found)))

    def _end(self) -> None:
        """Show the summary, and select the first problem unless the user moved the cursor."""
        self._say(doctor_verdict(self._found))
        shown = self.row_list
        first = next((number for number, one in enumerate(self._found) if one.state == WRONG), None)
        if first is not None and not shown.cursor_index:
            shown.select(first)

    def _keys(self, command: str) -> None:
        self.put_keys([("enter", command, "choose")] if command else [])

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.row_list.action_choose()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if isinstance(event.key, int) and event.key < len(self._found):
            found = self._found[event.key]
            self.preview.show_lines(_finding_detail(found))
            self._keys(found.command)

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        command = self._found[event.key].command if isinstance(event.key, int) else ""
        if command:
            self.dismiss(command)


def _finding_detail(found: Finding) -> list[StyledLine]:
    """Describe a finding in full."""
    lines: list[StyledLine] = [[(f"{found.subject}  {found.state}", "title")], [(found.says, "")]]
    if found.next:
        lines += [[], [("Next  ", "label"), (found.next, "")]]
    return lines


NO_EVIDENCE_HINT = (
    "Nothing is bound to evidence yet. `B` on a fact or a decision binds it to a file, lines, a symbol or a commit."
)
EVIDENCE_MEANINGS = {
    "holds": "It is as it was when it was bound.",
    "moved": "The same text is elsewhere now. b takes the new place.",
    "changed": "It is not what it was. Read it, then b takes what is there now, or correct the record.",
    "gone": "It is no longer there. x takes it away; or correct the record, or forget it.",
    "": "It was not looked at here yet.",
}


class EvidenceRows(NumberedRows):
    """Pieces of evidence, the worst first."""

    def __init__(self, found: Iterable[BoundEvidence]) -> None:
        self.entries = sorted(found, key=lambda one: WORST_FIRST.index(one.state))

    def __len__(self) -> int:
        return len(self.entries)

    def key(self, index: int) -> Hashable:
        return self.entries[index].citation, str(self.entries[index].item)

    def lines(self, index: int, width: int) -> list[RowLine]:
        one = self.entries[index]
        glyph, word = EVIDENCE_BADGES[one.state]
        look = f"evidence-{one.state or 'unseen'}"
        return row_lines(
            [(f"{glyph} ", look), (f"{one.citation:<6} ", "cite")], evidence_text(one), "", [(word, look)], width
        )


class EvidenceScreen(ListScreen["str | None"]):
    """Shows the evidence of a memory. Dismisses with the citation of a record to open, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="evidence.close", tooltip="Leave what is asked, then close"),
        Binding("l", "look", "Look", id="evidence.look", tooltip="Look at all of it again"),
        Binding(
            "r", "run", "Run", id="evidence.run", tooltip="Run the command, or ask the address, after showing it"
        ),
        Binding(
            "b", "take", "Take", id="evidence.take", tooltip="Take what is there now for what the record rests on"
        ),
        Binding(
            "x", "unbind", "Take away", id="evidence.unbind", tooltip="Take this evidence away from the record"
        ),
        Binding("y", "yes", "Yes", id="evidence.yes", tooltip="Run what is shown, now and from now on"),
        Binding("n", "no", "No", id="evidence.no", tooltip="Do not run it"),
    ]
    NAME, EMPTY = "evidence", NO_EVIDENCE_HINT

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._rows = EvidenceRows([])
        self._at: BoundEvidence | None = None
        self._asked: BoundEvidence | None = None

    def first_rows(self) -> EvidenceRows:
        return self._rows

    def on_mount(self) -> None:
        self._draw_title("looking …")
        self._keys()
        self.row_list.focus()
        self._work(lambda memory: "")

    def _draw_title(self, says: str) -> None:
        self.put_title("", says)

    def _keys(self) -> None:
        keys: list[tuple[str, str, str]] = []
        if self._asked is not None:
            keys = [("y", "runs it", "yes"), ("n", "does not", "no")]
        elif self._at is not None:
            keys = [("enter", "opens", "open"), ("b", "take as it is now", "take"), ("x", "take away", "unbind")]
            keys += [("r", "run", "run")] if self._at.item.type in RUN_TYPES else []
            keys.append(("l", "look again", "look"))
        self.put_keys(keys)

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False, description="look at the evidence")
    def _work(self, act: Callable[[Memory], str]) -> None:
        """Do something to the memory on a thread, look at the evidence again, and show both."""
        found: list[BoundEvidence] = []
        said, failed = "", False
        try:
            with self._engine.upkeep.memory() as memory:
                try:
                    said = act(memory)
                except MemorandaError as error:
                    said, failed = str(error), True
                found = memory.evidence.verify()
        except MemorandaError as error:
            said, failed = str(error), True
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_rows, found, said, failed)

    def _show_rows(self, found: list[BoundEvidence], said: str, failed: bool) -> None:
        if not self.is_attached:
            return
        key = (self._at.citation, str(self._at.item)) if self._at else None
        self._rows = EvidenceRows(found)
        self._at = None
        shown = self.row_list
        shown.set_rows(self._rows)
        bad = sum(one.state in ("changed", "gone") for one in found)
        self._draw_title(f"{format_count(len(found), 'piece')}, {bad:,} changed or gone")
        if self._rows.entries:
            at = self._rows.index_of(key) or 0
            shown.select(self._rows.key(at))
            self._take(at)
        else:
            self._preview()
            self._keys()
        if said:
            self.say(said, "error" if failed else "information")

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        index = self._rows.index_of(event.key)
        if index is not None and self._rows.entries[index] is not self._at:
            self._take(index)

    def _take(self, index: int) -> None:
        self._at, self._asked = self._rows.entries[index], None
        self._preview()
        self._keys()

    def _preview(self) -> None:
        one = self._at
        if one is None:
            self.query_one(Preview).show_lines([])
            return
        glyph, word = EVIDENCE_BADGES[one.state]
        now = self._engine.screen.now
        lines: list[StyledLine] = [
            [(one.citation, "cite"), (f"  rests on  {visible(one.item.typed_form)}", "title")],
            [
                (f"{glyph} {word}", f"evidence-{one.state or 'unseen'}"),
                (f"  looked at {format_age(now, one.at)}" if one.at else "", "dim"),
            ],
            [],
            [(EVIDENCE_MEANINGS[one.state], "")],
        ]
        if one.place:
            lines.append([(f"Now at {visible(one.place)}", "")])
        if one.says:
            lines.append([(visible(one.says), "dim")])
        if one.item.type in RUN_TYPES:
            lines += [[], [("It is looked at only when you run it: r", "dim")]]
        self.query_one(Preview).show_lines(lines)

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the record."""
        if self._at is not None:
            self.dismiss(self._at.citation)

    def action_look(self) -> None:
        """Look at all of it again."""
        self._draw_title("looking …")
        self._work(lambda memory: "")

    def action_take(self) -> None:
        """Take what is there now for what the record rests on."""
        if self._at is not None:
            kind, number, said = (
                *_cited_record(self._at),
                f"Took what {self._at.citation} rests on as it is now; u undoes it",
            )

            def act(memory: Memory) -> str:
                memory.evidence.bind_again(kind, number)
                return said

            self._work(act)

    def action_unbind(self) -> None:
        """Take this evidence away from the record."""
        if self._at is not None:
            one = self._at
            kind, number = _cited_record(one)

            def act(memory: Memory) -> str:
                evidence = memory.evidence
                evidence.unbind(kind, number, [one.item.typed_form], evidence.root)
                return f"{one.citation} no longer rests on {one.item.typed_form}; u undoes it"

            self._work(act)

    # running

    def action_run(self) -> None:
        """Run the command under the cursor, or ask the address; show it first if it was never allowed."""
        one = self._at
        if one is None or one.item.type not in RUN_TYPES:
            self.say("Only commands and addresses are run; everything else is looked at by itself.", "warning")
            return
        self._check(one)

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False, description="see what is allowed")
    def _check(self, one: BoundEvidence) -> None:
        with self._engine.upkeep.memory() as memory:
            known = memory.evidence.list_runnable([one])[0][1]
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._run if known else self._ask_to_run, one)

    def _ask_to_run(self, one: BoundEvidence) -> None:
        self._asked = one
        where = (
            "It goes to that address."
            if one.item.type == "url"
            else "It runs in the folder of the project, as you."
        )
        lines: list[StyledLine] = [
            [(run_question(one), "title")],
            [],
            [(f"{where} This exact text is allowed here from then on, until it is taken away.", "")],
        ]
        self.query_one(Preview).show_lines(lines)
        self._keys()

    def action_yes(self) -> None:
        """Allow what is shown, and run it."""
        if self._asked is not None:
            self._run(self._asked)

    def _run(self, one: BoundEvidence) -> None:
        self._asked = None
        self._draw_title(f"running {one.item.typed_form} …")

        def act(memory: Memory) -> str:
            memory.evidence.allow(one)
            ran = memory.evidence.run_item(one)
            return f"{EVIDENCE_BADGES[ran.state][1]}: {evidence_text(ran)}"

        self._work(act)

    def action_no(self) -> None:
        """Run nothing."""
        if self._asked is not None:
            self._asked = None
            self._preview()
            self._keys()

    def action_leave(self) -> None:
        if self._asked is not None:
            self.action_no()
        else:
            self.dismiss(None)


def _cited_record(one: BoundEvidence) -> tuple[str, int]:
    """Return the kind and the number of the record that rests on this evidence."""
    found = parse_citation(one.citation)
    return found.kind, int(found.target)


# Plots: how the memory grew, how much of what was sent was used, how old its facts are.

LEAST_PLOT_LINES, MOST_PLOT_LINES = 4, 16  # lines of a plot


class PlotsScreen(SaysDefects, HelpedScreen[None]):
    """Shows the trends of a memory, as large as the screen allows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="plots.close", tooltip="Close the plots")
    ]
    DEFAULT_CSS = """
    PlotsScreen {
        layout: vertical; overflow: hidden;
        Split { height: 1; background: $panel; }
        #plots-body { height: 1fr; padding: 0 0 0 1; }
        #plots-keys { height: 1; background: $footer-background; }
    }
    """

    def __init__(self, location: Location, clock: Clock) -> None:
        super().__init__()
        self._location, self._clock = location, clock
        self._trends: Sequence[Trend] = ()

    def compose(self) -> ComposeResult:
        yield Split(id="plots-title")
        with Vertical(id="plots-body"):
            yield Preview(id="plots")
        yield Bar(id="plots-keys")

    def on_mount(self) -> None:
        look = "$footer-key-foreground bold"
        self.query_one("#plots-title", Split).put_both(
            [(" PLOTS  ", "bold $text-accent"), (visible(self._location.display_name), "bold")],
            [("health --plot FILE draws them as SVG ", "$dim")],
        )
        self.query_one("#plots-keys", Bar).set_pieces((" esc", look, "dismiss"), (" closes ", "", "dismiss"))
        self.query_one(Preview).focus()
        self._read_trends()

    @work(thread=True, group="plots", exit_on_error=False, description="read how the memory changed")
    def _read_trends(self) -> None:
        with Memory(self._location, "app", self._clock, create=False) as memory:
            found = measure_trends(memory.database, memory.now)
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._show_trends, found)

    def _show_trends(self, found: Sequence[Trend]) -> None:
        self._trends = found
        self._draw()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        preview = self.query_one(Preview)
        if not self._trends or not self.is_attached:
            return
        if self.app.config["plain"]:  # type: ignore[attr-defined]
            preview.show_lines([[(line, "")] for one in self._trends for line in (*tell_trend(one), "")])
            return
        height = preview.size.height // len(self._trends) - 3  # name, labels, and a line between
        lines = [
            draw_trend(one, preview.size.width - 2, max(LEAST_PLOT_LINES, min(MOST_PLOT_LINES, height)))
            for one in self._trends
        ]
        preview.show_lines([line for plot in lines for line in plot][:-1])
