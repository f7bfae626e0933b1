"""Settings: each with its value, its default and where it is from. Enter changes one in place, the arrows choose among
few values, `x` takes it out of its file, `u` undoes what was changed here, `/` finds settings by words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from textual import work
from textual.binding import Binding, BindingType

from store.base.errors import MemorandaError
from store.config.configuration import Config, Value
from store.config.configuration import load as load_config
from store.config.files import put as put_setting
from store.config.files import remove as remove_setting
from store.config.files import user_path as user_config_path
from store.records.ageing import TABLE as AGEING_TABLE
from tui.commands.system.settings import WHOSE, as_text
from tui.input.commands.synonyms import SETTING_WORDS
from tui.input.key_table import BY_ID, FIXED, named
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs, row
from tui.render.field_diff import Line
from tui.render.line_parts import row as field
from tui.screens.list_screen import ListScreen
from tui.theme.escape import visible
from tui.widgets.prompt_bar import YES, AskBar
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from store.base.location import Location
    from tui.screens.application import Application

LONGEST = 30  # cells of a value in the list
UNDO = "u"
AGES = frozenset(("stale", "fresh", "aging", "ageing", "age", "confirm", "confirmed", "old", "days", "120", "180"))
LINES = 9  # of the preview with its rule, where a setting needs no more
REST = 8  # lines that are left to the list and the bars


class SettingChange(NamedTuple):
    """A change of one setting in a file: the text that it had there, and that it has now; None where it was not set."""

    path: str
    name: str
    before: str | None
    after: str | None


class SettingRows(NumberedRows):
    """The settings, one a line: those that a file or a variable sets are marked; above them `about` what is none."""

    def __init__(self, values: list[Value], about: str = "") -> None:
        self._values = values
        self._about = about if values else ""
        self._first = int(bool(self._about))

    def __len__(self) -> int:
        return self._first + len(self._values)

    def selectable(self, index: int) -> bool:
        return index >= self._first

    def key(self, index: int) -> Hashable:
        return self._values[index - self._first].name if self.selectable(index) else index

    def index_of(self, key: Hashable) -> int | None:
        return next((index for index, value in enumerate(self._values, self._first) if value.name == key), None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        if not self.selectable(index):
            return row([("  ", "")], self._about, "dim", [], width, most=len(self._about))
        value = self._values[index - self._first]
        is_set = value.source != "default"
        text = as_text(value.value)
        text = f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text
        note: Pairs = [(text, "title" if is_set else ""), (f"  {WHOSE[value.source]:<8}", "dim")]
        return row([("● " if is_set else "· ", "accent" if is_set else "dim")], visible(value.name), "", note, width)


class SettingsScreen(ListScreen["str | None"]):
    """Shows and changes the settings for a memory. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="settings.close", tooltip="Close the settings"),
        Binding("c", "edit", "Change", id="settings.edit", tooltip="Change the value"),
        Binding("right", "step(1)", "Next", id="settings.next", tooltip="The next of its values"),
        Binding("left", "step(-1)", "Before", id="settings.previous", tooltip="The value before"),
        Binding("x", "unset", "Default", id="settings.unset", tooltip="Take it out of its file"),
        Binding(UNDO, "undo", "Undo", id="settings.undo", tooltip="Undo the last change made here"),
        Binding("slash", "find", "Find", id="settings.find", tooltip="Find settings by words"),
    ]
    NAME = "settings"
    EMPTY = "No setting has these words. Escape shows them all."
    DEFAULT_CSS = f"SettingsScreen {{ #settings-more {{ height: {LINES}; }} }}"

    def __init__(self, location: Location) -> None:
        super().__init__()
        self._location = location
        self._config: Config = load_config(location, BY_ID, FIXED)
        self._changes: list[SettingChange] = []
        self._shown: Hashable = None
        self._words = ""  # what is looked for
        self._editing = self._finding = False  # whether a value is being typed, or words to look for

    def first_rows(self) -> SettingRows:
        wanted = self._words.lower().split()
        found = [value for value in self._config.values if all(word in _found_by(value) for word in wanted)]
        return SettingRows(found, _ageing() if AGES & set(wanted) else "")

    def bars(self) -> Iterable[AskBar]:
        return (AskBar(id="ask"),)

    def on_mount(self) -> None:
        self._title()
        self._keys()
        self.listed.focus()

    def _title(self) -> None:
        more = [(f"  with “{visible(self._words)}”", "$text-accent")] if self._words else []
        self.put_title(self._location.name, user_config_path(), "$dim", *more)

    def _keys(self) -> None:
        value = self._value
        if self._finding:
            self.put_keys([("enter", "to these", "submit")], "all", "cancel")
            return
        keys = [*([("enter", _does(value), "edit")] if value is not None else []), ("/", "find", "find")]
        if value is not None and value.setting.kind == "choice":
            keys.insert(1, ("← →", "values", "step(1)"))
        if value is not None and value.source in ("user", "project"):
            keys.append(("x", "default again", "unset"))
        if self._changes:
            keys.append((UNDO, "undo", "undo"))
        self.put_keys(keys, "all" if self._words else "closes")

    @property
    def _value(self) -> Value | None:
        return self._config.find(str(self._shown)) if self._shown else None

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self._shown = event.key
        self._show()

    def on_record_list_chosen(self) -> None:
        self.action_edit()

    def _show(self) -> None:
        self._describe()
        self._keys()

    def _describe(self, begun: str = "") -> None:
        """Describe the setting under the cursor in as many lines as it needs; of the themes only those that `begun`, a
        name that is being typed, may become."""
        value = self._value
        lines = [] if value is None else described(value, _near(begun.strip(), sorted(self.app.available_themes)))
        self.told.show(lines)
        needed = self.told.virtual_size.height + 1
        self.query_one("#settings-more").styles.height = max(LINES, min(needed, self.size.height - REST))

    def on_resize(self) -> None:
        self.call_after_refresh(self._describe)

    def on_ask_bar_edited(self, event: AskBar.Edited) -> None:
        """Find settings by what is typed, or narrow the themes to those that are near to it."""
        if self._finding:
            self._find(event.text)
        elif self._editing and self._value is not None:
            whole = event.text in (typed(self._value.value), *self.app.available_themes)
            self._describe("" if whole else event.text)

    # changes

    def action_edit(self, step: int = 1) -> None:
        """Change the setting under the cursor: a switch and a choice at once, by `step`, another in a line."""
        value = self._value
        if value is None:
            return
        if value.source == "environment":
            self.say(f"${value.path} sets {value.name} over every file: change it there.", "warning")
        elif value.name == "enabled" and value.value:
            question = "Record nothing by itself any more, no commits and nothing from agents? y/n"
            self._ask(question, "", lambda text: self._put(value, "false") if text in YES else None, "answers", True)
        elif value.setting.kind == "bool":
            self._put(value, as_text(not value.value))
        elif value.setting.kind == "choice":
            choices = value.setting.choices
            self._put(value, choices[(choices.index(value.value) + step) % len(choices)])
        else:
            self._ask_value(value, self._typed(value))

    def action_step(self, step: int) -> None:
        """Take the next of the values of a switch or a choice, or the one before."""
        if self._value is not None and self._value.setting.kind in ("bool", "choice"):
            self.action_edit(step)

    def _typed(self, value: Value) -> str:
        """Return a value as it is typed; the theme that is shown where none is set."""
        return typed(value.value) or (self.app.theme if value.name == "theme" else "")

    def _ask_value(self, value: Value, text: str) -> None:
        self._editing = True
        self._ask(value.name, text, lambda text: self._put(value, text.strip()), "saves")
        if value.name == "theme":
            self.query_one(AskBar).offer(sorted(self.app.available_themes))
            self.put_keys([("enter", "saves", "submit"), ("↑ ↓", "choose", "choose(1)")], "cancels", "cancel")

    def _ask(self, label: str, value: str, answer: Callable[[str], None], does: str, one_key: bool = False) -> None:
        self.query_one(AskBar).ask(label, value, answer, over=True, one_key=one_key)
        self.put_keys([("enter", does, "submit")], "cancels", "cancel")

    def action_choose(self, step: int) -> None:
        """Put the next of the choices, for a click."""
        self.query_one(AskBar).choose(step)

    def action_submit(self) -> None:
        self.query_one(AskBar).submit()

    def action_cancel(self) -> None:
        self.query_one(AskBar).leave()

    def on_ask_bar_left(self, event: AskBar.Left) -> None:
        if self._editing:
            self._describe()
        found, self._editing, self._finding = self._finding, False, False
        if found and event.answer is None:
            self._find("")  # as a search is left
        self._keys()

    def action_find(self) -> None:
        """Show only settings whose name or meaning has the words that are typed."""
        self._finding = True
        self._ask("find", self._words, self._find, "")
        self._keys()

    def _find(self, words: str) -> None:
        self._words = words.strip()
        self.listed.empty_text = _ageing() if AGES & set(words.lower().split()) else self.EMPTY
        rows = self.first_rows()
        self.listed.set_rows(rows)
        first = next(filter(rows.selectable, range(len(rows))), None) if self._words else None
        if first is not None:
            self.listed.select(rows.key(first))
        self._title()
        self._keys()

    def action_unset(self) -> None:
        """Take the setting under the cursor out of its file, so that its default holds."""
        value = self._value
        if value is not None and value.source in ("user", "project"):
            self._change(SettingChange(value.path, value.name, typed(value.value), None))

    def action_undo(self) -> None:
        """Undo the last change made here."""
        if self._changes:
            last = self._changes[-1]
            self._change(SettingChange(last.path, last.name, last.after, last.before), undoes=True)
        else:
            self.say("Nothing that was changed here is left to undo.", "warning")

    def _put(self, value: Value, text: str) -> None:
        own = value.source in ("user", "project")
        before = typed(value.value) if own else None
        if not text and own:  # nothing typed: the default
            self.action_unset()
            return
        if value.name == "theme":
            text = {name.casefold(): name for name in self.app.available_themes}.get(text.casefold(), text)
        if value.name == "theme" and text and text not in self.app.available_themes:
            listed = ", ".join(sorted(self.app.available_themes))
            self.say(f"There is no theme “{text[:40]}”. There are {listed}.", "warning")
            self.call_after_refresh(self._ask_value, value, text)  # once the bar is left
        elif text in ("", self._typed(value)):
            self.say(f"{value.name} is {text or typed(value.value) or 'the default'} already: nothing was changed.")
        else:
            self._change(SettingChange(value.path if own else user_config_path(), value.name, before, text))

    @work(thread=True, group="settings", exit_on_error=False, description="change a setting")
    def _change(self, change: SettingChange, undoes: bool = False) -> None:
        try:
            if change.after is None:
                remove_setting(change.path, change.name)
            else:
                put_setting(change.path, change.name, change.after)
        except MemorandaError as error:
            self.app.call_from_thread(self._refused, change, str(error))
            return
        self.app.call_from_thread(self._changed, change, undoes)

    def _refused(self, change: SettingChange, why: str) -> None:
        """Say why, and ask again for a value that was typed."""
        self.say(why, "error")
        value = self._config.find(change.name)
        if value is not None and change.after is not None and value.setting.kind not in ("bool", "choice"):
            self.call_after_refresh(self._ask_value, value, change.after)

    def _changed(self, change: SettingChange, undoes: bool) -> None:
        if undoes:
            self._changes.pop()
        else:
            self._changes.append(change)
        cast("Application", self.app).configure_again()
        self._config = load_config(self._location, BY_ID, FIXED)
        shown = self.listed
        shown.set_rows(self.first_rows())
        shown.select(change.name)
        self._show()
        now = self._config.find(change.name)
        is_now = "" if now is None else f" is {as_text(now.value)}"
        back = "" if undoes else f", {UNDO} to undo"  # before the path, which may be longer than the line
        where = f"{'taken out of' if change.after is None else 'written to'} {change.path}"
        self.say(f"{'Undone: ' if undoes else ''}{change.name}{is_now}{back}: {where}")

    def action_leave(self) -> None:
        if self._words:
            self._find("")
        else:
            self.dismiss(None)


def typed(value: object) -> str:
    """Return a value as it is typed."""
    return as_text(value) if value != "" else ""


def _does(value: Value) -> str:
    """Return what Enter does to a setting."""
    if value.setting.kind == "bool":
        return "turn off" if value.value else "turn on"
    return "next value" if value.setting.kind == "choice" else "change"


def _near(begun: str, names: Sequence[str]) -> Sequence[str]:
    """Return the names that have the typed text in them, or are spelled much like it; all where none is."""
    from difflib import get_close_matches

    text = begun.lower()
    return [name for name in names if text in name] or get_close_matches(text, names) or names


def _ageing() -> str:
    """Return how facts grow old, for who looks for a setting of that."""
    days: dict[int, list[str]] = {}
    for confidence, thresholds in AGEING_TABLE.items():
        days.setdefault(thresholds[2], []).append(confidence)
    (first, among), *others = [(number, " or ".join(which)) for number, which in days.items()]
    rest = "".join(f", {number} if it is {which}" for number, which in others)
    return (
        f"No setting: facts grow old by a fixed rule. Not confirmed, one is stale after {first} days if its"
        f" confidence is {among}{rest}. {named('record.confirm')}"
        f" confirms a fact; {named('record.pin')} pins it, so that it never ages. Escape shows all settings."
    )


def _found_by(value: Value) -> str:
    """Return by which words a setting is found."""
    return f"{value.name} {value.setting.meaning} {' '.join(SETTING_WORDS.get(value.name, ()))}".lower()


def described(value: Value, themes: Sequence[str]) -> list[Line]:
    """Describe a setting in full; `themes` are those to list."""
    setting = value.setting
    where = f"${value.path}" if value.source == "environment" else value.path
    kept = f" {setting.own}, so only your own file sets it" if setting.own else ""
    lines: list[Line] = [
        [(value.name, "own")],
        [(f"{setting.meaning}.", "title")],
        [],
        field("Value", as_text(value.value)),
        field("Default", BY_ID[value.name[5:]].keys if setting.kind == "keys" else as_text(setting.default)),
        field("From", visible(where) or "the default: no file and no variable sets it"),
        field(
            "Takes",
            f"{', '.join(themes)} ({named('theme.choose')} in any pane chooses one)"
            if value.name == "theme"
            else setting.takes,
        ),
    ]
    return [*lines, *([[(f"It{kept}.", "dim")]] if kept else [])]
