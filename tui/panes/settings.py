"""Settings: in their groups, each with its value and what it means, changed where it is listed; and, under the chip
Model, which model is asked and why, those that its server has, when it is asked, and its last calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from textual.theme import BUILTIN_THEMES

from store.base.clock import format_how_long_ago
from store.base.errors import MemorandaError
from store.config import configuration
from store.config.configuration import SettingValue
from store.config.settings import EXPERT
from store.librarian import model_selection
from store.librarian.chat import is_openai_server
from store.librarian.model_selection import USUAL_MODEL, InstalledModel, ModelStatus
from store.librarian.structured_output import LoggedCall, ModelStats, list_recent_calls, read_model_stats
from store.memory import Memory
from store.records.facts import AGEING_DAYS
from store.text.display import format_seconds, visible
from tui.actions.action import Action, ActionScreen, Done
from tui.commands.settings import SOURCE_WORDS, default_value, read_config, value_text
from tui.input.key_table import key_name
from tui.input.verb_table import other_words
from tui.lists.filters import Facet, FacetChoice
from tui.lists.record_rows import RowLine, row_lines, wrap_text
from tui.panes.pane import Entry, EntryRows, Heading, Loaded, Pane, Reading
from tui.render.lines import StyledLine, label_row
from tui.screens.base import Application
from tui.screens.dialogs import Form, FormField
from tui.theme.line_filters import fit_cells
from tui.theme.styles import HIGH_CONTRAST
from tui.workers.engine import Engine
from tui.workers.model_worker import ModelWorker, PullState, TrialState, model_status_forms

FOLLOW = "preview.follow"
# the kinds of settings that take their next value at once
AT_ONCE = ("bool", "choice")
# where a value is from that a file sets
IN_FILES = ("user", "project")
# cells of a value in the list
LONGEST_VALUE = 30
# cells of the name of a row about the model, at least
NAME_CELLS = 20
THEMES = sorted([*BUILTIN_THEMES, *(theme.name for theme in HIGH_CONTRAST)])
AGE_QUESTIONS = frozenset("stale fresh aging ageing age confirm confirmed old days 120 180".split())


class Change(NamedTuple):
    """One setting of a file, and the text that it gets there; None takes it out."""

    path: str
    name: str
    text: str | None


# what undoes the changes made here, the newest at the end
_changes: WeakKeyDictionary[Engine, list[Change]] = WeakKeyDictionary()


def read_settings(reading: Reading) -> Loaded:
    """Read the settings that are shown, or what is known of the model."""
    config = read_config(reading.engine.location)
    shows = reading.view.get("shows")
    words = (reading.view.get("words") or "").lower().split()
    every, worker, memory = config.groups(expert=True), ModelWorker.latest, reading.memory
    choices = FacetChoice("expert", EXPERT, len(every[EXPERT])), FacetChoice("model", "Model")
    loaded = Loaded(EntryRows([]), [Facet("shows", "Show", choices)], empty="Looking …", kept=shows)
    if shows != "model" or worker is None:
        groups = {EXPERT: every[EXPERT]} if shows == "expert" else every if words else config.groups()
        return loaded._replace(rows=EntryRows(_find(_setting_entries(groups, words), words)), empty="")
    if reading.kept != shows:
        worker.check_status(config)
    if worker.status is None:
        return loaded
    stats = read_model_stats(memory.database, memory.now)
    calls = list_recent_calls(memory.database, memory.now)
    rows = model_rows(worker, worker.status, stats, calls, memory.now)
    found = (one if isinstance(one, Heading) else Entry(one.key, one, one.draw, one.describe) for one in rows)
    return loaded._replace(
        rows=EntryRows(_find(found, words)), says=model_status_forms(worker, stats)[0], empty=""
    )


def _find(entries: Iterable[Entry | Heading], words: Sequence[str]) -> list[Entry | Heading]:
    """Return the entries that have all these words, and the headings of any."""
    found = [
        one
        for one in entries
        if isinstance(one, Heading) or all(word in _words_of(one.thing).lower() for word in words)
    ]
    pairs = pairwise([*found, Heading("")])
    return [one for one, after in pairs if isinstance(one, Entry) or isinstance(after, Entry)]


def _words_of(thing: SettingValue | ModelRow | str) -> str:
    """Return by which words a row is found."""
    if isinstance(thing, SettingValue):
        setting = thing.setting
        others = other_words("settings").get(thing.name, ())
        return " ".join((setting.name, setting.label, setting.meaning, *others))
    return f"{thing.name} {thing.words}" if isinstance(thing, ModelRow) else thing


# the settings


def _setting_entries(groups: dict[str, list[SettingValue]], words: Sequence[str]) -> Iterator[Entry | Heading]:
    """Yield the settings of some groups; before them how facts grow old, if the words ask for that."""
    if AGE_QUESTIONS & set(words):
        rule = ageing_rule()
        yield Entry("ageing", " ".join(words), lambda width: row_lines([("  ", "")], rule, "dim", [], width, 9))
    for group, values in groups.items():
        yield Heading(group, "weights, days and addresses" if group == EXPERT else "")
        for value in values:
            yield Entry(value.name, value, partial(_draw_setting, value), partial(describe_setting, value))


def _draw_setting(value: SettingValue, width: int) -> list[RowLine]:
    """Draw a setting: its label and its value, marked where a file or a variable sets it; below, what it means."""
    is_set = value.source != "default"
    text = {"true": "on", "false": "off", '""': "empty"}.get(text := value_text(value.value), text)
    note = [(fit_cells(text, min(len(text), LONGEST_VALUE)), "title" if is_set else "")]
    note.append((f"  {SOURCE_WORDS[value.source]:<8}", "dim"))
    sign = ("● ", "accent") if is_set else ("· ", "dim")
    meaning = wrap_text(value.setting.meaning, width - 3, width - 3, 1)[0]
    return row_lines([sign], visible(value.setting.label), "", note, width, second=[(meaning, "dim")])


def describe_setting(value: SettingValue) -> list[StyledLine]:
    """Describe a setting in full."""
    setting = value.setting
    where = f"${value.path}" if value.source == "environment" else value.path
    themes = f"{', '.join(THEMES)} ({key_name('theme.choose')} shows each)"
    lines: list[StyledLine] = [
        [(setting.label, "own"), (f"  {value.name}" if setting.label != value.name else "", "dim")],
        [(f"{setting.meaning}.", "title")],
        [],
        label_row("Value", value_text(value.value)),
        label_row("Default", value_text(default_value(setting))),
        label_row("From", visible(where) or "the default: no file and no variable sets it"),
        label_row("Takes", themes if value.name == "theme" else setting.allowed_values),
    ]
    return [*lines, *([[(f"It {setting.own}, so only your own file sets it.", "dim")]] if setting.own else [])]


def ageing_rule() -> str:
    """Return how facts grow old, for who looks for a setting of that."""
    high, medium = AGEING_DAYS["high"][2], AGEING_DAYS["medium"][2]
    return (
        f"No setting: facts grow old by a fixed rule. Not confirmed, one is stale after {high} days if its confidence"
        f" is high, {medium} if it is medium or low. {key_name('record.confirm')} confirms a fact;"
        f" {key_name('record.pin')} pins it, so that it never ages."
    )


def _typed(value: SettingValue) -> str:
    """Return a value as it is typed."""
    text = value_text(value.value)
    return text if text != '""' else ""


def _enter_does(value: SettingValue) -> str:
    """Return what Enter does to a setting."""
    if value.setting.kind == "bool":
        return "turn off" if value.value else "turn on"
    return "next value" if value.setting.choices else "change"


def _next_value(value: SettingValue) -> str | None:
    """Return the value after the present one of a switch or a choice."""
    options = ("false", "true") if value.setting.kind == "bool" else value.setting.choices
    return "true" if value.name == "enabled" else options[(options.index(_typed(value)) + 1) % len(options)]


def change_settings(screen: ActionScreen, things: Sequence[SettingValue]) -> None:
    """Change settings: a switch and a choice at once, another in a form."""
    for value in things:
        if value.source == "environment":
            screen.say(f"${value.path} sets {value.name} over every file: change it there.", "warning")
        elif value.setting.kind in AT_ONCE and not (value.name == "enabled" and value.value):
            _change(screen, value, _next_value)
        else:
            _ask(screen, value, _typed(value) or (screen.app.theme if value.name == "theme" else ""))


def _ask(screen: ActionScreen, value: SettingValue, start: str) -> None:
    """Ask for a value, which begins with a text; of the switch of all capture, whether it is meant."""
    setting = value.setting
    choices = THEMES if value.name == "theme" else ()
    if setting.kind == "bool":
        lines = ["Nothing is recorded by itself any more then, no commits and nothing from agents."]
        form = Form("Turn all capture off?", lines=lines, does="turns it off")
    else:
        label = f"{setting.meaning}. It takes {'one of the themes: ↑↓' if choices else setting.allowed_values}."
        field = FormField("text", label, start, over=True, choices=choices, needed=False)
        form = Form(f"{setting.label}: {value.name}", [field], does="saves")

    def answered(given: dict[str, str] | None) -> None:
        text = "" if given is None else given.get("text", "false").strip()
        if given is not None and text in (start, _typed(value)):
            screen.say(f"{value.name} is {text or 'the default'} already: nothing was changed.")
        elif given is not None:
            put_value(screen, value, text)

    screen.app.push_screen(form, answered)


def put_value(screen: ActionScreen, value: SettingValue, text: str) -> None:
    """Write a value into the file that sets it, or else into the person's own; nothing takes it out of its file."""
    text = text.casefold() if value.name == "theme" else text
    if value.name == "theme" and text not in ("", *THEMES):
        screen.say(f"There is no theme “{text[:40]}”. There are {', '.join(THEMES)}.", "warning")
        _ask(screen, value, text)
    else:
        again = partial(_ask, screen, value, text) if value.setting.kind not in AT_ONCE else None
        _change(screen, value, lambda now: text or None, again)


def unset_settings(screen: ActionScreen, things: Sequence[SettingValue]) -> None:
    """Take settings out of their files, so that their defaults hold."""
    for value in things:
        _change(screen, value, lambda now: None)


def undo_change(screen: ActionScreen, things: Sequence[Any]) -> None:
    """Undo the last change of a setting that was made here."""
    _change(screen, None)


def _change(
    screen: ActionScreen,
    shown: SettingValue | None,
    wanted: Callable[[SettingValue], str | None] = lambda now: None,
    again: Callable[[], object] | None = None,
) -> None:
    """Change a setting to what is wanted for its present value, which may be newer than the one shown; without one undo
    the last change. It is done on the thread that writes, so that each key of a burst finds what the one before did,
    and counts at once. A value that is refused is asked for `again`."""
    app = cast("Application", screen.app)
    location = screen.engine.location

    def write(memory: Memory, things: Sequence[Any]) -> Done:
        config, made = read_config(location), _changes.setdefault(screen.engine, [])
        if shown is not None:
            value = config.find_value(shown.name) or shown
            path = value.path if value.source in IN_FILES else configuration.user_settings_path()
            change = Change(path, value.name, wanted(value))
        elif made:
            change = made.pop()
        else:
            return Done("Nothing that was changed here is left to undo.", undo=False, level="warning")
        before = config.find_value(change.name)
        try:
            if change.text is None:
                configuration.remove_setting(change.path, change.name)
            else:
                configuration.write_setting(change.path, change.name, change.text)
        except MemorandaError:
            if shown is None:
                made.append(change)
            if again is not None:
                screen.later(again)
            raise
        if shown is not None:
            text = _typed(before) if before is not None and before.path == change.path else None
            made.append(change._replace(text=text))
        config = read_config(location)
        screen.later(app.configure_again)
        app.modeller.check_status(config)
        now = config.find_value(change.name)
        is_now = f"{change.name} is {value_text(now.value)}" if now is not None else change.name
        where = f"{'taken out of' if change.text is None else 'written to'} {change.path}"
        return Done(f"{'Undone: ' if shown is None else ''}{is_now}: {where}", change.name, undo=shown is not None)

    screen.perform(Action(FOLLOW, "change", does=write), [])


# the model

CHOOSERS = {
    "$MEMORANDA_MODEL": "A variable of the environment, for one start: MEMORANDA_MODEL=llama3.2:1b memoranda",
    "agent.model": "What you chose here, or with memoranda config model use NAME. It is in your settings file.",
    "qwen2.5": f"Where nobody chose: {USUAL_MODEL} if it is there, else the first qwen2.5 that the server has.",
    "any": "Where there is no qwen2.5: the first model of the server that can answer.",
    "rules": model_selection.WORKS_WITHOUT_MODEL,
}
CHOOSER_NAMES = {"qwen2.5": "the first qwen2.5", "any": "any other model"}
LIBRARY_WORDS = "Any that Ollama's library has, by its name: https://ollama.com/library"
TEST_WORDS = "It is being asked something small. A cold model is loaded first, which may take a minute …"
USUAL_WORDS = (
    "The model that Memoranda is made for: 1.9 GB to fetch, and some 3 GB of memory while it works.",
    "qwen2.5:1.5b takes half of that, and gets more wrong. Ollama fetches it from its library.",
)


class ModelRow(NamedTuple):
    """A row about the model: its name, words beside it, more for the preview, its sign, and what Enter does, by the
    first word of its `key`."""

    key: str
    name: str
    words: str = ""
    more: Sequence[str] = ()
    sign: tuple[str, str] = ("·", "dim")
    enter: str = ""

    def draw(self, width: int) -> list[RowLine]:
        """Draw the row."""
        name = fit_cells(visible(self.name), min(max(NAME_CELLS, len(self.name)), width // 2))
        sign, look = self.sign
        return row_lines([(f"{sign} ", look), (f"{name}  ", "")], visible(self.words), "dim", [], width)

    def describe(self) -> list[StyledLine]:
        """Return its name and more for the preview."""
        return [[(visible(self.name), "title")], *([(visible(line), "")] for line in self.more if line)]


def model_rows(
    worker: ModelWorker, found: ModelStatus, stats: ModelStats, calls: Sequence[LoggedCall] = (), now: str = ""
) -> Iterator[ModelRow | Heading]:
    """Yield the rows about the model, for its status, its statistics and its last calls."""
    look, absent = found.look, found.look.lacks_ollama
    yield Heading("The model", found.server)
    if worker.pull is not None:
        yield _pull_row(worker.pull)
    yield _trial_row(worker.trial)
    yield ModelRow("look", "Look again", "at the server and its models", enter="looks")
    if absent:
        steps = model_selection.install_steps()
        yield Heading("Ollama", "installed, and does not run" if len(steps) == 1 else "is not on this machine")
        how = "Type it in a shell; enter copies it. Ollama then listens on this machine alone."
        for where, line in steps:
            more = line, how, model_selection.WORKS_WITHOUT_MODEL
            yield ModelRow(f"install {where}", where, line, more, ("$", "accent"), "copies the line")
    yield Heading("Which is asked", "the first of these that can be had")
    for step in found.steps:
        more = str(step), "", CHOOSERS.get(step.who, "")
        sign = ("✓", "added") if step.taken else ("·", "dim")
        yield ModelRow(f"order {step.who}", CHOOSER_NAMES.get(step.who, step.who), step.reason, more, sign)
    if not absent and look.trouble is None and (look.version or look.models):
        yield Heading("Models", "that the server has")
        yield from (_model_row(found, one, stats) for one in look.models)
        # that one has what it was started with
        if not is_openai_server(look.address):
            fetch = ("↓", "accent")
            if look.find_model(USUAL_MODEL) is None:
                words = "not there yet: 1.9 GB"
                yield ModelRow(f"pull {USUAL_MODEL}", USUAL_MODEL, words, USUAL_WORDS, fetch, "pulls it")
            yield ModelRow("pull", "another …", "fetch one by its name", [LIBRARY_WORDS], fetch, "asks for it")
    yield Heading("When", "the model is asked")
    for mode, words in model_selection.MODEL_MODES.items():
        said = f"{words[0].upper()}{words[1:]}. What it proposes waits for your yes, whichever is set."
        sign, enter = (("●", "added"), "") if mode == found.mode else (("○", ""), "sets it")
        yield ModelRow(f"mode {mode}", mode, words, [said, "It is agent.mode of your settings."], sign, enter)
    if calls:
        yield Heading("Last calls", "of 24 hours; no model is sent any of it")
    for call in calls:
        ago, took = format_how_long_ago(now, call.at), format_seconds(call.seconds)
        words = f"{ago}  {took}  {call.outcome}"
        sign = ("·", "warning") if call.dropped or call.fallback else ("✓", "added")
        yield ModelRow(f"call {call.id}", call.task, words, call.describe(now), sign)


def _model_row(found: ModelStatus, one: InstalledModel, stats: ModelStats) -> ModelRow:
    """Return the row of a model that the server has."""
    words, enter, sign, more = one.describe(), "takes this one", ("○", ""), list[str]()
    if not one.can_chat:
        why = "runs on other machines, and no text is sent there" if one.remote else "makes vectors only"
        enter, sign, more = "", ("○", "dim"), [f"It cannot be asked: it {why}."]
    elif one.name == found.model:
        enter = "" if found.chosen_step.who == "agent.model" else "keeps it"
        more = [f"It is the one that is asked: {found.chosen_step.reason}", stats.describe()]
        sign = ("●", "added")
    more += ["Enter writes it to your settings as agent.model."] if enter else []
    return ModelRow(f"model {one.name}", one.name, words, [words, *more], sign, enter)


def _pull_row(pull: PullState) -> ModelRow:
    """Return the row of a pull: how far it is, or how it ended."""
    far, trouble = pull.far, pull.trouble
    if not pull.ended:
        words = f"{pull.name}  {pull.pace.describe(far)}"
        return ModelRow("stop", "Stop the pull", words, [words], ("↓", "accent"), "stops it")
    words, sign, more = "is there.", ("✓", "added"), list[str]()
    if trouble is not None and trouble.kind == "stopped":
        share = f" at {100 * far.done // far.total} %" if far.total else ""
        words, sign = f"Stopped{share}; pulled again, it continues from there.", ("✕", "warning")
    elif trouble is not None:
        words, sign, more = "could not be fetched.", ("✕", "removed"), [trouble.message, f"Next  {trouble.next}"]
    return ModelRow("stop", pull.name, words, [words, *more], sign, "takes this away")


def _trial_row(trial: TrialState | None) -> ModelRow:
    """Return the row of a trial: how it went, or that Enter tries the model."""
    lines, enter = ["It is asked something small, which says how quick it is."], "tests it"
    if trial is not None and trial.trouble is not None:
        lines = [trial.trouble.message, trial.trouble.next]
    elif trial is not None and trial.tried is not None:
        lines = trial.tried.describe()
    elif trial is not None:
        lines, enter = [TEST_WORDS], "stops it"
    return ModelRow("test", "Test the model", lines[0], lines, ("?", "accent"), enter)


def follow_model_row(screen: ActionScreen, things: Sequence[ModelRow]) -> None:
    """Do what Enter does to a row about the model."""
    (row, *_), app = things, cast("Application", screen.app)
    modeller, config, (kind, _, name) = app.modeller, app.config, row.key.partition(" ")
    value = config.find_value(f"agent.{kind}")
    # agent.mode, agent.model
    if value is not None:
        put_value(screen, value, name)
    elif kind == "install":
        screen.copy(row.words, "the line")
    elif kind == "pull" and name:
        pull_model(screen, name)
    elif kind == "pull":
        form = Form("Fetch a model", [FormField("name", LIBRARY_WORDS, USUAL_MODEL, over=True)], does="pulls it")
        screen.app.push_screen(form, lambda given: pull_model(screen, given["name"]) if given else None)
    elif kind == "stop" and not modeller.stop_pull():
        modeller.pull = None
    elif kind == "test" and not modeller.stop_trial():
        modeller.start_trial(config)
    elif kind == "look":
        modeller.check_status(config)
    screen.refresh_rows()


def pull_model(screen: ActionScreen, name: str = USUAL_MODEL) -> None:
    """Start to fetch a model, as `config model pull NAME` does; it goes on when the view is left."""
    app = cast("Application", screen.app)
    if not app.modeller.start_pull(app.config, name.strip()):
        screen.say("One is being fetched already: “Stop the pull” stops it.", "warning")
    screen.refresh_rows()


ENTER = attrgetter("enter")
PANE = Pane(
    "settings",
    "Settings",
    read_settings,
    filtered="No setting has these words.",
    actions=(
        Action(FOLLOW, _enter_does, (SettingValue,), run=change_settings, looks=True),
        # the footer names Enter
        Action("record.correct", "", (SettingValue,), run=change_settings, looks=True),
        Action(
            "record.forget",
            "default",
            (SettingValue,),
            run=unset_settings,
            fits=lambda value: value.source in IN_FILES,
            looks=True,
        ),
        Action(FOLLOW, ENTER, (ModelRow,), run=follow_model_row, fits=ENTER, looks=True),
        Action("memory.undo", "", run=undo_change, looks=True),
    ),
    seconds=1,
    finds=True,
)
