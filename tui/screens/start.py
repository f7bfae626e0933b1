"""The first start: what was found, what was done, and what is worth doing, one key each. What was done here becomes the
line that says what was written; `u` undoes it, Escape goes back one: from a question to here, from here to the
application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from store.base.errors import MemorandaError, NotOurs
from store.base.location import Location
from store.memory import Memory
from store.text.display import format_count, visible
from store.upkeep import adoption
from tui.commands.call import Outcome
from tui.input.arguments import parse_arguments
from tui.input.key_table import KEYS_BY_ID, key_name
from tui.input.verb_table import verb_named
from tui.render.lines import StyledLine
from tui.screens.base import ResponsiveScreen, key_pieces
from tui.screens.dialogs import Form, FormField
from tui.theme.line_filters import Piece
from tui.theme.styles import read_css
from tui.widgets.bars import Bar, SaysDefects, Split
from tui.widgets.preview import Preview
from tui.workers.engine import ConfirmationNeeded, Engine
from tui.workers.first_start import NONE_READ, Ledger, StartOffer

# Ask what to do with a memory that this installation neither created nor adopted. Until then nothing in it is served,
# run or changed; after the first frame SQLite checks it, read-only.

ADOPT_LOOK, ADOPT_PROPOSALS, ADOPT_WHOLE = "look", "proposals", "whole"
ADOPT_CHOICES = (
    ("l", ADOPT_LOOK, "look at it, read-only"),
    ("p", ADOPT_PROPOSALS, "put it aside, and take what it says as proposals in the inbox of a new memory"),
    ("w", ADOPT_WHOLE, "take it whole, as your own"),
)
MADE_EARLIER = ("y", ADOPT_WHOLE, "yes, an earlier version made it for me: it is mine")


class AdoptScreen(SaysDefects, Screen[str]):
    """Dismisses with the choice; empty if the user leaves the memory alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, f"choose('{choice}')", text, show=False)
            for key, choice, text in (*ADOPT_CHOICES, MADE_EARLIER)
        ),
        Binding("q,escape", "choose('')", "leave it alone", show=False),
    ]
    DEFAULT_CSS = """
    AdoptScreen { align: center middle; padding: 1 2; }
    AdoptScreen VerticalScroll { width: 100%; max-width: 96; height: auto; max-height: 100%; }
    AdoptScreen #adopt-check { margin-top: 1; color: $text-muted; }
    """

    def __init__(self, location: Location, why: NotOurs) -> None:
        super().__init__()
        self._location = location
        self._why = why
        self._damage = ""

    def compose(self) -> ComposeResult:
        choices = [*([MADE_EARLIER] if self._why.unmarked else []), *ADOPT_CHOICES, ("q", "", "leave it alone")]
        asks = "Was it made by an earlier version, or did it come in an archive?\n\n" if self._why.unmarked else ""
        listed = "\n".join(f" {key}  {text}" for key, _, text in choices)
        with VerticalScroll():
            yield Static(Text(f"{visible(self._why.message)}\n\n{asks}{listed}"))
            yield Static(Text("Checking it for damage …"), id="adopt-check")

    def on_mount(self) -> None:
        self.call_after_refresh(self._examine)

    @work(thread=True, exit_on_error=False, description="check it for damage")
    def _examine(self) -> None:
        try:
            adoption.check_foreign_file(self._location.path)
            said = "SQLite found no damage."
        except MemorandaError as error:
            said = self._damage = str(error)
        if self.is_attached:
            self.app.call_from_thread(self._say, said)

    def _say(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#adopt-check", Static).update(Text(visible(text)))

    def action_choose(self, choice: str) -> None:
        if choice in (ADOPT_PROPOSALS, ADOPT_WHOLE) and self._damage:
            self._say(self._damage)
            self.app.bell()
        else:
            self.dismiss(choice)


# ids of the keys that the ledger names
LEDGER_KEYS = ("pane.timeline", "pane.ask")


class FirstStartScreen(ResponsiveScreen["str | None"]):
    """Shows a ledger, and carries out what it offers. What that asks is asked here; Escape goes back to the ledger.
    Dismisses with an action of the main screen, for a key that the ledger names, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "To the application", id="start.leave", tooltip="To the application"),
        Binding("u", "undo", "Undo", id="start.undo", tooltip="Undo what was done last here"),
    ]
    DEFAULT_CSS = read_css(__file__)

    def __init__(self, engine: Engine, ledger: Ledger, model: str, say: Callable[[str], None]) -> None:
        super().__init__()
        self._engine, self._ledger, self._model, self._say = engine, ledger, model, say
        # what offers wrote, by key
        self._said: dict[str, list[str]] = {}
        # (key of an offer, the steps of history that it made)
        self._steps: list[tuple[str, list[int]]] = []
        # the key of the offer under way
        self._doing = ""
        # that of the conversations, while they are read beside all else
        self._reading = ""

    def compose(self) -> ComposeResult:
        yield Split(id="start-title")
        with Vertical(id="start-ledger"):
            yield Preview(id="start")
        yield Bar(id="start-keys")

    def on_mount(self) -> None:
        self.query_one("#start-title", Split).put_both(
            [(f" {visible(self._ledger.title)}", "bold $text-accent")], [("first start ", "$dim")]
        )
        self.query_one(Preview).focus()
        # once its width is known
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        if not self.is_attached:
            return
        read = any(offer.agents and offer.key in self._said for offer in self._ledger.offers)
        found = [text.removesuffix(NONE_READ) if read else text for text in (*self._ledger.found, self._model)]
        did = [*self._ledger.did, *(text for said in self._said.values() for text in said)]
        lines: list[StyledLine] = [[("Found", "heading")], *_listed("·", found)]
        lines += [[], [("Did", "heading")], *_listed("✓", did)]
        offers = [offer for offer in self._ledger.offers if offer.key not in self._said]
        if offers:
            lines += [[], [("Worth doing", "heading")]]
        for offer in offers:
            wait = "  …" if offer.key in (self._doing, self._reading) else ""
            lines.append([(f"  {offer.key} ", "label+own"), (f"{offer.says}{wait}", "")])
        lines += [[], [("memoranda demo opens an invented project, to try everything on", "dim")]]
        self.query_one(Preview).show_lines(lines, stay=True)
        keys = [(offer.key, offer.says.partition(" ")[0], f"take({offer.key!r})") for offer in offers]
        keys += [("u", "undo", "undo")] if self._steps else []
        shown = key_pieces(*keys, ("esc", "to the application", "dismiss"))
        self.query_one("#start-keys", Bar).set_pieces(*shown)

    def on_key(self, event: events.Key) -> None:
        if event.character in (leads := {key_name(id): KEYS_BY_ID[id].action for id in LEDGER_KEYS}):
            event.stop()
            self.dismiss(leads[event.character])
        elif any(offer.key == event.character for offer in self._ledger.offers):
            event.stop()
            self.action_take(event.character or "")

    def action_take(self, key: str) -> None:
        """Carry out an offer."""
        offer = next(one for one in self._ledger.offers if one.key == key)
        if self._doing or key in (*self._said, self._reading):
            return
        if offer.agents:
            self._read_conversations(offer)
        elif offer.asks:
            (line,) = offer.lines

            def answered(given: Mapping[str, str]) -> None:
                self._run(offer, [(*line, given["text"])], [], [])

            self.ask(Form(offer.says, [FormField("text", offer.asks)]), answered)
        else:
            self._run(offer, offer.lines, [], [])

    def _read_conversations(self, offer: StartOffer) -> None:
        """Read conversations beside all else, which may take minutes: other offers can be taken meanwhile. Whoever has
        left is told at the end."""
        self._reading = offer.key
        self._draw()

        def finish(result: dict[str, Any], error: MemorandaError | None) -> None:
            told = str(error) if error is not None else conversations_read_words(result)
            self._reading = ""
            if not self.is_attached:
                self._say(told)
                return
            self._said[offer.key] = [told]
            self._draw()

        work = partial(self._engine.bringer.read_agents, offer.agents)
        self._engine.wait_beside(work, finish)

    def _run(
        self,
        offer: StartOffer,
        lines: Sequence[Sequence[str]],
        said: list[str],
        steps: list[int],
        agreed: tuple[str, ...] = (),
    ) -> None:
        """Run the next line of an offer; after the last, show what all of them wrote."""
        if not lines:
            self._doing, self._said[offer.key] = "", said
            self._steps += [(offer.key, steps)] if steps else []
            self._draw()
            return
        self._doing = offer.key
        self._draw()
        newest = self._engine.newest_step()

        def finish(outcome: Outcome, error: MemorandaError | None) -> None:
            if not self.is_attached:
                return
            # it is seen first; nothing of it is done without Enter
            if isinstance(error, ConfirmationNeeded):
                seen = (*agreed, error.shown_text)
                self._doing = ""
                self._draw()
                go_on = partial(self._run, offer, lines, said, steps, seen)
                self.ask(Form(error.message, lines=error.lines), lambda given: go_on())
                return
            if error is not None:
                self._run(offer, lines[1:], [*said, str(error)], steps)
                return
            data, now = outcome.data(), self._engine.newest_step()
            made = data.get("steps", []) if isinstance(data, dict) else []
            made = made or sorted(one for one in self._engine.own_steps if newest < one <= now)
            text = f": {lines[0][-1]}" if offer.asks else "."
            told = f"{outcome.message.removesuffix('.')}{text}"
            self._run(offer, lines[1:], [*said, told], [*steps, *made])

        verb = verb_named(lines[0][0])
        given = parse_arguments(verb.name, verb.arguments, list(lines[0][1:]))
        self._engine.run_verb(verb, given, agreed, finish)

    def action_undo(self) -> None:
        """Undo what was done last here, and offer it again."""
        if not self._steps or self._doing:
            return
        key, steps = self._steps.pop()

        def undone(result: object, error: MemorandaError | None) -> None:
            if error is not None:
                self.app.notify(str(error), severity="error", markup=False)
            elif self.is_attached:
                del self._said[key]
                self._draw()

        def undo(memory: Memory) -> None:
            for step in reversed(steps):
                memory.history.undo(step)

        self._engine.write(undo, undone)


def _listed(mark: str, texts: Sequence[str]) -> list[StyledLine]:
    return [[(f"  {mark} ", "label"), (text, "")] for text in texts if text]


def conversations_read_words(result: dict[str, Any]) -> str:
    """Say what was read of agents' conversations, and what could not be."""
    added, sessions = result.get("added", 0), result.get("sessions", 0)
    told = f"Read {format_count(added, 'turn')} of {format_count(sessions, 'conversation')}; only"
    told = f"{told} `purge` erases them again." if added else "Nothing was said there."
    return f"{told} {trouble}" if (trouble := result.get("trouble")) else told


def model_sentence(forms: Sequence[Sequence[Piece]]) -> str:
    """Return what is found of a model, as a sentence; empty while nothing is known."""
    text = "".join(piece[0] for piece in forms[0]).strip() if forms else ""
    if text == "no model":
        return "no language model: the Librarian quotes by rules; :config model says how to get one"
    return f"a language model: {text}" if text else ""
