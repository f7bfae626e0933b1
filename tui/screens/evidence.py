"""Evidence: what facts and decisions are bound to, the worst first, and what it is now. `l` looks again, `r` runs a
command or asks an address after showing it, `b` takes what is there now, `x` takes it away, enter opens the record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from store.base.citations import parse
from store.base.clock import ago
from store.base.errors import MemorandaError
from store.evidence.evidence import BoundEvidence
from store.evidence.items import RUN
from store.memory import Memory
from tui.commands.records.evidence import WORST, evidence_text, question
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.badges import EVIDENCE_BADGES
from tui.render.field_diff import Line
from tui.render.plurals import count
from tui.screens.list_screen import ListScreen
from tui.theme.escape import visible
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from tui.workers.engine import Engine

HINT = "Nothing is bound to evidence yet. `B` on a fact or a decision binds it to a file, lines, a symbol or a commit."
SAYS = {
    "holds": "It is as it was when it was bound.",
    "moved": "The same text is elsewhere now. b takes the new place.",
    "changed": "It is not what it was. Read it, then b takes what is there now, or correct the record.",
    "gone": "It is no longer there. x takes it away; or correct the record, or forget it.",
    "": "It was not looked at here yet.",
}


class EvidenceRows(NumberedRows):
    """Pieces of evidence, the worst first."""

    def __init__(self, found: Iterable[BoundEvidence]) -> None:
        self.entries = sorted(found, key=lambda one: WORST.index(one.state))

    def __len__(self) -> int:
        return len(self.entries)

    def key(self, index: int) -> Hashable:
        return self.entries[index].citation, str(self.entries[index].item)

    def index_of(self, key: Hashable) -> int | None:
        return next((at for at in range(len(self)) if self.key(at) == key), None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        one = self.entries[index]
        glyph, word = EVIDENCE_BADGES[one.state]
        look = f"evidence-{one.state or 'unseen'}"
        return row(
            [(f"{glyph} ", look), (f"{one.citation:<6} ", "cite")], evidence_text(one), "", [(word, look)], width
        )


class EvidenceScreen(ListScreen["str | None"]):
    """Shows the evidence of a memory. Dismisses with the citation of a record to open, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="evidence.close", tooltip="Leave what is asked, then close"),
        Binding("l", "look", "Look", id="evidence.look", tooltip="Look at all of it again"),
        Binding("r", "run", "Run", id="evidence.run", tooltip="Run the command, or ask the address, after showing it"),
        Binding("b", "take", "Take", id="evidence.take", tooltip="Take what is there now for what the record rests on"),
        Binding("x", "unbind", "Take away", id="evidence.unbind", tooltip="Take this evidence away from the record"),
        Binding("y", "yes", "Yes", id="evidence.yes", tooltip="Run what is shown, now and from now on"),
        Binding("n", "no", "No", id="evidence.no", tooltip="Do not run it"),
    ]
    NAME, EMPTY = "evidence", HINT

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self._rows = EvidenceRows([])
        self._at: BoundEvidence | None = None
        self._asked: BoundEvidence | None = None

    def first_rows(self) -> EvidenceRows:
        return self._rows

    def on_mount(self) -> None:
        self._title("looking …")
        self._keys()
        self.listed.focus()
        self._work(lambda memory: "")

    def _title(self, says: str) -> None:
        self.put_title("", says)

    def _keys(self) -> None:
        keys: list[tuple[str, str, str]] = []
        if self._asked is not None:
            keys = [("y", "runs it", "yes"), ("n", "does not", "no")]
        elif self._at is not None:
            keys = [("enter", "opens", "open"), ("b", "take as it is now", "take"), ("x", "take away", "unbind")]
            keys += [("r", "run", "run")] if self._at.item.type in RUN else []
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
            self.app.call_from_thread(self._show, found, said, failed)

    def _show(self, found: list[BoundEvidence], said: str, failed: bool) -> None:
        if not self.is_attached:
            return
        key = (self._at.citation, str(self._at.item)) if self._at else None
        self._rows = EvidenceRows(found)
        self._at = None
        shown = self.listed
        shown.set_rows(self._rows)
        bad = sum(one.state in ("changed", "gone") for one in found)
        self._title(f"{count(len(found), 'piece')}, {bad:,} changed or gone")
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
            self.query_one(Preview).show([])
            return
        glyph, word = EVIDENCE_BADGES[one.state]
        now = self._engine.screen.now
        lines: list[Line] = [
            [(one.citation, "cite"), (f"  rests on  {visible(one.item.shown)}", "title")],
            [
                (f"{glyph} {word}", f"evidence-{one.state or 'unseen'}"),
                (f"  looked at {ago(now, one.at)}" if one.at else "", "dim"),
            ],
            [],
            [(SAYS[one.state], "")],
        ]
        if one.place:
            lines.append([(f"Now at {visible(one.place)}", "")])
        if one.says:
            lines.append([(visible(one.says), "dim")])
        if one.item.type in RUN:
            lines += [[], [("It is looked at only when you run it: r", "dim")]]
        self.query_one(Preview).show(lines)

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the record."""
        if self._at is not None:
            self.dismiss(self._at.citation)

    def action_look(self) -> None:
        """Look at all of it again."""
        self._title("looking …")
        self._work(lambda memory: "")

    def action_take(self) -> None:
        """Take what is there now for what the record rests on."""
        if self._at is not None:
            kind, number, said = *_record(self._at), f"Took what {self._at.citation} rests on as it is now; u undoes it"

            def act(memory: Memory) -> str:
                memory.evidence.bind_again(kind, number)
                return said

            self._work(act)

    def action_unbind(self) -> None:
        """Take this evidence away from the record."""
        if self._at is not None:
            one = self._at
            kind, number = _record(one)

            def act(memory: Memory) -> str:
                evidence = memory.evidence
                evidence.unbind(kind, number, [one.item.shown], evidence.root)
                return f"{one.citation} no longer rests on {one.item.shown}; u undoes it"

            self._work(act)

    # running

    def action_run(self) -> None:
        """Run the command under the cursor, or ask the address; show it first if it was never allowed."""
        one = self._at
        if one is None or one.item.type not in RUN:
            self.say("Only commands and addresses are run; everything else is looked at by itself.", "warning")
            return
        self._check(one)

    @work(thread=True, exclusive=True, group="evidence", exit_on_error=False, description="see what is allowed")
    def _check(self, one: BoundEvidence) -> None:
        with self._engine.upkeep.memory() as memory:
            known = memory.evidence.to_run([one])[0][1]
        if self.is_attached and self.app.is_running:
            self.app.call_from_thread(self._run if known else self._ask, one)

    def _ask(self, one: BoundEvidence) -> None:
        self._asked = one
        where = (
            "It goes to that address." if one.item.type == "url" else "It runs in the folder of the project, as you."
        )
        lines: list[Line] = [
            [(question(one), "title")],
            [],
            [(f"{where} This exact text is allowed here from then on, until it is taken away.", "")],
        ]
        self.query_one(Preview).show(lines)
        self._keys()

    def action_yes(self) -> None:
        """Allow what is shown, and run it."""
        if self._asked is not None:
            self._run(self._asked)

    def _run(self, one: BoundEvidence) -> None:
        self._asked = None
        self._title(f"running {one.item.shown} …")

        def act(memory: Memory) -> str:
            memory.evidence.allow(one)
            ran = memory.evidence.run(one)
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


def _record(one: BoundEvidence) -> tuple[str, int]:
    found = parse(one.citation)
    return found.kind, int(found.target)
