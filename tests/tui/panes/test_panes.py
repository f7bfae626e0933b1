"""Panes and views: each is what it declares, and the recipes of CONTRIBUTING.md add a view and a key."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from support.stories import Story
from support.tables import each
from test_docs import CONTRIBUTING, ROOT, section

from tui.actions.table import ACTIONS
from tui.demo import TOUR_STOPS
from tui.input.key_table import KEYS_BY_ID, PANE_NAMES, VIEW_NAMES
from tui.main_screen.places import PANES, load_view
from tui.panes.facts import MISSING
from tui.panes.pane import Pane

IMPORTS = """
from array import array
from collections.abc import Sequence
from functools import partial
from typing import Any

from store.base.citations import cite
from store.base.vocabulary import pack_key
from store.memory import Memory
from tui.actions.action import Action
from tui.lists.record_rows import KeyedRows, entry_lines
from tui.panes.facts import read_records
from tui.panes.pane import Loaded, Pane, Reading
from tui.screens.dialogs import FormField
"""


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
    said = " ".join(some + none for _, some, none in MISSING)
    named |= set(re.findall(r"\{(\w+\.[\w-]+)\}", f"{stops} {said}"))
    assert len(named) > 20 and named <= set(KEYS_BY_ID), named - set(KEYS_BY_ID)


def test_the_recipes_add_a_view_and_a_key(story: Story, tmp_path: Path) -> None:
    """A copy of `tui` gets what they say, and nothing else: the box, top line, title, list, preview, footer, key, form
    and empty text are there when the application runs."""
    with story.open() as memory:
        memory.events.log("phase_started")
        memory.events.log("phase_completed")
    (tmp_path / "nothing").mkdir()
    copied = tmp_path / "copied"
    shutil.copytree(ROOT / "tui", copied / "tui", ignore=shutil.ignore_patterns("__pycache__"))
    view, key = (section(CONTRIBUTING, title) for title in ("Add a view", "Add a key"))
    block = re.compile(r"^   ```python\n(.*?)^   ```", re.DOTALL | re.MULTILINE)
    [reading], [doing] = block.findall(view), block.findall(key)
    code = "\n\n".join([IMPORTS, *map(textwrap.dedent, (doing, reading))])
    (copied / "tui" / "panes" / "journal.py").write_text(code)
    keys, places = copied / "tui" / "input" / "keys.toml", copied / "tui" / "main_screen" / "places.py"
    lines = re.findall(r'`("[a-z.]+" = \{.*?\})`', view + key, re.DOTALL)
    keys.write_text(
        keys.read_text().replace("[keys]\n", "\n".join(["[keys]", *(" ".join(line.split()) for line in lines), ""]))
    )
    [row] = re.findall(r"Add `(.+?,)` to `PANES`", view)
    text = places.read_text().replace("import agents,", "import agents, journal,", 1)
    places.write_text(text.replace("        *(records.TODAY", f"        {row}\n        *(records.TODAY", 1))
    path = os.pathsep.join(map(str, (copied, ROOT / "tests", ROOT)))
    command = [sys.executable, Path(__file__).with_name("added_view.py"), story.folder, tmp_path / "nothing"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["tui"] == str(copied / "tui"), "the copy ran"
    assert seen["place"] == "journal" and seen["title"].startswith("Journal 4") and "› Journal" in seen["top"]
    with story.open() as memory:
        newest, *before = memory.events.ids()
    assert len(seen["rows"]) == len(before) == 4 and f"E#{before[0]}" in seen["rows"][0]
    assert any(f"E#{before[0]}" in line for line in seen["preview"]) and " e log " in seen["footer"]
    assert seen["said"] == f"Logged E#{newest}, u to undo" and seen["more"] == 5
    assert "No events yet. e logs the first one." in seen["empty"]
