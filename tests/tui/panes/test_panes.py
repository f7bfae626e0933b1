"""Panes and views: each is what it declares, and the recipe of CONTRIBUTING.md adds one."""

import re
import textwrap
import tomllib
from array import array
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.screen import Person, opened
from support.stories import Story, location
from support.tables import each
from test_docs import CONTRIBUTING, ROOT, section

from store.base.vocabulary import pack_key
from store.memory import Memory
from tui.actions.action import Action, Done
from tui.actions.table import ACTIONS
from tui.demo import TOUR_STOPS
from tui.input.key_table import KEYS_BY_ID, PANE_NAMES, VIEW_NAMES
from tui.lists.record_rows import KeyedRows, entry_lines
from tui.main_screen.places import PANES, load_view
from tui.panes.facts import MISSING, read_records
from tui.panes.pane import Loaded, Pane, Reading
from tui.screens.dialogs import FormField

EVERY = [PANES.get(name) or load_view(name) for name in (*PANE_NAMES, *VIEW_NAMES)]


@each("pane", EVERY)
def test_what_a_pane_declares_exists(pane: Pane) -> None:
    """The keys in its texts and of its actions; each action does one thing, after at most one question."""
    for text in (pane.empty, pane.filtered):
        assert set(re.findall(r"\{([^}]+)\}", text)) <= set(KEYS_BY_ID)
    assert f"pane.{pane.name}" in KEYS_BY_ID or f"view.{pane.name}" in KEYS_BY_ID
    for action in (*pane.actions, *ACTIONS):
        assert action.key in KEYS_BY_ID
        assert sum(one is not None for one in (action.does, action.plan, action.run)) == 1, action
        assert (action.plan is None) or (action.pick is None and not action.fields), action


def test_every_key_that_a_text_names_exists() -> None:
    named = set()
    for path in sorted((ROOT / "tui").rglob("*.py")):
        named |= set(re.findall(r"""key_name\(['"]([\w.-]+)['"]\)""", path.read_text(encoding="utf-8")))
    stops = " ".join(f"{stop.why} {stop.what}" for stop in TOUR_STOPS)
    said = " ".join(sentence for _, sentence in MISSING)
    named |= set(re.findall(r"\{(\w+\.[\w-]+)\}", f"{stops} {said}"))
    assert len(named) > 20 and named <= set(KEYS_BY_ID), named - set(KEYS_BY_ID)


async def test_the_recipe_adds_a_view(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title, list, preview, footer, action and empty text are there."""
    names = (Action, Any, Done, FormField, KeyedRows, Loaded, Memory, Pane, Reading, Sequence, array)
    names += (entry_lines, pack_key, partial, read_records)
    known = {one.__name__: one for one in names}  # type: ignore[attr-defined]
    recipe = section(CONTRIBUTING, "Add a view")
    code, line = re.findall(r"^   ```(?:python|toml)\n(.*?)^   ```", recipe, re.DOTALL | re.MULTILINE)
    exec(compile(textwrap.dedent(code), "events.py", "exec"), known)
    monkeypatch.setitem(PANES, "events", known["PANE"])
    (fields,) = tomllib.loads(textwrap.dedent(line)).values()

    async def opened_view(person: Person) -> None:
        await person.main.run_action(fields["action"])
        await person.settle()
        assert person.place == "events" and person.lines[0].endswith("› Events")

    async with opened(story.folder) as person:
        await opened_view(person)
        assert person.title.startswith("Events 2") and "E#2" in person.rows[0] and "E#2" in person.preview[0]
        await person.press("a")
        await person.fill("phase_started")
        assert person.toasts == ["Logged E#3"] and person.rows[0].startswith("▸") and "E#3" in person.rows[0]
    nothing = tmp_path / "nothing"
    with Memory.open(location(nothing).path):
        pass
    async with opened(nothing) as person:
        await opened_view(person)
        assert person.sees("No events yet. a logs the first one.") and "a log" in person.lines[-1]
