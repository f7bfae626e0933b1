"""A key's latency, from the key to the last byte of its effect, with the preview following the cursor.

    python -m bench.keys [--presses 60] [--facts 100000] [--entries 200000] [--attribute]

Aims: a cursor key 4 ms, a page 15 ms, at 100,000 facts. `CPU` is the processor time of a press, including timers and
the terminal's encoding; unlike the rest it hardly depends on the machine's load. The floor is a list of 100,000 rows
with a Static for a preview (`bench.screen_floor`): the best that this machine could do. With `--attribute` the same
presses are timed inside the application, which shows where the milliseconds are spent, and costs some."""

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

from bench.store import ALONE, ROOT, heading, installed, memory, quantile, verdict
from bench.terminal import Terminal, key_latency
from tui.input.key_table import FACTS, PANE_KEYS, TIMELINE

SIZES = ((120, 40), (80, 24))
KEYS = {
    "down": ("\x1b[B", 4.0),
    "page down": ("\x1b[6~", 15.0),
    "up": ("\x1b[A", 4.0),
    "page up": ("\x1b[5~", 15.0),
}
SETTLE = 0.25  # seconds without a byte after which a key's effect is complete, on a busy machine too
FLOOR = "import gc; gc.disable()\nfrom bench.screen_floor import demo\ndemo(preview=True)"
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
        print(f"\n{'key to last byte, ms':32}    least median    p95    CPU   bytes  aim (median)")
        for size in SIZES:
            with Terminal([sys.executable, "-c", FLOOR], {"PYTHONPATH": ROOT}, size) as terminal:
                terminal.wait_for("F#1 ")
                terminal.quiet(1.0)
                for name in ("down", "page down"):
                    times, worked, written = measured(terminal, KEYS[name][0], options.presses)
                    _line(f"{size[0]}×{size[1]} (floor: {name})", times, worked, written, None)
            for pane in (FACTS, TIMELINE):
                with Terminal([programs.memoranda, "--db", large], ALONE, size) as terminal:
                    open_pane(terminal, pane)
                    for name, (key, aim) in KEYS.items():
                        times, worked, written = measured(terminal, key, options.presses)
                        _line(f"{size[0]}×{size[1]} {pane}: {name}", times, worked, written, aim)
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


def measured(terminal: Terminal, key: str, presses: int) -> tuple[list[float], float, int]:
    """Return (milliseconds of each press, processor milliseconds of one, bytes of one)."""
    before, worked = len(terminal.output), on_processor(terminal.process.pid)
    times = press(terminal, key, presses)
    worked = (on_processor(terminal.process.pid) - worked) / presses
    return times, worked, (len(terminal.output) - before) // presses


def _line(name: str, times: Sequence[float], worked: float, written: int, aim: float | None) -> None:
    print(
        f"{name:32}   {min(times):6.2f} {statistics.median(times):6.2f} {quantile(times, 0.95):6.2f} {worked:6.2f}"
        f" {written:7,}  {verdict(statistics.median(times), aim, ' ms')}",
        flush=True,
    )


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
                whole += press(terminal, KEYS[name][0], 1)
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
