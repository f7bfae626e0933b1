"""The agent's model: which is used and why, which are available, pull, trial and the last calls; or how to install
Ollama."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from store.base.errors import MemorandaError
from store.config.configuration import Value, load
from store.config.files import put, user_path
from store.llm.model_selection import USUAL
from tui.commands.system.model import MODES, how_far, overruled, trial_lines, where
from tui.input.key_table import BY_ID, FIXED
from tui.lists.model_rows import ModelRow, ModelRows, rows, start
from tui.lists.view_state import WIDE
from tui.render.field_diff import Line
from tui.screens.list_screen import ListScreen
from tui.screens.model.status_text import short
from tui.theme.escape import visible
from tui.theme.pieces import Piece
from tui.widgets.bars import Split
from tui.widgets.prompt_bar import AskBar
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.location import Location
    from store.llm.call_log import LoggedCall
    from store.llm.status import ModelStatus
    from store.llm.usage_stats import ModelStats
    from tui.screens.application import Application
    from tui.workers.model_worker import ModelWorker, Pull

KEY = "$footer-key-foreground bold"
ASKING = "It is being asked something small. A cold model is loaded first, which may take a minute …"
LEAST, MOST = 6, 40  # cells of a pull's progress bar …
AGAIN = 0.5  # seconds
WORDS = 60  # … and of the text beside it


class ModelScreen(ListScreen[None]):
    """Shows the status and runs the choices; a pull continues after the screen is closed."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - as Screen declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Close", id="model.close", tooltip="Close; a pull continues"),
        Binding("p", "pull_named", "Pull", id="model.pull", tooltip="Fetch a model by its name"),
        Binding("x", "stop", "Stop", id="model.stop", tooltip="Stop the pull; what was fetched stays"),
        Binding("t", "try_out", "Test", id="model.test", tooltip="Ask the model something small"),
        Binding("m", "mode", "Mode", id="model.mode", tooltip="fast, smart or off"),
        Binding("r", "look", "Look again", id="model.look", tooltip="Check again"),
    ]
    NAME, EMPTY, CLOSE = "model", "Looking …", "dismiss"
    DEFAULT_CSS = """
    ModelScreen {
        #model-more { height: 9; }
        #model-pull { display: none; background: $background; padding: 0 1; }
        &.-narrow #model-more { height: 7; }
        &.-pulling ToastRack { margin-bottom: 2; }  /* never over how far a pull is */
        &.-pulling #model-pull { display: block; }
    }
    """

    def __init__(
        self,
        location: Location,
        fared: ModelStats,
        pull: str = "",
        trying: str | None = None,
        calls: Sequence[LoggedCall] = (),
        now: str = "",
    ) -> None:
        """`fared` is the model's statistics in this memory, `calls` are its last calls, up to `now`. With `pull` start
        with a pull of that model; with `trying`, with a trial."""
        super().__init__()
        self._location = location
        self._fared = fared
        self._calls, self._now = calls, now
        self._pull_first = pull
        self._trial_due = trying  # the model to try once the list of models is known; "" for the current one
        self._shown = ""  # in the preview: the key of a row, "trial" or "pull"
        self._asking = False  # whether it prompts for a model's name
        self._listed: ModelStatus | None = None  # the status that the rows show
        self._at: Hashable = None  # the key of the row under the cursor
        self._reported: Pull | None = None  # the last pull whose end was shown

    @property
    def _app(self) -> Application:
        return cast("Application", self.app)

    @property
    def _modeller(self) -> ModelWorker:
        return self._app.modeller

    @property
    def _standing(self) -> ModelStatus | None:
        return self._modeller.status

    def first_rows(self) -> ModelRows:
        return ModelRows([])

    def bars(self) -> Iterable[Widget]:
        return Split(id="model-pull"), AskBar(id="model-ask")

    def on_mount(self) -> None:
        self.listed.focus()
        self._modeller.look(self._app.config)
        if self._pull_first:
            self._pull(self._pull_first)
        self.model_told()
        self.set_interval(AGAIN, self._draw_pull)  # update the remaining time while no data arrives

    # drawing

    def model_told(self) -> None:
        """Show the current status."""
        found = self._standing
        if found is not None and found is not self._listed:
            listed = self.listed
            first, self._listed = self._listed is None, found
            listed.set_rows(ModelRows(rows(found, self._fared, self._calls, self._now)))
            if first:
                listed.select(start(found))
                self._at = listed.cursor_key
        self._draw_title()
        self._draw_pull()
        if self._trial_due is not None and found is not None:
            self._try_now(self._trial_due)
        pull = self._modeller.pull
        if pull is not None and pull.ended and pull is not self._reported:
            self._reported, self._shown = pull, "pull"
        if self._shown == "trial":
            self._show_trial()
        elif self._shown == "pull":
            self._show_failure()
        else:
            self._show_row(stay=True)
        self._draw_keys()

    def _draw_title(self) -> None:
        found = self._standing
        if found is None:
            self.put_title("", "looking …")
            return
        look = "$text-success" if found.state == "ready" else ""
        state: list[Piece] = [(f"  {found.state}", look)] if found.model else []
        trouble = "$text-warning" if found.look.trouble is not None else ""
        self.put_title(found.model or "no model", where(found), trouble, *state)

    def _draw_pull(self) -> None:
        pull = self._modeller.pull
        self.set_class(pull is not None, "-pulling")
        if pull is None:
            return
        bar = self.query_one("#model-pull", Split)
        away: list[Piece] = [("x", KEY, "stop"), (" takes this away", "$dim", "stop")]
        if pull.trouble is not None and pull.trouble.kind == "stopped":
            far = f" at {100 * pull.far.done // pull.far.total} %" if pull.far.total else ""
            said = f"Stopped {pull.name}{far}; pulled again, it continues from there."
            bar.put_both([(visible(said), "$text-warning")], away)
        elif pull.trouble is not None:
            bar.put_both([(visible(f"{pull.name} could not be fetched."), "$text-error")], away)
        elif pull.ended:
            bar.put_both([(visible(f"{pull.name} is there."), "$text-success")], away)
        else:
            name = visible(short(pull.name))
            left: list[Piece] = [(f"{name}  ", "bold")]
            room = (bar.size.width or self.app.size.width) - len(name) - WORDS
            cells = min(MOST, room) if room >= LEAST else 0
            left.append((visible(how_far(pull.far, pull.pace, cells)), "$text-accent"))
            bar.put_both(left, [("x", KEY, "stop"), (" stops", "", "stop")])

    def _draw_keys(self) -> None:
        if self._asking:
            self.put_keys([("enter", "pulls the model of this name", "answer")], "leaves", "leave_bar")
            return
        row = self._row()
        keys = [("enter", row.enter, "choose")] if row is not None and row.enter else []
        keys += [
            ("t", "test", "try_out"),
            ("p", "pull…", "pull_named"),
            ("m", "mode", "mode"),
            ("r", "look again", "look"),
        ]
        self.put_keys(keys)

    def _row(self) -> ModelRow | None:
        """Return the row under the cursor."""
        listed = self.listed
        return listed.rows.row(listed.cursor_key) if isinstance(listed.rows, ModelRows) else None

    # preview

    def _show_row(self, stay: bool = False) -> None:
        row = self._row()
        if row is not None:
            self._shown = row.key or ""
            self.told.show(row.more, stay=stay)

    def _show_failure(self) -> None:
        """Show why a pull failed, if it did."""
        pull = self._modeller.pull
        if pull is None or pull.trouble is None or pull.trouble.kind == "stopped":
            self._show_row(stay=True)
            return
        lines: list[Line] = [[(f"{pull.name} could not be fetched", "title")], [(pull.trouble.message, "warning")]]
        self.told.show([*lines, [], [("Next  ", "label"), (pull.trouble.next, "")]])

    def _show_trial(self) -> None:
        trial = self._modeller.trial
        if trial is None:
            return
        self._shown = "trial"
        lines: list[Line] = [[(f"Test of {trial.name or 'the model'}", "title")]]
        if trial.trouble is not None:
            lines += [[(trial.trouble.message, "warning")], [(trial.trouble.next, "")]]
        elif trial.tried is not None:
            lines += [[(line, "")] for line in trial_lines(trial.tried)]
        else:
            lines += [[(ASKING, "")]]
        self.told.show(lines)

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.key != self._at:  # refreshed rows must not replace what is being read
            self._at = event.key
            self._show_row()
        self._draw_keys()

    # actions

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.listed.action_choose()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        row = self._row()
        if row is None or not row.enter:
            return
        kind, _, name = str(row.key).partition(" ")
        if kind == "mode":
            self._put("agent.mode", name)
        elif kind == "model":
            self._put("agent.model", name)
        elif kind == "install":
            self._copy(row.words)
        elif name:
            self._pull(name)
        else:
            self.action_pull_named()

    def action_look(self) -> None:
        self._modeller.look(self._app.config)
        self.model_told()

    def action_mode(self) -> None:
        modes = list(MODES)
        now = str(self._app.config["agent.mode"])
        self._put("agent.mode", modes[(modes.index(now) + 1) % len(modes)])

    @work(thread=True, group="model", exit_on_error=False, description="write a setting of the model")
    def _put(self, name: str, value: str) -> None:
        try:
            put(user_path(), name, value)
        except MemorandaError as error:
            self.app.call_from_thread(self.say, str(error), "error")
            return
        now = load(self._location, BY_ID, FIXED).find(name)
        self.app.call_from_thread(self._kept, name, value, now)

    @work(group="copy", exit_on_error=False)
    async def _copy(self, line: str) -> None:
        from tui.desktop.clipboard import copy

        self.say(f"Copied the line {await copy(self.app, line)}")

    def _kept(self, name: str, value: str, now: Value | None) -> None:
        """Show the effect of a choice, and check the status again."""
        self._app.configure_again()
        self.action_look()
        if other := overruled(now, value):
            self.say(other, "warning")
        elif name == "agent.mode":
            self.say(f"{value}: {MODES[value]}.")
        else:
            off = self._app.config["agent.mode"] == "off"
            self.say(f"{value} is kept; nobody is asked while it is off." if off else f"{value} is asked from now on.")

    # pulls

    def action_pull_named(self) -> None:
        self._asking = True
        self._draw_keys()
        self.query_one(AskBar).ask("pull", USUAL, self._pull, over=True)

    def action_answer(self) -> None:
        """Enter, for a click."""
        self.query_one(AskBar).submit()

    def action_leave_bar(self) -> None:
        """Escape, for a click."""
        self.query_one(AskBar).leave()

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        self._asking = False
        self._draw_keys()
        super().on_ask_bar_left(event)

    def _pull(self, name: str) -> None:
        name = name.strip()
        if name and not self._modeller.start_pull(self._app.config, name):
            self.say("One is being fetched already: x stops it.", "warning")
        self._draw_pull()

    def action_stop(self) -> None:
        """Stop the pull or the trial; clear the message of a finished pull."""
        if not (self._modeller.stop_pull() or self._modeller.stop_trial()):
            self._modeller.pull = None
            self._draw_pull()

    # trials

    def action_try_out(self) -> None:
        """Try the model under the cursor, else the current one."""
        row = self._row()
        kind, _, name = str(row.key if row is not None else "").partition(" ")
        self._trial_due = name if kind == "model" else ""
        self.model_told()

    def _try_now(self, name: str) -> None:
        self._trial_due = None
        self._modeller.start_trial(self._app.config, name or (self._standing.model if self._standing else ""))
        self._show_trial()
