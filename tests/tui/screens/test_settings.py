"""The settings: value, default and origin of each; changed in place, and undone. Real files."""

from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, Person, opened
from support.stories import Story, copy
from textual.widgets import Input

from store.config.configuration import user_settings_path as user_config_path
from tui.input.key_table import FURTHER_SCREENS
from tui.input.verb_table import MODULES
from tui.screens.settings import SettingsScreen
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return copy(tmp_path / "billing-api")


async def settings(person: Person, name: str) -> None:
    await person.press("0", "s")
    await person.until(lambda: isinstance(person.app.screen, SettingsScreen))
    assert person.app.screen.query_one("#settings", RecordList).select(name)
    await person.settle()


def told(person: Person) -> dict[str, str]:
    """The fields of the preview."""
    rows = person.app.screen.query_one("#settings-preview", Preview)._rows
    lines = ["".join(text for text, _, _ in row).rstrip() for row in rows]
    return {line.split()[0]: line[13:].strip() for line in lines[2:] if line.strip()}


def line(person: Person, name: str) -> str:
    return next(line for line in person.lines if f" {name} " in line)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
async def test_each_says_its_value_and_source(
    story: Story, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_RETENTION_DAYS", "30")
    (story.folder / ".memoranda" / "config.toml").write_text("capture_commits = false\n")
    (story.folder / ".memoranda" / "config.toml").chmod(0o600)
    async with opened(story.folder, size) as person:
        await settings(person, "retention_days")
        assert told(person)["Value"] == "30" and told(person)["Default"] == "365"
        assert told(person)["From"] == "$MEMORANDA_RETENTION_DAYS" and "variable" in line(person, "retention_days")
        await person.press("enter")
        assert person.toasts == ["$MEMORANDA_RETENTION_DAYS sets retention_days over every file: change it there."]
        person.app.screen.query_one("#settings", RecordList).select("capture_commits")
        await person.settle()
        assert "project" in line(person, "capture_commits") and "false" in line(person, "capture_commits")
        assert "default" in line(person, "capture_decisions")


async def test_one_is_changed_in_place_and_undone(person: Person) -> None:
    """A switch and a choice at once, a number in a line; what did not fit is said, and the file stays."""
    await settings(person, "badges")
    before = told(person)["Value"]
    await person.press("enter")
    await person.until(lambda: told(person)["Value"] != before)
    assert Path(user_config_path()).read_text().startswith("badges")
    await person.until(
        lambda: any("badges is " in toast and ", u to undo: written to " in toast for toast in person.toasts)
    )
    person.app.screen.query_one("#settings", RecordList).select("agent.seconds")
    await person.settle()
    await person.press("enter", *["backspace"] * 9, "7", "enter")
    await person.until(lambda: told(person)["Value"] == "7")
    await person.press("c", "x", "enter")
    await person.until(lambda: any("agent.seconds takes a whole number" in toast for toast in person.toasts))
    assert told(person)["Value"] == "7" and person.at == "line", "it asks again"
    await person.press("escape", "u")
    await person.until(lambda: told(person)["Value"] == "5")
    await person.until(lambda: any(toast.startswith("Undone: agent.seconds is 5") for toast in person.toasts))
    await person.press("u")
    await person.until(lambda: told(person)["Value"] == before)
    assert Path(user_config_path()).read_text().strip() in ("", "[agent]"), "nothing is left in the file"
    await person.press("u")
    await person.until(lambda: "Nothing that was changed here is left to undo." in person.toasts)
    await person.press("escape")
    assert person.app.screen is person.main


async def test_words_find_settings_and_escape_shows_all_again(narrow: Person) -> None:
    await settings(narrow, "badges")
    await narrow.press("slash")
    await narrow.press(*"half")
    assert narrow.sees("search.halfLifeDays", "with “half”", "enter to these") and not narrow.sees(" badges ")
    await narrow.paste(" score")
    await narrow.press("enter")
    assert narrow.sees("search.halfLifeDays", "with “half score”") and not narrow.sees(" badges ")
    await narrow.press("slash", "ctrl+u", *"retention", "enter")
    assert narrow.app.screen.query_one("#settings", RecordList).cursor_key == "retention_days", "the first of them"
    await narrow.press("slash", *"x", "escape")
    assert not narrow.sees("with “") and narrow.app.screen is not narrow.main, "all of them, and still here"
    await narrow.press("slash")
    await narrow.paste("no such words")
    await narrow.press("enter")
    assert narrow.sees("No setting has these words.")
    await narrow.press("escape")
    assert narrow.sees(" badges ") or narrow.app.screen.query_one("#settings", RecordList).select("badges")
    await narrow.press("escape")
    assert narrow.app.screen is narrow.main


async def test_typing_replaces_a_value_and_an_unknown_theme_is_refused(person: Person) -> None:
    await settings(person, "theme")
    await person.press("enter")
    assert person.sees("enter saves", "esc cancels")
    await person.paste("light")
    await person.press("enter")
    assert "There is no theme “light”. There are " in person.toasts[-1] and "textual-light" in person.toasts[-1]
    assert not Path(user_config_path()).exists()
    assert person.at == "line" and person.app.screen.query_one("#line", Input).value == "light", "it asks again"
    await person.press("backspace", "backspace", "backspace", "backspace", "backspace", "enter")
    assert not Path(user_config_path()).exists(), "what is as it was is not written"
    assert told(person)["Takes"].startswith("ansi-dark, ansi-light, "), "all of them are listed before one is typed"
    person.app.screen.query_one("#settings", RecordList).select("agent.seconds")
    await person.settle()
    await person.press("enter", "9", "enter")
    await person.until(lambda: told(person)["Value"] == "9")


async def test_all_themes_are_seen_and_fewer_while_one_is_typed(narrow: Person) -> None:
    await settings(narrow, "theme")
    shown = " ".join(" ".join(line.split()) for line in narrow.lines)
    assert ", ".join(sorted(narrow.app.available_themes)) in shown and "(T in any pane chooses one)" in shown
    await narrow.press("enter")
    for typed, names in (("nor", "nord"), ("drakula", "dracula"), ("solar", "solarized-dark, solarized-light")):
        await narrow.press("ctrl+u")
        await narrow.paste(typed)
        await narrow.until(lambda names=names: told(narrow)["Takes"].startswith(f"{names} ("))
    await narrow.press("escape")
    await narrow.until(lambda: told(narrow)["Takes"].startswith("ansi-dark, ansi-light, "))


async def look_for(person: Person, words: str) -> None:
    await person.press("slash", "ctrl+u")
    await person.paste(words)
    await person.press("enter")


async def test_how_facts_grow_old_is_found_where_settings_are_looked_for(narrow: Person) -> None:
    await settings(narrow, "badges")
    for word in ("stale", "fresh", "aging", "confirm", "age", "days"):
        await look_for(narrow, word)
        await narrow.press("g", "pageup")
        shown = " ".join(" ".join(line.split()) for line in narrow.lines)
        assert "one is stale after 180 days if its confidence is high, 120 if it is medium or low." in shown, word
        if word in ("age", "days"):
            assert narrow.sees(" retention_days ") and narrow.sees("enter ", "/ find")
        else:
            assert not narrow.sees("enter change"), "there is nothing to change"


async def test_other_words_for_a_setting_find_it(person: Person) -> None:
    await settings(person, "badges")
    for words, name in (("colour", "theme"), ("vim", "editor"), ("pause", "enabled")):
        await look_for(person, words)
        assert person.sees(f" {name} "), words


async def test_all_recording_is_turned_off_only_after_a_question(person: Person) -> None:
    await settings(person, "enabled")
    assert person.sees("enter turn off")
    await person.press("enter", "n")
    assert told(person)["Value"] == "true"
    await person.press("enter", "y")
    await person.until(lambda: told(person)["Value"] == "false")
    assert person.toasts[-1].startswith("enabled is false, u to undo: ")


async def test_t_marks_the_present_theme_and_begins_there(person: Person) -> None:
    person.app.theme = "tokyo-night"
    await person.press("T")
    await person.until(lambda: person.sees("tokyo-night  ● now"))
    await person.press("enter")
    assert person.app.theme == "tokyo-night"


async def test_x_takes_one_out_of_its_file_and_undo_puts_it_back(story: Story) -> None:
    target = Path(user_config_path())
    target.parent.mkdir(parents=True)
    target.write_text('# mine\ndocuments.extraPaths = ["a.md", "b.md"]\n')
    async with opened(story.folder, WIDE) as person:
        await settings(person, "documents.extraPaths")
        assert told(person)["Value"] == "a.md, b.md"
        await person.press("x")
        await person.until(lambda: told(person)["Value"] == '""' or told(person)["Value"] == "")
        await person.press("u")
        await person.until(lambda: told(person)["Value"] == "a.md, b.md")
        assert target.read_text().startswith("# mine\n") and '["a.md", "b.md"]' in target.read_text()


async def test_an_emptied_value_is_the_default(person: Person) -> None:
    await settings(person, "theme")
    before = told(person)
    await person.press("enter")
    await person.paste("nord")
    await person.press("enter")
    await person.until(lambda: told(person)["Value"] == "nord")
    await person.press("enter", "ctrl+u", "enter")
    await person.until(lambda: told(person) == before)
    assert "theme" not in Path(user_config_path()).read_text()


async def test_arrows_choose_a_theme_and_what_is_as_it_was_is_said(narrow: Person) -> None:
    await settings(narrow, "theme")
    await narrow.press("enter")
    assert narrow.sees("enter saves", "↑ ↓ choose")
    await narrow.press("enter")
    assert narrow.toasts == ["theme is textual-dark already: nothing was changed."]
    await narrow.press("enter", "down", "down", "up")
    assert narrow.app.screen.query_one("#line", Input).value == "textual-light"
    await narrow.paste("sol")
    await narrow.press("down", "enter")
    await narrow.until(lambda: narrow.app.theme == "solarized-dark" and told(narrow)["Value"] == "solarized-dark")
    await narrow.press("enter", "enter")
    assert narrow.toasts == ["theme is solarized-dark already: nothing was changed."]
    await narrow.press("x")
    await narrow.until(lambda: told(narrow)["Value"] == '""')
    await narrow.press("enter", "ctrl+u", "enter")
    assert narrow.toasts == ["theme is the default already: nothing was changed."]


async def test_arrows_choose_among_few_values(narrow: Person) -> None:
    await settings(narrow, "search.setting")
    assert narrow.sees("← → values")
    before = told(narrow)["Value"]
    await narrow.press("right")
    await narrow.until(lambda: told(narrow)["Value"] != before)
    await narrow.press("right")
    await narrow.until(lambda: told(narrow)["Value"] not in (before, "seed"))
    await narrow.press("left", "left")
    await narrow.until(lambda: told(narrow)["Value"] == before)
    narrow.app.screen.query_one("#settings", RecordList).select("agent.seconds")
    await narrow.settle()
    said = narrow.said
    await narrow.press("right")
    assert narrow.at == "settings" and narrow.said == said and not narrow.sees("← → values")


@pytest.mark.parametrize("typed", ["textual-light", "Nord"])
async def test_a_change_counts_at_once_and_a_theme_is_found_whatever_its_capitals(typed: str, person: Person) -> None:
    await settings(person, "theme")
    await person.press("enter")
    await person.paste(typed)
    await person.press("enter")
    await person.until(lambda: person.app.theme == typed.lower())


async def test_0_opens_the_screens_without_a_pane_and_escape_stays(person: Person) -> None:
    assert "0 More" in person.lines[0]
    await person.press("0")
    assert person.sees("a  Agents", "s  Settings") and person.sees("m  Model")
    await person.press("escape")
    assert person.app.screen is person.main
    await person.press("0", "a")
    await person.until(lambda: person.sees("AGENTS"))
    await person.press("escape")
    await person.command("config")
    assert isinstance(person.app.screen, SettingsScreen)


def test_each_screen_is_of_a_command_and_has_a_letter_of_its_own() -> None:
    assert {one.verb.split()[0] for one in FURTHER_SCREENS} <= set(MODULES)
    assert len({one.letter for one in FURTHER_SCREENS}) == len(FURTHER_SCREENS)
