"""Settings: each with its value, its default and where it is from. Enter changes one in place, the arrows choose among
few values, `x` takes it out of its file, `u` undoes what was changed here, `/` finds settings by words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import get_close_matches
from typing import ClassVar, NamedTuple, cast

from textual import work
from textual.binding import Binding, BindingType

from store.base.errors import MemorandaError
from store.base.location import Location
from store.config.configuration import (
    Config,
    SettingValue,
    load_config,
    remove_setting,
    user_settings_path,
    write_setting,
)
from store.records.facts import AGEING_DAYS
from tui.commands.settings import SOURCE_WORDS, value_text
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, key_name
from tui.input.verb_table import SETTING_WORDS
from tui.lists.record_rows import NumberedRows, RowLine, row_lines
from tui.render.lines import StyledLine, label_row
from tui.screens.base import Application, ListScreen
from tui.theme.escape import visible
from tui.widgets.inputs import YES_ANSWERS, AskBar
from tui.widgets.record_list import RecordList

LONGEST_VALUE = 30  # cells of a value in the list
UNDO_KEY = "u"
AGE_QUESTIONS = frozenset(
    ("stale", "fresh", "aging", "ageing", "age", "confirm", "confirmed", "old", "days", "120", "180")
)
PREVIEW_LINES = 9  # of the preview with its rule, where a setting needs no more
OTHER_LINES = 8  # lines that are left to the list and the bars


class SettingChange(NamedTuple):
    """A change of one setting in a file: the text that it had there, and that it has now; None where it was not set."""

    path: str
    name: str
    before: str | None
    after: str | None


class SettingRows(NumberedRows):
    """The settings, one a line: those that a file or a variable sets are marked; above them `about` what is none."""

    def __init__(self, values: list[SettingValue], about: str = "") -> None:
        self._values = values
        self._about = about if values else ""
        self._first = int(bool(self._about))

    def __len__(self) -> int:
        return self._first + len(self._values)

    def selectable(self, index: int) -> bool:
        return index >= self._first

    def key(self, index: int) -> Hashable:
        return self._values[index - self._first].name if self.selectable(index) else index

    def lines(self, index: int, width: int) -> list[RowLine]:
        if not self.selectable(index):
            return row_lines([("  ", "")], self._about, "dim", [], width, most=len(self._about))
        value = self._values[index - self._first]
        is_set = value.source != "default"
        text = value_text(value.value)
        text = f"{text[: LONGEST_VALUE - 1]}…" if len(text) > LONGEST_VALUE else text
        note: RowLine = [(text, "title" if is_set else ""), (f"  {SOURCE_WORDS[value.source]:<8}", "dim")]
        return row_lines(
            [("● " if is_set else "· ", "accent" if is_set else "dim")], visible(value.name), "", note, width
        )


class SettingsScreen(ListScreen["str | None"]):
    """Shows and changes the settings for a memory. Dismisses with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Close", id="settings.close", tooltip="Close the settings"),
        Binding("c", "edit", "Change", id="settings.edit", tooltip="Change the value"),
        Binding("right", "step(1)", "Next", id="settings.next", tooltip="The next of its values"),
        Binding("left", "step(-1)", "Before", id="settings.previous", tooltip="The value before"),
        Binding("x", "unset", "Default", id="settings.unset", tooltip="Take it out of its file"),
        Binding(UNDO_KEY, "undo", "Undo", id="settings.undo", tooltip="Undo the last change made here"),
        Binding("slash", "find", "Find", id="settings.find", tooltip="Find settings by words"),
    ]
    NAME = "settings"
    EMPTY = "No setting has these words. Escape shows them all."
    DEFAULT_CSS = f"SettingsScreen {{ #settings-more {{ height: {PREVIEW_LINES}; }} }}"

    def __init__(self, location: Location) -> None:
        super().__init__()
        self._location = location
        self._config: Config = load_config(location, KEYS_BY_ID, FIXED_KEYS)
        self._changes: list[SettingChange] = []
        self._shown: Hashable = None
        self._words = ""  # what is looked for
        self._editing = self._finding = False  # whether a value is being typed, or words to look for

    def first_rows(self) -> SettingRows:
        wanted = self._words.lower().split()
        found = [value for value in self._config.values if all(word in _words_to_find(value) for word in wanted)]
        return SettingRows(found, _ageing_rule() if AGE_QUESTIONS & set(wanted) else "")

    def bars(self) -> Iterable[AskBar]:
        return (AskBar(id="ask"),)

    def on_mount(self) -> None:
        self._draw_title()
        self._keys()
        self.row_list.focus()

    def _draw_title(self) -> None:
        more = [(f"  with “{visible(self._words)}”", "$text-accent")] if self._words else []
        self.put_title(self._location.display_name, user_settings_path(), "$dim", *more)

    def _keys(self) -> None:
        value = self._value
        if self._finding:
            self.put_keys([("enter", "to these", "submit")], "all", "cancel")
            return
        keys = [*([("enter", _enter_does(value), "edit")] if value is not None else []), ("/", "find", "find")]
        if value is not None and value.setting.kind == "choice":
            keys.insert(1, ("← →", "values", "step(1)"))
        if value is not None and value.source in ("user", "project"):
            keys.append(("x", "default again", "unset"))
        if self._changes:
            keys.append((UNDO_KEY, "undo", "undo"))
        self.put_keys(keys, "all" if self._words else "closes")

    @property
    def _value(self) -> SettingValue | None:
        return self._config.find_value(str(self._shown)) if self._shown else None

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        self._shown = event.key
        self._show_setting()

    def on_record_list_chosen(self) -> None:
        self.action_edit()

    def _show_setting(self) -> None:
        self._describe()
        self._keys()

    def _describe(self, begun: str = "") -> None:
        """Describe the setting under the cursor in as many lines as it needs; of the themes only those that `begun`, a
        name that is being typed, may become."""
        value = self._value
        lines = (
            []
            if value is None
            else setting_detail(value, _near_names(begun.strip(), sorted(self.app.available_themes)))
        )
        self.preview.show_lines(lines)
        needed = self.preview.virtual_size.height + 1
        self.query_one("#settings-more").styles.height = max(
            PREVIEW_LINES, min(needed, self.size.height - OTHER_LINES)
        )

    def on_resize(self) -> None:
        self.call_after_refresh(self._describe)

    def on_ask_bar_edited(self, event: AskBar.Edited) -> None:
        """Find settings by what is typed, or narrow the themes to those that are near to it."""
        if self._finding:
            self._find(event.text)
        elif self._editing and self._value is not None:
            whole = event.text in (typed_value(self._value.value), *self.app.available_themes)
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
            self._ask_line(
                question,
                "",
                lambda text: self._put_value(value, "false") if text in YES_ANSWERS else None,
                "answers",
                True,
            )
        elif value.setting.kind == "bool":
            self._put_value(value, value_text(not value.value))
        elif value.setting.kind == "choice":
            choices = value.setting.choices
            self._put_value(value, choices[(choices.index(value.value) + step) % len(choices)])
        else:
            self._ask_value(value, self._value_as_typed(value))

    def action_step(self, step: int) -> None:
        """Take the next of the values of a switch or a choice, or the one before."""
        if self._value is not None and self._value.setting.kind in ("bool", "choice"):
            self.action_edit(step)

    def _value_as_typed(self, value: SettingValue) -> str:
        """Return a value as it is typed; the theme that is shown where none is set."""
        return typed_value(value.value) or (self.app.theme if value.name == "theme" else "")

    def _ask_value(self, value: SettingValue, text: str) -> None:
        self._editing = True
        self._ask_line(value.name, text, lambda text: self._put_value(value, text.strip()), "saves")
        if value.name == "theme":
            self.query_one(AskBar).offer(sorted(self.app.available_themes))
            self.put_keys([("enter", "saves", "submit"), ("↑ ↓", "choose", "choose(1)")], "cancels", "cancel")

    def _ask_line(
        self, label: str, value: str, answer: Callable[[str], None], does: str, one_key: bool = False
    ) -> None:
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
        self._ask_line("find", self._words, self._find, "")
        self._keys()

    def _find(self, words: str) -> None:
        self._words = words.strip()
        self.row_list.empty_text = _ageing_rule() if AGE_QUESTIONS & set(words.lower().split()) else self.EMPTY
        rows = self.first_rows()
        self.row_list.set_rows(rows)
        first = next(filter(rows.selectable, range(len(rows))), None) if self._words else None
        if first is not None:
            self.row_list.select(rows.key(first))
        self._draw_title()
        self._keys()

    def action_unset(self) -> None:
        """Take the setting under the cursor out of its file, so that its default holds."""
        value = self._value
        if value is not None and value.source in ("user", "project"):
            self._change(SettingChange(value.path, value.name, typed_value(value.value), None))

    def action_undo(self) -> None:
        """Undo the last change made here."""
        if self._changes:
            last = self._changes[-1]
            self._change(SettingChange(last.path, last.name, last.after, last.before), undoes=True)
        else:
            self.say("Nothing that was changed here is left to undo.", "warning")

    def _put_value(self, value: SettingValue, text: str) -> None:
        own = value.source in ("user", "project")
        before = typed_value(value.value) if own else None
        if not text and own:  # nothing typed: the default
            self.action_unset()
            return
        if value.name == "theme":
            text = {name.casefold(): name for name in self.app.available_themes}.get(text.casefold(), text)
        if value.name == "theme" and text and text not in self.app.available_themes:
            listed = ", ".join(sorted(self.app.available_themes))
            self.say(f"There is no theme “{text[:40]}”. There are {listed}.", "warning")
            self.call_after_refresh(self._ask_value, value, text)  # once the bar is left
        elif text in ("", self._value_as_typed(value)):
            self.say(
                f"{value.name} is {text or typed_value(value.value) or 'the default'} already: nothing was changed."
            )
        else:
            self._change(SettingChange(value.path if own else user_settings_path(), value.name, before, text))

    @work(thread=True, group="settings", exit_on_error=False, description="change a setting")
    def _change(self, change: SettingChange, undoes: bool = False) -> None:
        try:
            if change.after is None:
                remove_setting(change.path, change.name)
            else:
                write_setting(change.path, change.name, change.after)
        except MemorandaError as error:
            self.app.call_from_thread(self._ask_after_refusal, change, str(error))
            return
        self.app.call_from_thread(self._show_change, change, undoes)

    def _ask_after_refusal(self, change: SettingChange, why: str) -> None:
        """Say why, and ask again for a value that was typed."""
        self.say(why, "error")
        value = self._config.find_value(change.name)
        if value is not None and change.after is not None and value.setting.kind not in ("bool", "choice"):
            self.call_after_refresh(self._ask_value, value, change.after)

    def _show_change(self, change: SettingChange, undoes: bool) -> None:
        if undoes:
            self._changes.pop()
        else:
            self._changes.append(change)
        cast("Application", self.app).configure_again()
        self._config = load_config(self._location, KEYS_BY_ID, FIXED_KEYS)
        shown = self.row_list
        shown.set_rows(self.first_rows())
        shown.select(change.name)
        self._show_setting()
        now = self._config.find_value(change.name)
        is_now = "" if now is None else f" is {value_text(now.value)}"
        back = "" if undoes else f", {UNDO_KEY} to undo"  # before the path, which may be longer than the line
        where = f"{'taken out of' if change.after is None else 'written to'} {change.path}"
        self.say(f"{'Undone: ' if undoes else ''}{change.name}{is_now}{back}: {where}")

    def action_leave(self) -> None:
        if self._words:
            self._find("")
        else:
            self.dismiss(None)


def typed_value(value: object) -> str:
    """Return a value as it is typed."""
    return value_text(value) if value != "" else ""


def _enter_does(value: SettingValue) -> str:
    """Return what Enter does to a setting."""
    if value.setting.kind == "bool":
        return "turn off" if value.value else "turn on"
    return "next value" if value.setting.kind == "choice" else "change"


def _near_names(begun: str, names: Sequence[str]) -> Sequence[str]:
    """Return the names that have the typed text in them, or are spelled much like it; all where none is."""
    text = begun.lower()
    return [name for name in names if text in name] or get_close_matches(text, names) or names


def _ageing_rule() -> str:
    """Return how facts grow old, for who looks for a setting of that."""
    days: dict[int, list[str]] = {}
    for confidence, thresholds in AGEING_DAYS.items():
        days.setdefault(thresholds[2], []).append(confidence)
    (first, among), *others = [(number, " or ".join(which)) for number, which in days.items()]
    rest = "".join(f", {number} if it is {which}" for number, which in others)
    return (
        f"No setting: facts grow old by a fixed rule. Not confirmed, one is stale after {first} days if its"
        f" confidence is {among}{rest}. {key_name('record.confirm')}"
        f" confirms a fact; {key_name('record.pin')} pins it, so that it never ages. Escape shows all settings."
    )


def _words_to_find(value: SettingValue) -> str:
    """Return by which words a setting is found."""
    return f"{value.name} {value.setting.meaning} {' '.join(SETTING_WORDS.get(value.name, ()))}".lower()


def setting_detail(value: SettingValue, themes: Sequence[str]) -> list[StyledLine]:
    """Describe a setting in full; `themes` are those to list."""
    setting = value.setting
    where = f"${value.path}" if value.source == "environment" else value.path
    kept = f" {setting.own}, so only your own file sets it" if setting.own else ""
    lines: list[StyledLine] = [
        [(value.name, "own")],
        [(f"{setting.meaning}.", "title")],
        [],
        label_row("Value", value_text(value.value)),
        label_row(
            "Default", KEYS_BY_ID[value.name[5:]].keys if setting.kind == "keys" else value_text(setting.default)
        ),
        label_row("From", visible(where) or "the default: no file and no variable sets it"),
        label_row(
            "Takes",
            f"{', '.join(themes)} ({key_name('theme.choose')} in any pane chooses one)"
            if value.name == "theme"
            else setting.allowed_values,
        ),
    ]
    return [*lines, *([[(f"It{kept}.", "dim")]] if kept else [])]
