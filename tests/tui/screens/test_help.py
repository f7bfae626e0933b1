"""The help: every key and command with what it does."""

from support.screen import Person

from tui.input.key_table import KEYS, KEYS_BY_ID
from tui.input.verb_table import list_verbs
from tui.screens.base import HelpScreen, help_entries, help_rows
from tui.screens.dialogs import Chooser
from tui.widgets.record_list import RecordList


def test_it_lists_those_with_a_key_then_those_in_the_box_then_lists_plans_and_commands() -> None:
    remapped = {"record.edit": "E"}
    entries = help_entries(remapped)
    targets = [target for target, _, _ in entries if target]
    keyed = [f"key:{key.id}" for key in KEYS if key.keys or key.id in remapped]
    assert targets[: len(keyed)] == keyed
    assert {target.partition(":")[2] for target in targets} == {*KEYS_BY_ID, *(verb.name for verb in list_verbs())}
    assert len(targets) == len(set(targets))
    rows = help_rows(entries)
    for index, (target, name, text) in enumerate(entries):
        line = "".join(text for text, _ in rows.lines(index, 110)[0])
        assert not target or (name and line.startswith(f"  {name} ") and text[:20] in line), line


async def test_it_opens_over_all_and_does_what_is_chosen(person: Person) -> None:
    # whoever looks for a word there begins with it: the box finds by other words too
    await person.press("question_mark", "slash")
    await person.until(lambda: isinstance(person.app.screen, Chooser))
    await person.press("escape")
    # a key is named as it is typed
    await person.press("question_mark")
    found = person.app.screen.query_one(RecordList)
    for target, more in (("key:record.tag", "All its keys: #"), ("key:view.files", "the box that : opens finds it")):
        assert found.select(target)
        await person.until(lambda more=more: person.sees(more))  # type: ignore[misc]
    await person.press("enter")
    await person.until(lambda: person.place == "files")
    # over a plan it has the plan's keys
    await person.press("escape")
    await person.command("purge F#2")
    await person.until(lambda: person.planning)
    shown = person.app.screen
    await person.press("question_mark")
    assert isinstance(person.app.screen, HelpScreen)
    assert person.sees("Keys of this screen", "Keys of every list", "esc")
    assert not person.sees("finds by other words") and not person.sees("Commands, after :")
    await person.press("question_mark")
    assert person.app.screen is shown
