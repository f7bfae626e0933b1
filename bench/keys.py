"""A key's latency, from the key to the last byte of its effect, beside a list of the same records with their preview.

    python -m bench.keys [--presses 60] [--facts 100000] [--entries 200000] [--attribute]

The reference is as little as shows the same: the product's list and preview of these records between a title and a
footer that stay, without headings, keys and workers; its presses take turns with those of Memoranda. A cursor key takes
at most 1.15 × its time. `CPU` is the processor time of a press, including timers and the terminal's encoding; it hardly
depends on the machine's load, unlike the rest. With `--attribute` the same presses are timed inside the application,
which shows where the milliseconds are spent, and costs some."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from bench.store import ALONE, ROOT, heading, installed, memory, quantile, verdict
from bench.terminal import Terminal, key_latency
from tui.input.key_table import FACTS, PANE_KEYS, TIMELINE

if TYPE_CHECKING:
    from tui.lists.record_rows import RowLine

SIZES = ((120, 40), (80, 24))
KEYS = {"down": "\x1b[B", "page down": "\x1b[6~", "up": "\x1b[A", "page up": "\x1b[5~"}
AIM = 1.15  # × the reference
SETTLE = 0.25  # seconds without a byte after which a key's effect is complete, on a busy machine too
REFERENCE = "import gc, sys; gc.disable()\nfrom bench.keys import show_list\nshow_list(*sys.argv[1:])"
COUNTED = r"All [\d,]{4,}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=60)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--entries", type=int, default=200_000)
    parser.add_argument("--attribute", action="store_true", help="say where the time goes")
    options = parser.parse_args(arguments)
    programs = installed()
    large = memory(options.facts, options.entries)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)  # outside any checkout, whose commits would be read into the memory
        time.sleep(1)
        heading("keys", f"{options.facts:,} facts, {options.entries:,} entries, {options.presses} presses")
        print(f"\n{'':28} {'Memoranda':36} {'the list alone':15}  ratio")
        print(
            f"{'key to last byte, ms':28} least median    p95    CPU   bytes   median    CPU  median    CPU  aim"
        )
        for size in SIZES:
            for pane in (FACTS, TIMELINE):
                least = Terminal([sys.executable, "-c", REFERENCE, large, pane], {"PYTHONPATH": ROOT}, size)
                with least, Terminal([programs.memoranda, "--db", large], ALONE, size) as terminal:
                    least.wait_for(r"[FDCE]#\w+")
                    open_pane(terminal, pane)
                    for name, key in KEYS.items():
                        _compare(f"{size[0]}×{size[1]} {pane}: {name}", terminal, least, key, options.presses)
        if options.attribute:
            print(
                "\ninside the application: median ms of a press (their sum is less than the whole: what is left is"
            )
            print("Textual's passing of messages, and the terminal)")
            for size in SIZES:
                for pane in (FACTS, TIMELINE):
                    _attribute(programs.python, large, size, pane, options.presses)


def open_pane(terminal: Terminal, pane: str) -> None:
    """Wait until the lists are complete and the app is idle, then focus `pane`."""
    terminal.wait_for(COUNTED, timeout=60)
    terminal.quiet(1.0)
    if pane != FACTS:  # where it is already, its key takes the next chip
        terminal.write(PANE_KEYS[pane])
        terminal.quiet(0.5)


def _compare(name: str, terminal: Terminal, reference: Terminal, key: str, presses: int) -> None:
    """Press a key in both in turn, and print how long each took."""
    both, before = (reference, terminal), len(terminal.output)
    worked = [on_processor(one.process.pid) for one in both]
    pairs = [[press(one, key, 1)[0] for one in both] for _ in range(presses)]
    worked = [(on_processor(one.process.pid) - was) / presses for one, was in zip(both, worked, strict=True)]
    written = (len(terminal.output) - before) // presses
    alone, times = zip(*pairs, strict=True)
    ratio = statistics.median(times) / statistics.median(alone)
    aim = AIM if "page" not in name else None
    print(
        f"{name:28} {min(times):5.2f} {statistics.median(times):6.2f} {quantile(times, 0.95):6.2f} {worked[1]:6.2f}"
        f" {written:7,}   {statistics.median(alone):6.2f} {worked[0]:6.2f}   {ratio:5.2f} {worked[1] / worked[0]:6.2f}"
        f"  {verdict(ratio, aim)}",
        flush=True,
    )


def show_list(path: str, pane: str) -> None:
    """Run the list of a memory's facts, or of its timeline, with the preview of the record at the cursor."""
    from textual.app import App, ComposeResult
    from textual.containers import Container

    from store.base.vocabulary import pack_key
    from store.memory import Memory
    from store.search.lookup import records_by_key
    from tui.lists.record_rows import KeyedRows, entry_lines, fact_lines
    from tui.render.details import describe_record
    from tui.screens.base import ResponsiveScreen, forget_startup
    from tui.widgets.bars import Bar, CachedLines
    from tui.widgets.preview import Preview
    from tui.widgets.record_list import RecordList

    memory = Memory.open(path)
    now = memory.now
    numbers = memory.facts.ids(now)
    keys = (
        [pack_key("fact", number) for number in numbers]
        if pane == FACTS
        else [key for key, _ in memory.timeline.stream()]
    )

    draw: Callable[[Any, int], list[RowLine]] = partial(fact_lines, now=now) if pane == FACTS else entry_lines

    class Box(CachedLines, Container):
        pass

    class Alone(ResponsiveScreen[None]):
        CSS = """
        #body { height: 1fr; layout: horizontal; }
        #left { width: 60fr; }
        #right { width: 40fr; border-left: solid $panel; }
        .-narrow #body { layout: vertical; }
        .-narrow #left { width: 1fr; height: 4fr; }
        .-narrow #right { width: 1fr; height: 3fr; border-left: none; border-top: solid $panel; }
        """

        def compose(self) -> ComposeResult:
            yield Bar("The list alone")
            with Box(id="body"):
                with Box(id="left"):
                    yield RecordList(
                        KeyedRows(keys, lambda some: records_by_key(memory.database, list(some)), draw)
                    )
                with Box(id="right"):
                    yield Preview()
            yield Bar("q quit")

        def on_record_list_highlighted(self, message: RecordList.Highlighted) -> None:
            for record in records_by_key(memory.database, [int(str(message.key))]).values():
                self.query_one(Preview).show_lines(describe_record(memory, record), record.citation)

        def on_mount(self) -> None:
            self.query_one(RecordList).focus()
            self.call_after_refresh(forget_startup)

    class Shown(App[None]):
        def get_default_screen(self) -> Alone:
            return Alone(id="_default", classes="" if get_terminal_size().columns > 100 else "-narrow")

    Shown().run()


def press(terminal: Terminal, key: str, presses: int) -> list[float]:
    """Return the milliseconds of each press of `key`."""
    return [key_latency(terminal, key, SETTLE) * 1e3 for _ in range(presses)]


def on_processor(process: int) -> float:
    """Return the processor milliseconds of all threads of a process, independent of the machine's load; 0 except on
    Linux."""
    spent = 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/schedstat") as status:
                spent += int(status.read().split()[0])
    return spent / 1e6


# attribution

CLOCKS = (
    ("describe it", "tui.workers.engine:Engine.describe"),
    ("lay the preview out", "tui.widgets.preview:Preview._wrap"),
    ("move the cursor", "tui.widgets.record_list:RecordList._move_to"),
    ("draw the list", "tui.widgets.record_list:RecordList.render_lines"),
    ("  of which rows", "tui.lists.record_rows:KeyedRows.lines"),
    ("  of which records read", "tui.lists.record_rows:Pages.record"),
    ("draw the preview", "tui.widgets.preview:Preview.render_lines"),
    ("compose the frame", "textual._compositor:Compositor.render_update"),
    ("encode the frame", "textual._compositor:ChopsUpdate.render_segments"),
)


def clocked() -> None:
    """Run Memoranda with clocks around `CLOCKS`; at each F12 write a line of JSON to the file named by $CLOCKS."""
    from importlib import import_module

    spent: dict[str, float] = {}

    def wrap(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def timed(*arguments: object, **named: object) -> object:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        return timed

    import tui.workers.engine  # noqa: F401  all that the app imports late, so that it finds the clocks
    from tui.main_screen.screen import MainScreen

    for name, place in CLOCKS:
        module, _, path = place.partition(":")
        owner: object = import_module(module)
        *parents, last = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        setattr(owner, last, wrap(name, getattr(owner, last)))  # raises if the code has changed: update CLOCKS

    log = open(os.environ["CLOCKS"], "a")  # noqa: SIM115  open as long as the process

    def note(self: object) -> None:
        log.write(json.dumps(spent) + "\n")
        log.flush()
        spent.clear()

    MainScreen.key_f12 = note  # type: ignore[attr-defined]
    from tui.main import main as run

    run()


def _attribute(python: str, path: str, size: tuple[int, int], pane: str, presses: int) -> None:
    code = _source()
    for name in ("down", "page down"):
        log = os.path.join(tempfile.mkdtemp(prefix="clocks-", dir=os.getcwd()), "clocks")
        with Terminal([python, "-c", code, "--db", path], {**ALONE, "CLOCKS": log}, size) as terminal:
            open_pane(terminal, pane)
            whole = []
            for _ in range(presses):
                terminal.write("\x1b[24~")
                terminal.quiet(0.05)
                whole += press(terminal, KEYS[name], 1)
            terminal.write("\x1b[24~")
            terminal.quiet(0.1)
        with open(log) as lines:
            spent = [json.loads(line) for line in lines][1:]
        print(f"{size[0]}×{size[1]} {pane}: {name}: {statistics.median(whole):.2f} with the clocks", end="")
        for clock in dict.fromkeys(clock for clock, _ in CLOCKS):
            print(f"; {clock} {statistics.median(one.get(clock, 0.0) for one in spent) * 1e3:.2f}", end="")
        print(flush=True)


def _source() -> str:
    """Return the code of a process that runs `clocked` on the installed package, which lacks `bench`."""
    import inspect

    return (
        "from __future__ import annotations\nimport json, os, time\nfrom collections.abc import Callable\n"
        f"CLOCKS = {CLOCKS!r}\n{inspect.getsource(clocked)}\nclocked()"
    )


if __name__ == "__main__":
    main()
