"""What a hook costs as a process: the client of one file, warm and cold, against an empty Python and `memoranda hook`.

    python -m bench.hook_client [--runs 31]

All alternate, in the demo's memory, each event in a session of its own: `warm` while the resident answers, `cold` where
the event starts it. `memoranda hook` is the same client, started as a command; `alone` is the process that answers one
event by itself, which hooks were before there was a resident. `processor` is the median of the process alone, without
the resident's, which the last line tells, with its memory. `÷ empty` are medians of processor time against `python -IS
-c pass`, `÷ hook` of wall time against the same event of `memoranda hook`. On Linux only."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench.store import environment, heading, installed, quantile, verdict
from store.base import hook_resident
from store.base import state_files as installation
from store.base.clock import utc_now
from store.memory import Memory
from tui.demo.builder import build_demo

AIM = 1.5  # × an empty Python, processor time, warm
MOST_MEGABYTES = 40
EVENTS = {
    "start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "which database do we use for the orders"},
    "tool": {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
}
FLOOR = "python -IS -c pass"


class Cost(NamedTuple):
    """Seconds that one process took, and how many of them it had a processor."""

    seconds: float
    processor: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=31)
    options = parser.parse_args(arguments)
    programs = installed()
    where = subprocess.run(
        [programs.python, "-c", "from store.doors import memoranda_hook; print(memoranda_hook.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    client = [programs.python, "-IS", where.stdout.strip(), "claude-code"]
    command = [programs.memoranda, "hook", "claude-code"]
    alone = [programs.python, "-P", "-m", "store.doors.hook_process", "claude-code"]
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        os.environ["MEMORANDA_HOOK_WAIT"] = "5"  # so that none is cut off on a busy machine
        os.chdir(folder)
        Memory.open(path := build_demo(os.path.join(folder, "demo"), utc_now()).path).close()
        heading("hook_client", f"{options.runs} runs each in turn")
        kinds = list(EVENTS)
        rows = {FLOOR: ([programs.python, "-IS", "-c", "pass"], "tool", False)}
        rows |= {f"client, warm, {kind}": (client, kind, False) for kind in kinds}
        rows |= {f"client, cold, {kind}": (client, kind, True) for kind in kinds}
        rows |= {f"memoranda hook, warm, {kind}": (command, kind, False) for kind in kinds}
        rows |= {f"alone, {kind}": (alone, kind, False) for kind in kinds}
        costs: dict[str, list[Cost]] = {name: [] for name in rows}
        number = 0
        for run in range(-2, options.runs):  # the first two runs warm the page cache
            for name, (words, kind, cold) in rows.items():
                number += 1
                _prepare(client, path, cold)
                cost = _timed(words, _event(kind, path, number))
                if run >= 0:
                    costs[name].append(cost)
        _table(costs)
        _resident(client, path, options.runs)
        hook_resident.end_resident()


def _event(kind: str, path: str, number: int) -> bytes:
    said = {
        "session_id": f"bench-{number}",
        "prompt_id": f"{number}",
        "cwd": os.path.dirname(os.path.dirname(path)),
    }
    return json.dumps({**said, **EVENTS[kind]}).encode()


def _prepare(client: Sequence[str], path: str, cold: bool) -> None:
    """See that no resident runs, or that one does."""
    if cold:
        while not hook_resident.end_resident():
            pass
        return
    while not os.path.exists(os.path.join(installation.state_folder(), hook_resident.SOCKET)):
        _timed(client, _event("tool", path, 0))
        time.sleep(0.3)  # it starts behind the event


def _timed(words: Sequence[str], given: bytes) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(given)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it reads nothing
    process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{words[0]} ended with {os.waitstatus_to_exitcode(status)}")
    process.returncode = 0  # it was waited for
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime)


def _table(costs: dict[str, list[Cost]]) -> None:
    print(f"\n{'ms':30} median    p95  processor  ÷ empty  ÷ hook  aim")
    floor = statistics.median(cost.processor for cost in costs[FLOOR])
    for name, values in costs.items():
        took = [cost.seconds for cost in values]
        processor = statistics.median(cost.processor for cost in values)
        kind = name.rpartition(", ")[2]  # nothing that the floor has
        command = costs.get(f"memoranda hook, warm, {kind}")
        whole = f"{_median(took) / _median([cost.seconds for cost in command]):6.2f}" if command else ""
        aim = AIM if name.startswith("client, warm") else None
        print(
            f"{name:30} {_median(took) * 1e3:6.1f} {quantile(took, 0.95) * 1e3:6.1f} {processor * 1e3:10.1f}"
            f" {processor / floor:8.2f}  {whole:6}  {verdict(processor / floor, aim, ' ×')}".rstrip(),
            flush=True,
        )


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _resident(client: Sequence[str], path: str, runs: int) -> None:
    """Print the resident's processor time for a prompt, and its memory."""
    _prepare(client, path, cold=False)
    (pid,) = _residents()
    before = _used(pid)
    for number in range(runs):
        _timed(client, _event("prompt", path, -1 - number))
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        kilobytes = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    megabytes = kilobytes / 1024
    print(
        f"\nthe resident: {(_used(pid) - before) / runs * 1e3:.1f} ms of processor for a prompt;"
        f" {megabytes:.0f} MB  {verdict(megabytes, MOST_MEGABYTES, ' MB')}"
    )


def _residents() -> list[int]:
    """Return the processes that listen for this bench."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                ours = f"XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}".encode() in file.read().split(b"\0")
        except OSError:
            continue  # another's, or it has just ended
        if ours and b"store.doors.hook_resident" in words:
            found.append(int(entry))
    return found


def _used(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
