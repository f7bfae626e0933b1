"""Panes: each is what the table declares, and the recipe of CONTRIBUTING.md adds one."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.stories import Story
from test_docs import CONTRIBUTING, ROOT, section

from tui.input.key_table import KEYS, KEYS_BY_ID, LIST_NAMES, PANES_BY_NAME, RECORD_LISTS, TAB_ORDER, Pane
from tui.lists.fact_groups import PANE_FACETS, kind_facet
from tui.lists.view_state import PANE_TITLES, View, empty_list_text, empty_pane_text
from tui.workers.engine import PANE_COUNTS, PANE_ROWS


@pytest.mark.parametrize("pane", PANES_BY_NAME.values(), ids=TAB_ORDER)
def test_what_a_pane_names_exists(pane: Pane):
    """The keys in its texts, the fields of the view, what reads its rows."""
    for text in (pane.empty, pane.filtered):
        assert set(re.findall(r"\{([^}]+)\}", text)) <= set(KEYS_BY_ID)
    assert all(hasattr(View(), name) for name in pane.filters)
    assert bool(pane.filters) == (pane.name in PANE_FACETS)
    assert not pane.is_narrowed(View()) and bool(pane.filters) == bool(pane.filtered)
    key = KEYS_BY_ID[f"pane.{pane.name}"]
    assert (key.keys, key.help) == (pane.key, pane.help) and key in KEYS
    assert (pane.name in LIST_NAMES) == pane.listed and (pane.name in RECORD_LISTS) == (pane.records and pane.listed)
    assert set(PANE_ROWS) | set(PANE_COUNTS) | set(PANE_TITLES) | set(PANE_FACETS) <= set(TAB_ORDER)


@pytest.mark.parametrize("name", [name for name, pane in PANES_BY_NAME.items() if pane.filters])
def test_an_empty_list_says_whether_a_filter_made_it_empty(name: str):
    view = View()
    assert empty_list_text(name, view) == empty_pane_text(name)
    for field in PANES_BY_NAME[name].filters:
        narrowed = View(**{field: "commit"})
        assert empty_list_text(name, narrowed) != empty_pane_text(name) and "{" not in empty_list_text(name, narrowed)


def test_the_recipe_adds_a_pane(story: Story, tmp_path: Path):
    """A copy of `tui` gets what the recipe says, and nothing else: key, tab, title, list, preview,
    footer and empty text are there when the application runs."""
    with story.open() as memory:
        memory.events.log("phase_started")
        memory.events.log("phase_completed")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    recipe = section(CONTRIBUTING, "Add a pane")
    copied = tmp_path / "copied"
    shutil.copytree(ROOT / "tui", copied / "tui", ignore=shutil.ignore_patterns("__pycache__"))
    declaration, reading = re.findall(r"^   ```python\n(.*?)^   ```", recipe, re.DOTALL | re.MULTILINE)
    table, engine = copied / "tui" / "input" / "key_table.py", copied / "tui" / "workers" / "engine.py"
    before, end, after = table.read_text().partition("\n)\n\nPANES_BY_NAME")
    table.write_text(f"{before}\n{textwrap.dedent(declaration).rstrip()},{end}{after}")
    [line] = re.findall(r"add `(.+?)` to `PANE_ROWS`", recipe)
    before, rows, after = engine.read_text().partition("PANE_ROWS: ")
    after = after.replace("{\n", f"{{\n    {line}\n", 1)
    engine.write_text(f"{before}{textwrap.dedent(reading)}\n\n{rows}{after}")
    path = os.pathsep.join(map(str, (copied, ROOT / "tests", ROOT)))
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("added_pane.py"), story.folder, nothing],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["tui"] == str(copied / "tui"), "the copy ran"
    assert seen["at"] == "events" and seen["title"].startswith("Events") and "f2 Events" in seen["tabs"]
    with story.open() as memory:
        newest, *_ = numbers = memory.events.ids()
    assert len(seen["rows"]) == len(numbers) >= 2 and f"E#{newest}" in seen["rows"][0]
    assert any(f"E#{newest}" in line for line in seen["preview"])
    assert all(key in seen["footer"] for key in ("e log", "space mark", "? help")) and seen["asks"] == [": event"]
    assert seen["next"] == "preview" and seen["narrow"] == ["events"]
    assert seen["empty"] and "No events yet. Press e to log" in seen["empty"][0]


def test_the_kinds_of_the_timeline_add_up_to_all_and_what_is_apart_says_so() -> None:
    facet = kind_facet({"decision": 3, "commit": 4, "summary": 2})
    together = [one for one in facet.choices if "not in All" not in one.word]
    assert sum(one.number or 0 for one in together) == facet.total == 7
    assert [one.word for one in facet.choices if one not in together] == ["Summaries, not in All"]
