"""Keys that a person gave to other letters: they work, everything names them, and nobody is locked out."""

import re
from pathlib import Path

import pytest
from support.screen import opened
from support.stories import Story

import tui
from store.config.configuration import user_settings_path
from tui import cli
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, resolve_keys
from tui.screens.menus import palette_entries


def remap(**wanted: str) -> None:
    target = Path(user_settings_path())
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'"{id.replace("__", ".").replace("_", "-")}" = "{key}"' for id, key in wanted.items()]
    target.write_text("\n".join(["[keys]", *lines, ""]))


def test_nothing_remapped_is_nothing_to_say() -> None:
    assert resolve_keys({}) == ({}, [])


def test_two_may_change_places() -> None:
    changed, problems = resolve_keys({"record.forget": "c", "record.correct": "f"})
    assert changed == {"record.forget": "c", "record.correct": "f"} and problems == []


def test_of_two_on_one_key_the_first_in_the_table_keeps_it() -> None:
    changed, problems = resolve_keys({"record.forget": "c"})
    assert changed == {"record.forget": "c", "record.correct": ""}
    assert problems == ["c would be record.forget and record.correct; record.forget keeps it."]
    changed, problems = resolve_keys({"record.confirm": "f"})
    assert changed == {} and problems == ["f would be record.forget and record.confirm; record.forget keeps it."]


def test_a_lists_moves_and_the_plans_keys_clash_in_their_own_places() -> None:
    changed, problems = resolve_keys({"record.forget": "j"})
    assert changed["list.down"] == "down" and "list.down" in problems[0]
    assert resolve_keys({"plan.kind": "f"})[1] == []  # f forgets elsewhere
    assert resolve_keys({"plan.kind": "s"})[1] == ["s would be plan.kind and plan.strategy; plan.kind keeps it."]


def test_quit_and_the_palette_keep_their_keys() -> None:
    changed, problems = resolve_keys({"app.quit": "Q", "palette.open": "f9", "record.forget": "ctrl+q"})
    assert changed["app.quit"] == "Q,ctrl+q" and changed["palette.open"] == "f9,ctrl+p"
    assert "record.forget" not in changed
    assert problems == ["ctrl+q is app.quit, whatever else is set; record.forget cannot have it."]


def test_a_sign_and_its_name_are_one_key() -> None:
    assert resolve_keys({"record.forget": "/"})[1] == resolve_keys({"record.forget": "slash"})[1] != []


async def test_everything_names_the_key_that_is(story: Story) -> None:
    remap(memory__undo="z", list__hidden="X", record__add="A")
    async with opened(story.folder) as person:
        await person.press("f")
        assert person.toasts == ["Forgot F#2, z to undo"]
        await person.press("j")  # the keys, in the place of the message
        assert "z undo" in person.lines[-1] and "A add" in person.lines[-1] and "u undo" not in person.lines[-1]
        assert person.sees("hidden: X")
        await person.press("z")
        assert any("Undid" in toast for toast in person.toasts)
        await person.press("question_mark")
        await person.until(lambda: person.sees("HELP"))
        assert person.sees("A            Add a fact")
        assert ("undo", "z") in [(name, key) for name, key, *_ in palette_entries(person.app.remapped)]


async def test_an_empty_pane_names_the_key_that_is(tmp_path: Path) -> None:
    remap(record__add="A", list__filter="F", checkpoint__restore="g")
    async with opened(tmp_path) as person:
        await person.until(lambda: person.sees("No facts yet. Press A to add"))
        await person.press("2")
        assert "newest first. Press A to record a decision" in " ".join(
            " ".join(line.partition("│")[0] for line in person.lines).split()
        )


async def test_a_clash_is_said_at_the_start_and_the_first_has_the_key(story: Story) -> None:
    remap(record__forget="c")
    async with opened(story.folder) as person:
        assert person.toasts == ["c would be record.forget and record.correct; record.forget keeps it."]
        await person.press("c")
        assert "Forgot F#2, u to undo" in person.toasts
        assert " correct " not in person.lines[-1]


async def test_nobody_is_locked_out(story: Story) -> None:
    remap(app__quit="Q", palette__open="f9", command__open="f8", help__open="f7")
    async with opened(story.folder) as person:
        await person.press("q")
        assert person.app.is_running
        await person.press("ctrl+p")
        await person.until(lambda: person.sees("undo step        U     Undo the step"))
        await person.press("escape")
        await person.pilot.press("ctrl+q")
        await person.until(lambda: not person.app.is_running)


async def test_what_a_line_or_a_list_needs_stays_its_key(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    remap(ask__leave="f2")
    said = "ask.leave cannot have other keys: the line that asks needs it as it is."
    async with opened(story.folder) as person:
        assert person.toasts == [f"{user_settings_path()}: {said}"]
        await person.press("c", "escape")
        assert person.at == "facts"
    cli.run_command(["config", "keys.ask.leave", "f2"])
    assert said in capsys.readouterr().err
    from textual.binding import Binding

    from tui.screens.base import HelpScreen
    from tui.screens.health import DoctorScreen
    from tui.screens.menus import RecentScreen
    from tui.widgets.inputs import Line
    from tui.widgets.record_list import RecordList

    bindings = [*Line.BINDINGS, *RecordList.BINDINGS, *HelpScreen.BINDINGS, *RecentScreen.BINDINGS]
    bindings += DoctorScreen.BINDINGS
    ids = {binding.id for binding in bindings if isinstance(binding, Binding)}
    assert ids <= set(KEYS_BY_ID) | set(FIXED_KEYS) and not set(KEYS_BY_ID) & set(FIXED_KEYS)


def test_config_says_what_clashes(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    remap(record__forget="c", list__down="f8", plan__all="f6")
    cli.run_command(["config", "--db", str(story.path)])
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "c would be record.forget and record.correct; record.forget keeps it."
    cli.run_command(["config", "keys.record.pin", "c", "--db", str(story.path)])
    assert "c would be record.forget and record.pin; record.forget keeps it." in capsys.readouterr().out


def test_no_sentence_of_the_screens_has_a_key_in_it() -> None:
    """A person who gave undo another key is not told to press u."""
    root = Path(tui.__file__).parent
    found = [
        f"{path.name}: {match[0]}"
        for path in [*root.glob("*screen*/*.py"), *root.glob("workers/*.py"), *root.glob("render/*.py")]
        for match in re.finditer(
            r'"[^"{]*\b(?:[a-zA-Z] to undo|[UWRm1-5] (?:takes|shows|lists|goes)|[Pp]ress [a-z]\b|hidden: H|esc stops)',
            path.read_text(),
        )
    ]
    assert found == []
