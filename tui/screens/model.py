"""The agent's model: which is used and why, which are available, pull, trial and the last calls; or how to install
Ollama."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from store.base.clock import format_how_long_ago
from store.base.errors import MemorandaError
from store.base.location import Location
from store.config.configuration import SettingValue, load_config, user_settings_path, write_setting
from store.librarian.chat import is_openai_server, shorten_address
from store.librarian.model_selection import USUAL_MODEL, InstalledModel, ModelStatus
from store.librarian.structured_output import LoggedCall, ModelStats
from tui.commands.model import (
    MODEL_MODES,
    WORKS_WITHOUT_MODEL,
    call_outcome,
    format_bytes,
    format_seconds,
    install_steps,
    lacks_ollama,
    model_call_lines,
    model_use_words,
    model_words,
    overruled_words,
    pull_words,
    server_words,
    trial_lines,
)
from tui.desktop.programs import copy_to_clipboard
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID
from tui.lists.record_rows import NumberedRows, RowLine, row_lines
from tui.lists.view_state import WIDE_COLUMNS
from tui.render.lines import StyledLine
from tui.screens.base import Application, ListScreen
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, fit_cells
from tui.widgets.bars import Split
from tui.widgets.inputs import AskBar
from tui.widgets.record_list import RecordList
from tui.workers.model_worker import ModelWorker, PullState

# Rows of the model's screen: the setting, the available models, when the model is used, its last calls; or how to
# install Ollama.

MODEL_NAME_CELLS = 20  # cells of a row's name
CHOOSERS = {
    "$MEMORANDA_MODEL": "A variable of the environment, for one start: MEMORANDA_MODEL=llama3.2:1b memoranda",
    "agent.model": "What you chose here, or with memoranda config model use NAME. It is in your settings file.",
    "qwen2.5": f"Where nobody chose: {USUAL_MODEL} if it is there, else the first qwen2.5 that the server has.",
    "any": "Where there is no qwen2.5: the first model of the server that can answer.",
    "rules": WORKS_WITHOUT_MODEL,
}
CHOOSER_NAMES = {"qwen2.5": "the first qwen2.5", "any": "any other model"}
OTHER_MODEL = "another …"


@dataclass(frozen=True)
class ModelRow:
    """One row: its `key` (None for a heading), sign, name and text; `more` for the preview, and the action of Enter:
    `enter` names it, empty for none."""

    key: str | None
    name: str
    sign: str = ""
    look: str = ""
    words: str = ""
    more: tuple[StyledLine, ...] = ()
    enter: str = ""


class ModelRows(NumberedRows):
    """The rows; each is identified by its key."""

    def __init__(self, rows: list[ModelRow]) -> None:
        self.rows = rows
        self._name = max([MODEL_NAME_CELLS, *(len(row.name) for row in rows if row.key is not None)])

    def __len__(self) -> int:
        return len(self.rows)

    def selectable(self, index: int) -> bool:
        return self.rows[index].key is not None

    def key(self, index: int) -> Hashable:
        return self.rows[index].key or f"heading {index}"

    def row(self, key: Hashable) -> ModelRow | None:
        index = self.index_of(key)
        return None if index is None else self.rows[index]

    def lines(self, index: int, width: int) -> list[RowLine]:
        row = self.rows[index]
        if row.key is None:
            return row_lines([(f"{row.name}  ", "heading")], visible(row.words), "dim", [], width)
        cells = min(self._name, max(MODEL_NAME_CELLS, width // 2))
        quiet = "dim" if row.look == "dim" else ""
        head = [(f"{row.sign} ", row.look), (fit_cells(visible(row.name), cells) + "  ", quiet)]
        return row_lines(head, visible(row.words), "dim", [], width)


def model_rows(
    found: ModelStatus, fared: ModelStats, calls: Sequence[LoggedCall] = (), now: str = ""
) -> list[ModelRow]:
    """Return all rows, for the model's status, its statistics and its last calls."""
    listed = _order_rows(found)
    if lacks_ollama(found):
        return [*_install_rows(), *listed, *_mode_rows(found), *_call_rows(calls, now)]
    return [*listed, *_model_rows(found, fared), *_mode_rows(found), *_call_rows(calls, now)]


def first_model_row(found: ModelStatus) -> str:
    """Return the key of the row selected first: the current model, else the next step to set one up."""
    if found.model:
        return f"model {found.model}"
    if lacks_ollama(found):
        return f"install {install_steps()[0][0]}"
    return (
        f"pull {USUAL_MODEL}"
        if found.look.version and found.look.find_model(USUAL_MODEL) is None
        else "order rules"
    )


def _order_rows(found: ModelStatus) -> list[ModelRow]:
    """Return a row for each step of the order in which a model is chosen."""
    listed = [ModelRow(None, "WHICH IS ASKED", words="the first of these that can be had")]
    for step in found.steps:
        more: list[StyledLine] = [
            [(CHOOSER_NAMES.get(step.who, step.who), "title")],
            [(f"{step.reason} {step.next}".strip(), "")],
        ]
        more += [[], [(CHOOSERS.get(step.who, ""), "dim")]]
        sign, look = ("✓", "added") if step.taken else ("·", "dim")
        listed.append(
            ModelRow(
                f"order {step.who}", CHOOSER_NAMES.get(step.who, step.who), sign, look, step.reason, tuple(more)
            )
        )
    return listed


def _model_rows(found: ModelStatus, fared: ModelStats) -> list[ModelRow]:
    """Return a row for each available model, and rows to pull others."""
    if found.look.trouble is not None or not (found.look.version or found.look.models):
        return []
    address = found.look.address
    served = "server" if is_openai_server(address) else "Ollama"
    listed = [ModelRow(None, "MODELS", words=f"that the {served} at {shorten_address(address)} has")]
    listed += [_model_row(found, one, fared) for one in found.look.models]
    if is_openai_server(address):
        return listed  # it has what it was started with
    if found.look.find_model(USUAL_MODEL) is None:
        more: tuple[StyledLine, ...] = (
            [(USUAL_MODEL, "title")],
            [
                (
                    "The model that Memoranda is made for: 1.9 GB to fetch, and some 3 GB of memory while it works.",
                    "",
                )
            ],
            [("qwen2.5:1.5b takes half of that, and gets more wrong. Ollama fetches it from its library.", "")],
        )
        listed.append(
            ModelRow(f"pull {USUAL_MODEL}", USUAL_MODEL, "↓", "accent", "not there yet: 1.9 GB", more, "pulls it")
        )
    other: tuple[StyledLine, ...] = (
        [("Another model", "title")],
        [("Any that Ollama's library has, by its name: https://ollama.com/library", "")],
    )
    return [
        *listed,
        ModelRow("pull", OTHER_MODEL, "↓", "accent", "fetch one by its name", other, "asks for its name"),
    ]


def _model_row(found: ModelStatus, one: InstalledModel, fared: ModelStats) -> ModelRow:
    """Return the row of an available model."""
    more: list[StyledLine] = [[(one.name, "title")], [(model_words(one), "")]]
    enter = ""
    if not one.can_chat:
        why = "runs on other machines, and no text is sent there" if one.remote else "makes vectors only"
        more.append([(f"It cannot be asked: it {why}.", "warning")])
    elif one.name == found.model:
        reason = f"It is the one that is asked: {found.chosen_step.reason}"
        more += [[(reason, "")], *([[(said, "")]] if (said := model_use_words(fared)) else [])]
        if found.chosen_step.who != "agent.model":
            enter = "keeps it"
    else:
        enter = "takes this one"
    if format_bytes(one.size) and enter:
        more.append([("Enter writes it to your settings as agent.model.", "dim")])
    sign, look = ("●", "added") if one.name == found.model else ("○", "dim" if not one.can_chat else "")
    return ModelRow(f"model {one.name}", one.name, sign, look, model_words(one), tuple(more), enter)


def _mode_rows(found: ModelStatus) -> list[ModelRow]:
    """Return a row for each mode in which the model can be asked."""
    listed = [ModelRow(None, "WHEN", words="the model is asked")]
    for mode, words in MODEL_MODES.items():
        now = mode == found.mode
        more: tuple[StyledLine, ...] = (
            [(mode, "title")],
            [(f"{words[0].upper()}{words[1:]}. What it proposes waits in the inbox, whichever is set.", "")],
            [("It is in your settings file as agent.mode.", "dim")],
        )
        sign, look, enter = ("●", "added", "") if now else ("○", "", "sets it")
        listed.append(ModelRow(f"mode {mode}", mode, sign, look, words, more, enter))
    return listed


def _call_rows(calls: Sequence[LoggedCall], now: str) -> list[ModelRow]:
    """Return a row for each of the last calls, if there are any."""
    if not calls:
        return []
    listed = [ModelRow(None, "LAST CALLS", words="of 24 hours; no model is sent any of it")]
    for call in calls:
        (head, *rest) = model_call_lines(call, now)
        more: tuple[StyledLine, ...] = ([(head, "title")], *([(line, "")] for line in rest))
        sign, look = ("·", "warning") if call.dropped or call.fallback else ("✓", "added")
        words = f"{format_how_long_ago(now, call.at)}  {format_seconds(call.seconds)}  {call_outcome(call)}"
        listed.append(ModelRow(f"call {call.id}", call.task, sign, look, words, more))
    return listed


def _install_rows() -> list[ModelRow]:
    """Return a row for each step that installs or starts Ollama."""
    lines = install_steps()
    words = "installed, and does not run" if len(lines) == 1 else "on this machine; everything works without it"
    listed = [ModelRow(None, "OLLAMA IS NOT THERE" if len(lines) > 1 else "OLLAMA", words=words)]
    for where, line in lines:
        more: tuple[StyledLine, ...] = (
            [(where, "title")],
            [(line, "code")],
            [],
            [("Type it in a shell; enter copies it. Ollama then listens on this machine alone.", "")],
            [(WORKS_WITHOUT_MODEL, "dim")],
        )
        listed.append(ModelRow(f"install {where}", where, "$", "accent", line, more, "copies the line"))
    return listed


# The model's status beside the search: name, state, duration of the last answer; in fewer words if there is less
# room.

MODEL_ACTION = "model"
STATUS_NAME_CELLS = 18  # maximum cells of a model's name


def model_status_forms(modeller: ModelWorker, faring: ModelStats) -> list[list[Piece]]:
    """Return the forms of the status, longest first. Empty while it is unknown."""
    pull, found = modeller.pull, modeller.status
    if pull is not None and not pull.ended:
        far = f"{100 * pull.far.done // pull.far.total} %" if pull.far.total else "…"
        return [
            [
                (f"pulling {short_model_name(pull.name)} ", "$text-accent", MODEL_ACTION),
                (far, "bold", MODEL_ACTION),
            ],
            [(f"pulling {far}", "$text-accent", MODEL_ACTION)],
            [(f"↓ {far}", "$text-accent", MODEL_ACTION)],
        ]
    if found is None:
        return []
    if not found.model:
        return [[("no model", "$dim", MODEL_ACTION)]]  # no count of waiting requests: there may never be a model
    name = short_model_name(found.model)
    state = "working" if faring.working or modeller.trying else found.state
    look = {"working": "$text-accent", "ready": "$text-success"}.get(state, "$dim")
    last = f"  {faring.seconds:.1f} s" if faring.seconds is not None else ""
    queue = f"  {faring.queued:,} queued" if faring.queued else ""
    rules = f"  {faring.by_rule:,} of {faring.asked:,} by rule" if faring.by_rule else ""
    said: list[Piece] = [(f"{name} ", "", MODEL_ACTION), (state, look, MODEL_ACTION)]
    return [
        [*said, (last, "", MODEL_ACTION), (f"{queue}{rules}", "$dim", MODEL_ACTION)],
        [*said, (last, "", MODEL_ACTION), (queue, "$dim", MODEL_ACTION)],
        [*said, (last, "", MODEL_ACTION)],
        said,
        [(name, look, MODEL_ACTION)],
        [(name.partition(":")[0], look, MODEL_ACTION)],
    ]


def short_model_name(name: str) -> str:
    """Shorten a model's name by its owner and its training: `qwen2.5:3b-instruct` to `qwen2.5:3b`."""
    name = name.rpartition("/")[2]
    model, colon, size = name.partition(":")
    name = model if size in ("", "latest") else f"{model}{colon}{size.partition('-')[0]}"
    return name if len(name) <= STATUS_NAME_CELLS else f"{name[: STATUS_NAME_CELLS - 1]}…"


MODEL_KEY_STYLE = "$footer-key-foreground bold"
TEST_RUNNING = "It is being asked something small. A cold model is loaded first, which may take a minute …"
LEAST_BAR_CELLS, MOST_BAR_CELLS = 6, 40  # cells of a pull's progress bar …
REDRAW_SECONDS = 0.5  # seconds
PULL_TEXT_CELLS = 60  # … and of the text beside it


class ModelScreen(ListScreen[None]):
    """Shows the status and runs the choices; a pull continues after the screen is closed."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE_COLUMNS, "-wide")]  # noqa: RUF012 - as Screen declares it
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
        self._reported: PullState | None = None  # the last pull whose end was shown

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
        self.row_list.focus()
        self._modeller.check_status(self._app.config)
        if self._pull_first:
            self._pull(self._pull_first)
        self.model_told()
        self.set_interval(REDRAW_SECONDS, self._draw_pull)  # update the remaining time while no data arrives

    # drawing

    def model_told(self) -> None:
        """Show the current status."""
        found = self._standing
        if found is not None and found is not self._listed:
            listed = self.row_list
            first, self._listed = self._listed is None, found
            listed.set_rows(ModelRows(model_rows(found, self._fared, self._calls, self._now)))
            if first:
                listed.select(first_model_row(found))
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
        self.put_title(found.model or "no model", server_words(found), trouble, *state)

    def _draw_pull(self) -> None:
        pull = self._modeller.pull
        self.set_class(pull is not None, "-pulling")
        if pull is None:
            return
        bar = self.query_one("#model-pull", Split)
        away: list[Piece] = [("x", MODEL_KEY_STYLE, "stop"), (" takes this away", "$dim", "stop")]
        if pull.trouble is not None and pull.trouble.kind == "stopped":
            far = f" at {100 * pull.far.done // pull.far.total} %" if pull.far.total else ""
            said = f"Stopped {pull.name}{far}; pulled again, it continues from there."
            bar.put_both([(visible(said), "$text-warning")], away)
        elif pull.trouble is not None:
            bar.put_both([(visible(f"{pull.name} could not be fetched."), "$text-error")], away)
        elif pull.ended:
            bar.put_both([(visible(f"{pull.name} is there."), "$text-success")], away)
        else:
            name = visible(short_model_name(pull.name))
            left: list[Piece] = [(f"{name}  ", "bold")]
            room = (bar.size.width or self.app.size.width) - len(name) - PULL_TEXT_CELLS
            cells = min(MOST_BAR_CELLS, room) if room >= LEAST_BAR_CELLS else 0
            left.append((visible(pull_words(pull.far, pull.pace, cells)), "$text-accent"))
            bar.put_both(left, [("x", MODEL_KEY_STYLE, "stop"), (" stops", "", "stop")])

    def _draw_keys(self) -> None:
        if self._asking:
            self.put_keys([("enter", "pulls the model of this name", "answer")], "leaves", "leave_bar")
            return
        row = self._current_row()
        keys = [("enter", row.enter, "choose")] if row is not None and row.enter else []
        keys += [
            ("t", "test", "try_out"),
            ("p", "pull…", "pull_named"),
            ("m", "mode", "mode"),
            ("r", "look again", "look"),
        ]
        self.put_keys(keys)

    def _current_row(self) -> ModelRow | None:
        """Return the row under the cursor."""
        listed = self.row_list
        return listed.rows.row(listed.cursor_key) if isinstance(listed.rows, ModelRows) else None

    # preview

    def _show_row(self, stay: bool = False) -> None:
        row = self._current_row()
        if row is not None:
            self._shown = row.key or ""
            self.preview.show_lines(row.more, stay=stay)

    def _show_failure(self) -> None:
        """Show why a pull failed, if it did."""
        pull = self._modeller.pull
        if pull is None or pull.trouble is None or pull.trouble.kind == "stopped":
            self._show_row(stay=True)
            return
        lines: list[StyledLine] = [
            [(f"{pull.name} could not be fetched", "title")],
            [(pull.trouble.message, "warning")],
        ]
        self.preview.show_lines([*lines, [], [("Next  ", "label"), (pull.trouble.next, "")]])

    def _show_trial(self) -> None:
        trial = self._modeller.trial
        if trial is None:
            return
        self._shown = "trial"
        lines: list[StyledLine] = [[(f"Test of {trial.name or 'the model'}", "title")]]
        if trial.trouble is not None:
            lines += [[(trial.trouble.message, "warning")], [(trial.trouble.next, "")]]
        elif trial.tried is not None:
            lines += [[(line, "")] for line in trial_lines(trial.tried)]
        else:
            lines += [[(TEST_RUNNING, "")]]
        self.preview.show_lines(lines)

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        if event.key != self._at:  # refreshed rows must not replace what is being read
            self._at = event.key
            self._show_row()
        self._draw_keys()

    # actions

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.row_list.action_choose()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        row = self._current_row()
        if row is None or not row.enter:
            return
        kind, _, name = str(row.key).partition(" ")
        if kind == "mode":
            self._put_setting("agent.mode", name)
        elif kind == "model":
            self._put_setting("agent.model", name)
        elif kind == "install":
            self._copy_line(row.words)
        elif name:
            self._pull(name)
        else:
            self.action_pull_named()

    def action_look(self) -> None:
        self._modeller.check_status(self._app.config)
        self.model_told()

    def action_mode(self) -> None:
        modes = list(MODEL_MODES)
        now = str(self._app.config["agent.mode"])
        self._put_setting("agent.mode", modes[(modes.index(now) + 1) % len(modes)])

    @work(thread=True, group="model", exit_on_error=False, description="write a setting of the model")
    def _put_setting(self, name: str, value: str) -> None:
        try:
            write_setting(user_settings_path(), name, value)
        except MemorandaError as error:
            self.app.call_from_thread(self.say, str(error), "error")
            return
        now = load_config(self._location, KEYS_BY_ID, FIXED_KEYS).find_value(name)
        self.app.call_from_thread(self._show_setting, name, value, now)

    @work(group="copy", exit_on_error=False)
    async def _copy_line(self, line: str) -> None:
        self.say(f"Copied the line {await copy_to_clipboard(self.app, line)}")

    def _show_setting(self, name: str, value: str, now: SettingValue | None) -> None:
        """Show the effect of a choice, and check the status again."""
        self._app.configure_again()
        self.action_look()
        if other := overruled_words(now, value):
            self.say(other, "warning")
        elif name == "agent.mode":
            self.say(f"{value}: {MODEL_MODES[value]}.")
        else:
            off = self._app.config["agent.mode"] == "off"
            self.say(
                f"{value} is kept; nobody is asked while it is off." if off else f"{value} is asked from now on."
            )

    # pulls

    def action_pull_named(self) -> None:
        self._asking = True
        self._draw_keys()
        self.query_one(AskBar).ask("pull", USUAL_MODEL, self._pull, over=True)

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
        row = self._current_row()
        kind, _, name = str(row.key if row is not None else "").partition(" ")
        self._trial_due = name if kind == "model" else ""
        self.model_told()

    def _try_now(self, name: str) -> None:
        self._trial_due = None
        self._modeller.start_trial(self._app.config, name or (self._standing.model if self._standing else ""))
        self._show_trial()
