"""Preview a purge: the records, other places with the same words, and which of those are scrubbed too."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType

from store.base.errors import MemorandaError
from tui.commands.privacy.purge import box
from tui.input.key import Key
from tui.input.plan_keys import PURGE_KEYS
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.badges import KIND_GLYPHS
from tui.render.field_diff import Line
from tui.render.plurals import count
from tui.screens.plans.selection import ChoosingScreen, bound
from tui.theme.escape import visible
from tui.theme.pieces import Piece
from tui.widgets.bars import Footer, Split
from tui.widgets.prompt_bar import AskBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from store.memory import Memory
    from store.purge.proof import Traces
    from store.purge.purge import Done, PurgePlan
    from store.purge.scan.column_scan import RemainingMatch
    from tui.screens.application import Application
    from tui.workers.engine import Engine

    Run = Callable[[Memory, frozenset[int]], tuple[Done, Traces]]

KEY = "$footer-key-foreground bold"
NAME, WHY = 13, 18  # cells of a citation, and of the note behind the text


class PurgeRows(NumberedRows):
    """First the records to purge, then the other places that contain their words, one a line."""

    def __init__(self, plan: PurgePlan, chosen: frozenset[int]) -> None:
        self._plan = plan
        self._chosen = chosen

    def __len__(self) -> int:
        return len(self._plan.going) + len(self._plan.places)

    def lines(self, index: int, width: int) -> list[Pairs]:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            mark, look, sign, quiet = "[x] ", "removed", "− ", ""
            cited, text, says = one.citation, one.text, one.why or "erased"
        else:
            place = self._plan.places[at]
            chosen = at in self._chosen
            mark, look = f"{box(place, chosen)} ", "accent" if chosen else "dim" if place.can else "rule"
            sign = f"{KIND_GLYPHS['document']} " if place.table == "file" else "~ " if place.can else "  "
            quiet = "" if chosen else "dim"
            cited, text, says = place.citation, place.text, place.what
        head = [(mark, look), (sign, "removed" if at < 0 else look), (f"{visible(cited):<{NAME}} ", "dim")]
        return row(head, visible(text), quiet, [(visible(says), "dim")], width)


class PurgeScreen(ChoosingScreen):
    """Confirm a purge with everything listed. Dismisses with (the result, the proof), or None."""

    NAME = "purge"
    BINDINGS: ClassVar[list[BindingType]] = bound(PURGE_KEYS)

    def __init__(self, engine: Engine, plan: PurgePlan, form: str, run: Run | None = None, words: str = "") -> None:
        """Show a plan; `run` carries it out with the places that are chosen, once the `words` are typed again."""
        super().__init__(engine, form)
        self._words = words.strip()
        self._plan = plan
        self._run = run or (lambda memory, chosen: _purge(memory, plan, chosen))
        self.chosen = plan.proposed()

    @property
    def keys(self) -> tuple[Key, ...]:
        return PURGE_KEYS

    def below(self) -> ComposeResult:
        yield AskBar(id="ask")

    def on_mount(self) -> None:
        super().on_mount()
        if self._words:
            self.call_after_refresh(self._ask_again)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys to the line while one types in it."""
        return not self.has_class("-asking") or action not in {key.action.partition("(")[0] for key in PURGE_KEYS}

    def draw(self) -> None:
        self.rows.set_rows(PurgeRows(self._plan, self.chosen))
        going, places = self._plan.going, self._plan.places
        named = f" {going[0].citation}" if len(going) == 1 else ""
        self.query_one("#purge-title", Split).put_both(
            [(f"ERASE{named}  with all old versions", "bold")], [("This cannot be undone", "$text-error")]
        )
        left: list[Piece] = [(f"{count(len(going), 'record')} to erase", "bold")]
        if self._working:
            left = [("Erasing, and checking every byte …", "$text-warning")]
        elif places:
            left.append((f"  in {len(self.chosen):,} of {count(len(places), 'other place')} too", ""))
        else:
            left.append(("  no other place holds these words", "$dim"))
        staying = len(places) - len(self.chosen)
        right: list[Piece] = [(f"{staying:,} {'keeps' if staying == 1 else 'keep'} them", "$text-warning")]
        self.query_one("#purge-count", Split).put_both(left, right if staying and not self._working else [])

    def describe(self, index: int) -> list[Line]:
        at = index - len(self._plan.going)
        if at < 0:
            one = self._plan.going[index]
            lines: list[Line] = [[(one.citation, "cite"), (f"  {one.kind}", "dim")], [(one.text, "title")], []]
            if one.why:
                lines.append([(f"It is erased because it {_verb(one.why)}.", "")])
            return [
                *lines,
                [("Erased from its table, its history, the search index and the vectors.", "dim")],
                [("What stays is that something was here, and a keyed hash that knows the text again.", "dim")],
            ]
        place = self._plan.places[at]
        lines = [
            [(place.citation, "cite"), (f"  {place.what}", "dim")],
            [(place.text, "title")],
            [],
            [(_becomes(place, at in self.chosen), "" if at in self.chosen else "warning")],
        ]
        return [*lines, [(f"{_sentence(place.note)}.", "dim")]] if place.note else lines

    def toggle(self, index: int) -> None:
        """Toggle whether a place is scrubbed."""
        at = index - len(self._plan.going)
        if at < 0:
            self.tell("This record is erased. Leave, and choose other records, to keep it.")
        elif not self._plan.places[at].can:
            self.tell(f"{self._plan.places[at].citation} is not Memoranda's to change: {self._plan.places[at].what}.")
        else:
            self._choose(self.chosen ^ {at})

    def action_all(self) -> None:
        """Select all places that can be scrubbed, or none."""
        every = self._plan.proposed()
        self._choose(frozenset() if self.chosen == every else every)

    def _choose(self, chosen: frozenset[int]) -> None:
        self.chosen = chosen
        self.draw()
        self.show(self.rows.cursor_key)  # the preview shows the effect on the place

    # apply

    def action_leave(self) -> None:
        if not self._working:
            super().action_leave()

    def action_apply(self) -> None:
        if self._working:
            return
        if self._words:
            self._ask_again()
        else:
            self._erase()

    def _ask_again(self) -> None:
        """Let the words be typed again."""
        self.query_one(AskBar).ask(f"type “{self._words}” again to erase it", "", self._typed)
        self.query_one(Footer).hint(
            (" enter", KEY, "submit"), (" erases it ", "", "submit"), (" esc", KEY, "back"), (" to choose ", "", "back")
        )

    def _typed(self, text: str) -> None:
        if text.strip().casefold() == self._words.casefold():
            self._erase()
        else:
            self.tell(f"That is not “{self._words}”: nothing was erased.")

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        self.query_one(AskBar).hide()
        self.rows.focus()
        self.query_one(Footer).show_keys(self.keys)
        if event.answer is not None:
            event.answer()
        cast("Application", self.app).release_keys()

    def action_submit(self) -> None:
        """Enter, for a click."""
        self.query_one(AskBar).submit()

    def action_back(self) -> None:
        """Escape, for a click."""
        self.query_one(AskBar).leave()

    def _erase(self) -> None:
        run, chosen = self._run, self.chosen
        self.work(lambda memory: run(memory, chosen))
        self.draw()

    def _finish(self, result: object, error: MemorandaError | None) -> None:
        if error is None:
            self._engine.subjects.clear()  # cached texts of purged records
        super()._finish(result, error)


def _purge(memory: Memory, plan: PurgePlan, chosen: frozenset[int]) -> tuple[Done, Traces]:
    from tui.commands.privacy.purge import left_of

    done = memory.purge.run(plan, chosen)
    return done, left_of(memory, plan, done)


def _verb(why: str) -> str:
    return f"is {why}" if why.startswith("replaced") else why


def _becomes(place: RemainingMatch, chosen: bool) -> str:
    """Describe the effect of a purge on a place."""
    if not place.can:
        return "Memoranda does not change it: it is named, so that you can."
    if place.table == "file":
        cut = "This is cut out of your file, and nothing else. This cannot be undone."
        return cut if chosen else "It stays. Chosen, this is cut out of your file, and nothing else."
    return "Its words are cut, also from its past; the rest of it stays." if chosen else "It stays as it is."


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
