"""Tasks of a newcomer: the keys that each takes, typed letters counted, and whether it is done at three sizes.

    python -m bench.tasks [--before CHECKOUT] [--size 80x24]

Each on a copy of the demo of its own, in the application itself. A task is done if what the memory answers to its query
changed, and its texts are on the screen. With `--before` an earlier checkout does the same with the keys that it has.
Below, how often readers hesitated who saw only the screen, agents; what they wrote (bench/cases/hesitations.json) is
not measured again."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.store import ROOT, heading

SIZES = ("80x24", "120x40", "200x50")
CASES = os.path.join(os.path.dirname(__file__), "cases", "hesitations.json")
CLEAR, ALL, ESCAPE = "\x15", "\x01", "\x1b"


@dataclass(frozen=True, slots=True)
class Task:
    """A task: the keys that lead to where it begins (`start`, not counted), those that do it, and those of the build
    before (None where they are the same, empty where it could not be done); the goal; and how it is known to be done:
    a query of the memory whose answer changes, and texts that are on the screen then."""

    name: str
    keys: str
    goal: int
    sql: str = ""
    shown: tuple[str, ...] = ()
    start: str = ""
    former: str | None = None
    seed: str = ""


def status_of(fact: str) -> str:
    return f"SELECT status FROM facts WHERE fact LIKE '{fact}%'"


CONFIRMED_TODAY = "SELECT count(*) FROM facts WHERE last_confirmed_at >= '2026-11-21'"
JENKINS = "Uses Jenkins"
QUESTION, REQUEST, PHONE = "why sqlite?", "how do we deploy?", "612 345 678"
TASKS = (
    Task("find a fact by two of its words", "/famous cent", 12, shown=("found on a Thursday", "fact · general")),
    Task(
        "correct a fact",
        f"c{CLEAR}Uses Drone\n",
        13,
        "SELECT 1 FROM facts WHERE fact = 'Uses Drone' AND supersedes IS NOT NULL",
        start="/uses jenkins\n",
    ),
    Task("see what a fact was before", "", 0, shown=("Team of three",), start="/team of four\n"),
    Task("forget a fact", "f", 1, status_of(JENKINS), start="/uses jenkins\n"),
    Task("take that back", "u", 1, status_of(JENKINS), start=f"/uses jenkins\nf{ESCAPE}"),
    Task("take back three changes at once", "U\n", 4, CONFIRMED_TODAY, start="yjyjy", former="4   Uy"),
    Task(
        "confirm all stale facts",
        f"2{ALL}y\n",
        3,
        "SELECT count(*) FROM history WHERE reason LIKE 'confirm F%'",
        former=f"d{ALL}yy",
    ),
    Task("accept one proposal", "1y", 4, "SELECT count(*) FROM proposals WHERE state = 'accepted'", former="6y"),
    Task(
        "link a decision with its commit",
        "L\n",
        4,
        "SELECT count(*) FROM commit_links",
        start="/kind:decision pdf\n",
        former="",
    ),
    Task(
        "this fact replaces that one",
        "S\n",
        4,
        status_of("Team of four"),
        start="/the team is five\n",
        former="",
    ),
    Task(
        "erase a telephone number",
        f"/{PHONE}\nF\n",
        4 + len(PHONE),
        f"SELECT count(*) FROM facts WHERE fact LIKE '%{PHONE}%'",
        seed=f"Noor is on {PHONE}",
    ),
    Task("restore a checkpoint but for one record", "55R \n", 6, "SELECT count(*) FROM history", former="3R \n"),
    Task("what was known on 1 June", "@2026-06-01\n", 14, shown=("AS OF",)),
    Task(
        "why did we choose SQLite?",
        f"/{QUESTION}\n",
        len(QUESTION) + 2,
        shown=("D#7", "one file"),
        former=f"8{QUESTION}\n",
    ),
    Task(
        "what would an agent get for this request",
        f"I{REQUEST}\n",
        len(REQUEST) + 2,
        shown=(REQUEST, "tokens"),
        former=f"7I{REQUEST}\n",
    ),
    Task("export everything to JSON", ":x\n", 3, shown=("Exported to",), former="x\n"),
    Task("forget by a typed command", "/memory forget F#11\n", 20, status_of(JENKINS)),
    Task("forget, its id not known", ":forget jen\n", 12, status_of(JENKINS), former=""),
    Task("choose another theme", ":theme\nnord\n", 12, shown=("The theme is nord",), former="Tnord\n"),
)

DRIVER = """
import asyncio, json, os, shutil, sys
from importlib import import_module, util
from textual.strip import Strip
from textual.widgets import TextArea
from tui.app import Memoranda

Memory = import_module("store.memory" if util.find_spec("store.memory") else "store").Memory  # as they were earlier
builder = "tui.demo.builder" if util.find_spec("tui.demo.builder") else ""
build_demo = import_module(builder).build_demo if builder else import_module("tui.demo").build
NOW = "2026-11-21T12:00:00.000Z"
SIGNS = {" ": "space", "?": "question_mark", "#": "number_sign", "@": "at", "/": "slash", ":": "colon", "-": "minus",
         chr(10): "enter", chr(27): "escape", chr(21): "ctrl+u", chr(1): "ctrl+a"}

def shown(app):
    with app._context():
        return chr(10).join(strip.text for strip in app.screen._compositor.render_strips(app.size))

async def settled(app, pilot):
    before, same = "", 0
    for _ in range(60):
        await pilot.pause(0.05)
        now = shown(app)
        same, before = (same + 1 if now == before and not list(app.workers) else 0), now
        if same == 4:
            break

def answer(place, sql):
    with Memory(place, "cli", lambda: NOW) as memory:
        return [list(row) for row in memory.database.rows(sql)] if sql else []

async def press(app, pilot, keys):
    for key in keys:
        await pilot.press(SIGNS.get(key, key))
        if key == " " or not (key.isalpha() and key.islower()):
            await settled(app, pilot)
    await settled(app, pilot)

async def tried(place, task, size):
    app = Memoranda(place, place.project or "", lambda: NOW)
    async with app.run_test(size=size, tooltips=False, notifications=True) as pilot:
        await settled(app, pilot)
        await press(app, pilot, task["start"])
        before = answer(place, task["sql"])
        await press(app, pilot, task["keys"])
        seen, now = shown(app), answer(place, task["sql"])
        fits = (not task["sql"] or now != before) and all(text in seen for text in task["shown"])
        if not fits and os.environ.get("SEEN"):
            print(task["name"], before, now, seen, sep=chr(10), file=sys.stderr)
        return fits

def done(place, task, size):
    draw = TextArea.render_lines  # earlier builds ended when they drew an editor that was removed
    TextArea.render_lines = lambda self, crop: draw(self, crop) if self.is_attached else [Strip.blank(crop.width)]
    try:
        return asyncio.run(tried(place, task, size))
    finally:
        TextArea.render_lines = draw

def main():
    folder, tasks, width, height = sys.argv[1], json.loads(sys.argv[2]), *map(int, sys.argv[3].split("x"))
    place = build_demo(os.path.join(folder, "demo"), NOW)
    kept, found = os.path.dirname(place.path), []
    shutil.copytree(kept, os.path.join(folder, "kept"))
    for task in tasks:
        shutil.rmtree(kept)
        shutil.copytree(os.path.join(folder, "kept"), kept)
        if task["seed"]:
            with Memory(place, "cli", lambda: NOW) as memory:
                memory.facts.remember(task["seed"])
        found.append(done(place, task, (width, height)))
    print(json.dumps(found))

main()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    parser.add_argument("--size", choices=SIZES, help="this size alone")
    options = parser.parse_args(arguments)
    sizes = [options.size] if options.size else SIZES
    heading("tasks", "on the demo's records")
    former = [task for task in TASKS if task.former != ""]
    now = {size: dict(zip(TASKS, drive(ROOT, TASKS, size), strict=True)) for size in sizes}
    before = {
        size: dict(zip(former, drive(options.before, former, size, former=True), strict=True))
        for size in (sizes if options.before else ())
    }
    print(f"\n{'task':42} before  keys  goal  {'  '.join(sizes)}")
    missed = 0
    for task in TASKS:
        keys = len(task.keys)
        fits = [now[size][task] for size in sizes]
        missed += not all(fits) or keys > task.goal
        able = before and all(before[size].get(task, False) for size in sizes)
        was = len(task.keys if task.former is None else task.former) if able else "NOT" if before else ""
        marks = "  ".join(
            f"{'done' if one else 'NOT':>{len(size)}}" for one, size in zip(fits, sizes, strict=True)
        )
        print(f"{task.name:42} {was:>6} {keys:5} {task.goal:5}  {marks}  {'ok' if keys <= task.goal else 'MISS'}")
    _readers()
    return 1 if missed else 0


def drive(tree: str | Path, tasks: Sequence[Task], size: str, former: bool = False) -> list[bool]:
    """Return which tasks a checkout does at a size; with `former` by the keys that it had."""
    given = [asdict(task) for task in tasks]
    for task in given:
        task["keys"] = task["former"] if former and task["former"] is not None else task["keys"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MEMORANDA_WITHOUT": "model,agent", "TZ": "UTC", "HOME": folder}
        environment |= {
            "PYTHONPATH": os.fspath(tree),
            "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CONFIG_HOME": f"{folder}/c",
        }
        command = [sys.executable, "-c", DRIVER, folder, json.dumps(given), size]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: list[bool] = json.loads(done.stdout.splitlines()[-1])
    return found


def _readers() -> None:
    """Print how often each reader hesitated at each size."""
    with open(CASES, encoding="utf-8") as file:
        readers = json.load(file)["readers"]
    print("\nhesitations of readers: each two after what the two before them wrote had been mended")
    for reader in readers:
        sizes = ("120×40", "80×24")
        runs = {size: [run for run in reader["runs"] if run["size"] == size] for size in sizes}
        said = (
            f"{size}: {sum(len(run['hesitations']) for run in some)}, {sum(run['done'] is True for run in some)} of"
            f" {len(some)} done"
            for size, some in runs.items()
        )
        print(f"reader {reader['reader']:26} {';  '.join(said)}")


if __name__ == "__main__":
    raise SystemExit(main())
