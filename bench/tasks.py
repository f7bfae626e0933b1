"""Twenty-one tasks of a person: the keys that each takes at 120×40, and whether it can be done at 80×24.

    python -m bench.tasks

On the demo's records, in the application itself; typed letters are keys too. A task is done if what it is about is on
the screen or in the memory afterwards. Below, how often readers hesitated who saw only the screen, agents; what
they wrote (bench/cases/hesitations.json) is not measured again."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.pilot import Pilot

from store.base.location import Location
from store.base.models import Checkpoint, Commit, Decision
from store.memory import Memory
from tui.app import Memoranda
from tui.demo import builder as demo
from tui.main_screen.screen import MainScreen

SIZES = ((120, 40), (80, 24))
CASES = os.path.join(os.path.dirname(__file__), "cases", "hesitations.json")
NOW = "2026-11-21T12:00:00.000Z"
SIGNS = {" ": "space", "?": "question_mark", "#": "number_sign", "@": "at", "/": "slash", ":": "colon"}
ENTER, ESCAPE = "\n", "\x1b"


@dataclass(frozen=True, slots=True)
class State:
    """What a task is judged by: the application and the memory, and what the newest step of history was before."""

    app: Memoranda
    memory: Memory
    before: int

    @property
    def main(self) -> MainScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def shown(self) -> str:
        """The whole screen, as text."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join(strip.text for strip in strips)

    @property
    def facts(self) -> str:
        """The texts of all facts, also of old ones."""
        return "\n".join(text for (text,) in self.memory.database.rows("SELECT fact FROM facts"))

    def did(self, *reasons: str) -> bool:
        """Return whether the steps since then have these reasons, the newest first."""
        steps = self.memory.history.steps(limit=len(reasons))
        return steps[-1].seq > self.before and all(
            step.reason.startswith(reason) for step, reason in zip(steps, reasons, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Task:
    """A task, the keys for it, whether it was done, and how many keys are the goal (None for none). `free` of them are
    not counted, as the letters of a question."""

    name: str
    keys: str
    done: Callable[[State], object]
    goal: int | None = None
    free: int = 0


QUESTION = "why do we use sqlite?"
TASKS = (
    Task(
        "why SQLite; open its commit",
        f"/sqlite{ENTER}{ENTER}{ENTER}",
        lambda s: isinstance(s.main.pane.record, Commit),
        10,
    ),
    Task("correct the first stale fact", f"c\x15Drone{ENTER}", lambda s: s.did("correct F#11"), 8),
    Task("only stale facts", "d", lambda s: s.main.view.state == "stale" and "Stale 1" in s.shown, 1),
    Task("undo three steps", "4   U", lambda s: s.did("undo", "undo", "undo"), 6),
    Task(
        "a decision's commits", "2d", lambda s: "Implemented" in s.shown or s.main.pane.record.citation[0] == "D", 5
    ),
    Task("restore a checkpoint's decisions", f"3jRd{ENTER}", lambda s: s.did("restore"), 5),
    Task(
        "ask, and see a source",
        f"8{QUESTION}{ENTER}",
        lambda s: isinstance(s.main.pane.record, Decision),
        2,
        len(QUESTION),
    ),
    Task("erase a name everywhere", f":purge Greta{ENTER}Greta{ENTER}", lambda s: "Greta" not in s.facts, 19),
    Task("forget a fact, and undo", "1fu", lambda s: s.did("undo", "forget")),
    Task("confirm a fact", "1y", lambda s: s.did("confirm")),
    Task("pin a fact", "1p", lambda s: s.did("pin")),
    Task("tag a decision", f"2d#db{ENTER}", lambda s: s.did("tag D#")),
    Task("accept a proposal", "6y", lambda s: s.did("accept") or s.did("forget") or s.did("merge")),
    Task("leave a proposal for later", "6n", lambda s: "later" in " ".join(text for _, text in s.app.messages)),
    Task("start a task", "5jjm", lambda s: s.did("task")),
    Task("what an agent would be sent", f"7Itests{ENTER}", lambda s: "tokens" in s.shown),
    Task("see it as it was last week", f"2@1w{ENTER}", lambda s: s.main.moment is not None),
    Task("name this moment", f"3arelease{ENTER}", lambda s: isinstance(s.main.pane.record, Checkpoint)),
    Task("go to a day of the timeline", f"2t3w{ENTER}", lambda s: s.main.list_of("timeline").cursor_index),
    Task("change a setting", f"0s{ENTER}", lambda s: "SETTINGS" in s.shown),
    Task("see how the memory grew", "0p", lambda s: "Growth" in s.shown),
)


def main(arguments: Sequence[str] | None = None) -> int:
    os.environ |= {"MEMORANDA_WITHOUT": "model,agent", "TZ": "UTC"}
    done: dict[tuple[int, int], list[bool]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            place = demo.build_demo(os.path.join(folder, f"{size[0]}"), NOW)
            done[size] = asyncio.run(_all(place, size))
    print(f"{'task':34} keys  goal  {'  '.join(f'{width}×{height}' for width, height in SIZES)}")
    missed = 0
    for index, task in enumerate(TASKS):
        keys = len(task.keys) - task.free
        fits = [done[size][index] for size in SIZES]
        missed += not all(fits) or (task.goal is not None and keys > task.goal)
        marks = "  ".join(
            f"{'done' if one else 'NOT':>{len(f'{size[0]}×{size[1]}')}}"
            for one, size in zip(fits, SIZES, strict=True)
        )
        print(f"{task.name:34} {keys:4}  {'' if task.goal is None else task.goal:>4}  {marks}")
    _readers()
    return 1 if missed else 0


def _readers() -> None:
    """Print how often each reader hesitated at each size."""
    with open(CASES, encoding="utf-8") as file:
        readers = json.load(file)["readers"]
    print("\nhesitations of readers: each two after what the two before them wrote had been mended")
    for reader in readers:
        sizes = [f"{width}×{height}" for width, height in SIZES]
        runs = {size: [run for run in reader["runs"] if run["size"] == size] for size in sizes}
        said = (
            f"{size}: {sum(len(run['hesitations']) for run in some)}, {sum(run['done'] is True for run in some)} of"
            f" {len(some)} done"
            for size, some in runs.items()
        )
        print(f"reader {reader['reader']:26} {';  '.join(said)}")


async def _all(place: Location, size: tuple[int, int]) -> list[bool]:
    """Do all tasks, one after another in one sitting; each begins at the facts."""
    app, found = Memoranda(place, place.project or "", lambda: NOW), []
    async with app.run_test(size=size, tooltips=False) as pilot:
        await _settled(app, pilot)
        for task in TASKS:
            with Memory(place, "cli", lambda: NOW) as memory:
                state = State(app, memory, memory.history.steps(limit=1)[0].seq)
                for key in task.keys:
                    await pilot.press(_name(key))
                    if key in f"{ENTER}123456789cRUdfu":
                        await _settled(app, pilot)
                await _settled(app, pilot)
                found.append(bool(task.done(state)))
            for _ in range(6):
                await pilot.press("escape")
            await pilot.press("1")
            await _settled(app, pilot)
    return found


async def _settled(app: Memoranda, pilot: Pilot[int]) -> None:
    for _ in range(2):
        await pilot.pause(0.1)
        await app.workers.wait_for_complete()
        engine = app.screen_stack[0].engine  # type: ignore[attr-defined]
        if engine is not None:
            await asyncio.wrap_future(engine.writer.thread.submit(lambda: None))


def _name(key: str) -> str:
    return {ENTER: "enter", ESCAPE: "escape", "\x15": "ctrl+u", **SIGNS}.get(key, key)


if __name__ == "__main__":
    raise SystemExit(main())
