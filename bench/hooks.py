"""What an agent's hook costs as a process, by event; and the tokens of a session against a MEMORY.md.

    python -m bench.hooks [--runs 31] [--sizes 10000,100000]

Each event is sent as Claude Code does, to the client that `memoranda connect` writes, alternating with the floor, a
Python that opens SQLite; a resident answers. In memories without vectors prompts are searched by keywords, then, in
those with synthetic ones, by meaning too: the line below says how many answers by meaning come in time for a prompt,
which else goes by the keywords. What an event starts in the background (learning, summaries) ends before the next
event, as an agent's events are seconds apart; in `at once` the next event comes immediately, and shares processor and
disk with it. `processor` is the median of what the client itself used. On Linux only.
Tokens are those of a session of ten prompts, against a file that is loaded completely at its start, with each fact and
decision of the memory as a line: in the demo's memory, with ten questions about it, and in the large ones. The aims are
in the table."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from bench.recall import CASES
from bench.search_speed import prepared
from bench.store import copy, environment, heading, installed, memory, quantile, verdict
from store.base.clock import utc_now
from store.base.hook_resident import SOCKET
from store.base.state_files import state_folder
from store.doors import agent_log as injections
from store.doors import pack as meaning_recall
from store.doors.pack import WARM, MeaningRecall, words_of
from store.memory import Memory
from store.projects.locating import locate
from store.text import words as token_count
from tui.demo.builder import build_demo

AIM = 100.0
PROMPTS = (
    "which database do we use for the orders", "why did we move away from postgres", "deploy the release tomorrow",
    "la migración de la base está lista", "who owns the ledger service", "the tests of the importer fail",
    "where is the cache of sessions configured", "what did we decide about the queue", "write the changelog",
    "commit it",
)  # fmt: skip
EVENTS = {
    "start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {"hook_event_name": "UserPromptSubmit"},
    "tool": {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
    "tasks": {"hook_event_name": "PostToolUse", "tool_name": "TodoWrite"},
    "reply": {"hook_event_name": "Stop", "last_assistant_message": "It is in the ledger [F#12]."},
    "end": {"hook_event_name": "SessionEnd", "reason": "other"},
}


class Cost(NamedTuple):
    """Seconds that one process took, and how many of them it had a processor (without those of its children)."""

    seconds: float
    processor: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("--sizes", default="10000,100000")
    options = parser.parse_args(arguments)
    programs = installed()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        os.environ["MEMORANDA_HOOK_WAIT"] = "5"  # so that none is cut off on a busy machine
        os.chdir(folder)  # outside any checkout
        heading("hooks", f"{options.runs} of each event in turn, whole processes")
        client = _client(programs.python)
        resident = subprocess.Popen([programs.python, "-P", "-m", "store.doors.hook_resident"], env=environment())
        while not os.path.exists(os.path.join(state_folder(), SOCKET)):
            time.sleep(0.05)
        print(f"\n{'ms':34} median    p95  processor  at once, p95  aim")
        demo = build_demo(os.path.join(folder, "demo"), utc_now()).path
        with open(CASES, encoding="utf-8") as file:
            questions = [json.loads(line)["ask"] for line in file][:20:2]
        _tokens("the demo, ten questions about it", *_session(client, demo, folder, questions))
        floor: list[Cost] = []
        for size in sizes:
            path = os.path.join(folder, f"{size}.db")
            copy(memory(size * 2 // 3, size // 3), path)
            times: dict[str, list[Cost]] = {name: [] for name in EVENTS}
            at_once: dict[str, list[Cost]] = {name: [] for name in EVENTS}
            for run in range(-2, options.runs * 2):  # the first two runs warm the page cache
                for name in EVENTS:
                    cost = _report(client, path, folder, name, run)
                    if run < options.runs:
                        _wait_for_workers(resident.pid)
                    if run >= 0:
                        (times if run < options.runs else at_once)[name].append(cost)
                if 0 <= run < options.runs:
                    floor.append(_timed([programs.python, "-c", "import apsw"], b""))
            _wait_for_workers(resident.pid)
            for name, values in times.items():
                _line(f"{name}, {size:,} records", values, AIM, at_once[name])
            _by_meaning(client, resident.pid, os.path.join(folder, f"meant-{size}.db"), size, folder, options.runs)
            _tokens("a session of ten prompts", *_session(client, path, folder, PROMPTS))
        _line("python -c 'import apsw'", floor, None)
        resident.kill()
        resident.wait()


def _client(python: str) -> list[str]:
    """Return the command that `memoranda connect` writes."""
    code = "from store.doors import memoranda_hook; print(memoranda_hook.__file__)"
    found = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=True)
    return [python, "-IS", found.stdout.strip(), "claude-code"]


def _by_meaning(client: Sequence[str], resident: int, path: str, size: int, folder: str, runs: int) -> None:
    """Print what a prompt costs where vectors are searched, and how many answers by meaning come in time."""
    copy(prepared(size), path)
    recall, place, wait = MeaningRecall(), locate(path, {}, folder), meaning_recall.RECALL_WAIT_SECONDS
    meaning_recall.RECALL_WAIT_SECONDS = 60.0
    recall.ask(place, WARM)()
    answers: list[float] = []
    for prompt in PROMPTS * 3:
        start = time.perf_counter()
        if recall.ask(place, words_of(prompt))() is None:
            raise SystemExit("Nothing is found by meaning: memoranda health --check")
        answers.append(time.perf_counter() - start)
    values = []
    for run in range(-2, runs):
        cost = _report(client, path, folder, "prompt", run)
        _wait_for_workers(resident)
        if run >= 0:
            values.append(cost)
    _line(f"prompt by meaning, {size:,} records", values, AIM)
    in_time = sum(seconds < wait for seconds in answers)
    print(
        f"{'  by meaning alone':34} {median(answers) * 1000:6.1f} {quantile(answers, 0.95) * 1000:6.1f}"
        f"  {in_time} of {len(answers)} within {wait * 1000:g} ms"
    )


def _report(client: Sequence[str], path: str, folder: str, name: str, run: int) -> Cost:
    said = {
        **EVENTS[name],
        "session_id": f"bench-{run % 5}",
        "cwd": folder,
        "prompt_id": f"{name}-{run}-{os.getpid()}",
    }
    if name == "prompt":
        said["prompt"] = PROMPTS[run % len(PROMPTS)]
    if name == "tasks":
        said["tool_input"] = {"todos": [{"content": f"step {run}", "status": "pending"}]}
    return _timed([*client, "--db", path], json.dumps(said).encode())


def _timed(argv: Sequence[str], given: bytes) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment())
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(given)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{argv[0]} ended with {os.waitstatus_to_exitcode(status)}")
    process.returncode = 0  # it was waited for
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime)


def _tokens(what: str, told: int, whole: int) -> None:
    print(f"{what:34} {told:,} tokens; as a MEMORY.md {whole:,}", flush=True)


def _session(client: Sequence[str], path: str, folder: str, prompts: Sequence[str]) -> tuple[int, int]:
    """Return (tokens sent in a session of these prompts, tokens of the facts and decisions as lines of one file)."""
    session = f"told-{os.getpid()}"
    for number, prompt in enumerate(("", *prompts)):
        said = {"session_id": session, "cwd": folder, "prompt_id": f"told-{number}", "prompt": prompt}
        said |= EVENTS["prompt" if number else "start"]  # type: ignore[operator]
        _timed([*client, "--db", path], json.dumps(said).encode())
    with Memory.open(path) as read:
        told = sum(one.tokens for one in injections.list_injections(read.database, session=session))
        lines = read.database.rows(
            "SELECT '- ' || fact FROM facts WHERE status = 'active'"
            " UNION ALL SELECT '- ' || title || ': ' || chosen FROM decisions WHERE status = 'active'"
        )
        return told, token_count.count_tokens("\n".join(line for (line,) in lines))


def _wait_for_workers(resident: int) -> None:
    """Wait for the end of what the resident started."""
    children = "?"
    while children:
        children = ""
        for thread in os.listdir(f"/proc/{resident}/task"):
            try:
                with open(f"/proc/{resident}/task/{thread}/children", encoding="ascii") as file:
                    children += file.read()
            except FileNotFoundError:
                children += "?"  # the thread ended, and its children are another's
        time.sleep(0.01)


def _line(name: str, values: Sequence[Cost], aim: float | None, at_once: Sequence[Cost] = ()) -> None:
    took = [cost.seconds * 1000 for cost in values]
    late, processor = quantile(took, 0.95), median(cost.processor for cost in values) * 1000
    busy = f"{quantile([cost.seconds * 1000 for cost in at_once], 0.95):12.1f}" if at_once else " " * 12
    print(
        f"{name:34} {median(took):6.1f} {late:6.1f} {processor:10.1f}  {busy}  "
        f"{'' if aim is None else verdict(late, aim)}",
        flush=True,
    )


if __name__ == "__main__":
    main()
