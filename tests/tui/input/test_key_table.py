"""Keys that a person gave to other letters: they work, everything names them, and nobody is locked out."""

import re
from pathlib import Path

import pytest
from support.commands import Do
from support.screen import opened
from support.stories import Story
from textual.binding import Binding

import tui
from store.config.configuration import user_settings_path
from tui.demo import TOUR_END, TOUR_STOPS
from tui.input.key_table import FIXED_KEYS, KEYS, KEYS_BY_ID, PLAN_KEYS, fill_in_keys, resolve_keys
from tui.screens.base import HelpScreen
from tui.screens.dialogs import Chooser, Dialog, Form
from tui.screens.start import FirstStartScreen
from tui.widgets.bars import Field
from tui.widgets.record_list import RecordList


def remap(**wanted: str) -> None:
    target = Path(user_settings_path())
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'"{id.replace("__", ".").replace("_", "-")}" = "{key}"' for id, key in wanted.items()]
    target.write_text("\n".join(["[keys]", *lines, ""]))


def test_each_key_says_what_it_does_and_none_is_fixed_too() -> None:
    assert all(key.help and key.action for key in (*KEYS, *PLAN_KEYS))
    assert not set(KEYS_BY_ID) & set(FIXED_KEYS)


BOTH = "{} would be {} and {}; {} keeps it."
LOCKED = "ctrl+q is app.quit, whatever else is set; record.forget cannot have it."


@pytest.mark.parametrize(
    ("wanted", "changed", "problem"),
    [
        ("", "", ""),
        ("record.forget=c record.correct=f", "record.forget=c record.correct=f", ""),  # two change places
        ("record.forget=c", "record.forget=c record.correct=", "c record.forget record.correct"),  # the first keeps it
        ("record.correct=f", "", "f record.forget record.correct"),
        ("record.forget=j", "record.forget=j list.down=down", "j record.forget list.down"),
        ("plan.kind=f", "plan.kind=f", ""),  # f forgets elsewhere
        ("plan.kind=s", "plan.kind=s plan.strategy=", "s plan.kind plan.strategy"),
        ("app.quit=Q command.open=f9 record.forget=ctrl+q", "app.quit=Q,ctrl+q command.open=f9,ctrl+p", LOCKED),
        ("record.forget=/", "record.forget=slash search.open=", "/ record.forget search.open"),  # a sign and its name
        ("record.edit=E", "record.edit=E", ""),  # what has no key is given one
    ],
)
def test_what_becomes_of_keys(wanted: str, changed: str, problem: str) -> None:
    keys, *ids = problem.split() or [""]
    said = BOTH.format(keys, *ids, ids[0]) if len(ids) == 2 else problem
    assert resolve_keys(_keys_of(wanted)) == (_keys_of(changed), [said] if said else [])


def _keys_of(text: str) -> dict[str, str]:
    return {id: key for id, _, key in (one.partition("=") for one in text.split())}


async def test_everything_names_the_key_that_is(story: Story) -> None:
    remap(memory__undo="Z", record__pin="A", record__edit="E")
    async with opened(story.folder) as person:
        await person.press("2", "f")
        await person.until(lambda: any("Forgot F#2" in toast and "Z" in toast for toast in person.toasts))
        await person.press("j")  # the keys, in the place of the message
        assert "Z undo" in person.lines[-1] and "A pin" in person.lines[-1] and "u undo" not in person.lines[-1]
        await person.press("Z")
        await person.until(lambda: any("Undid" in toast for toast in person.toasts))
        await person.press("question_mark")
        await person.until(lambda: person.sees("HELP"))
        assert person.sees("A                  Pin the fact")
        assert person.app.screen.query_one(RecordList).select("key:record.edit")
        await person.until(lambda: person.sees("E                  Correct the text", "E  Correct the text"))


async def test_a_clash_is_said_at_first_and_a_boxs_keys_stay(story: Story, do: Do) -> None:
    remap(record__forget="c", dialog__leave="f2", app__quit="Q", command__open="f9", help__open="f7")
    clash = "c would be record.forget and record.correct; record.forget keeps it."
    fixed = f"dialog.leave cannot have other keys: {FIXED_KEYS['dialog.leave']} needs it as it is."
    async with opened(story.folder) as person:
        assert set(person.toasts) == {f"{user_settings_path()}: {fixed}", clash}
        await person.press("2", "c")
        await person.until(lambda: any("Forgot F#2" in toast for toast in person.toasts))
        await person.press("q")
        assert person.app.is_running
        await person.press("ctrl+p")
        await person.until(lambda: isinstance(person.app.screen, Chooser))
        await person.press("escape")
        await person.until(lambda: person.app.screen is person.main)
        await person.pilot.press("ctrl+q")
        await person.until(lambda: not person.app.is_running)
    assert fixed in do("config", "keys.dialog.leave", "f2").err
    assert do("config", "--db", story.path).out.splitlines()[-1] == clash
    said = do("config", "keys.record.pin", "c", "--db", story.path).out
    assert "c would be record.forget and record.pin; record.forget keeps it." in said


def test_each_binding_can_be_remapped_or_is_named_as_fixed() -> None:
    parts = (RecordList, Field, HelpScreen, Dialog, Chooser, Form, FirstStartScreen)
    ids = {binding.id for part in parts for binding in part.BINDINGS if isinstance(binding, Binding) and binding.id}
    assert ids <= set(KEYS_BY_ID) | set(FIXED_KEYS)


def test_no_sentence_of_the_screens_has_a_key_in_it() -> None:
    """A person who gave undo another key is not told to press u."""
    root = Path(tui.__file__).parent
    found = [
        f"{path.name}: {match[0]}"
        for folder in ("main_screen", "screens", "panes", "actions", "workers", "render")
        for path in root.glob(f"{folder}/*.py")
        for match in re.finditer(
            r'"[^"{]*\b(?:[a-zA-Z] to undo|[UWRm1-5] (?:takes|shows|lists|goes)|[Pp]ress [a-z]\b|hidden: H|esc stops)',
            path.read_text(),
        )
    ]
    assert found == []


def test_each_key_that_is_named_exists() -> None:
    sources = (path.read_text() for path in Path(tui.__file__).parent.rglob("*.py"))
    named = {id for text in sources for id in re.findall(r"key_name\([\"']([\w.-]+)[\"']\)", text)}
    assert named <= set(KEYS_BY_ID), named - set(KEYS_BY_ID)
    assert "{" not in "".join(fill_in_keys(stop.why + stop.what) for stop in (*TOUR_STOPS, TOUR_END))
