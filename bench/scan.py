"""The scan of other tools' memories: its duration, with many files and with a gigabyte of transcripts.

    python -m bench.scan [--files 2000] [--mb 1024]

The duration of a scan of so many memory files of Claude Code in twenty projects under git, and of so many MB of
transcripts, with the time until the first part of the report; a second run, since the first reads from the disk. The
transcripts are those of the samples over and over, of Claude Code and of Codex, a key in each, between outputs of tools
that are files of this repository; they are made in a temporary folder. The time is also given of a processor, since
others may be at work: with two free ones a scan takes half of it. Aims: 2 s, 60 s, 5 s. How often findings are right
is measured by bench.scan_precision."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.store import heading, verdict
from store.base.clock import utc_now
from store.tools.machine_scan import scan_machine
from store.tools.source import Machine

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES_SECONDS, TRANSCRIPTS_SECONDS, FIRST_SECONDS = 2.0, 60.0, 5.0
PROJECTS = 20
SESSION = 4 << 20  # bytes of a transcript
WORDS = (
    "tide port harbour index query ledger rate table cache branch deploy parser export import chart level".split()
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--mb", type=int, default=1_024)
    options = parser.parse_args(arguments)
    heading("scan", f"{options.files:,} memory files, {options.mb:,} MB of transcripts")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        machine, first = _home(folder, options.files), 0.0
        for what in ("files", "files, again"):
            start, spent = time.perf_counter(), _processor()
            report = scan_machine(machine, utc_now())
            seconds = time.perf_counter() - start
            found = f"{sum(report.counts.values()):,} findings"
            _line(what, seconds, _processor() - spent, found, FILES_SECONDS)
        size = _transcripts(machine.home, options.mb << 20)
        start, spent = time.perf_counter(), _processor()

        def arrived(report: object) -> None:
            nonlocal first
            first = time.perf_counter() - start

        scan_machine(machine, utc_now(), first=arrived)
        seconds = time.perf_counter() - start
        rate = f"{size / 1e6 / seconds:,.0f} MB/s"
        _line("and transcripts", seconds, _processor() - spent, rate, TRANSCRIPTS_SECONDS)
        print(f"{'first part of the report':32} {first:7.2f} s  {verdict(first, FIRST_SECONDS, ' s')}")


def _line(what: str, seconds: float, processor: float, says: str, aim: float) -> None:
    print(
        f"{what:32} {seconds:7.2f} s  {processor:7.2f} s of a processor  {says}  {verdict(seconds, aim, ' s')}",
        flush=True,
    )


def _processor() -> float:
    """Return the processor time of this process and of those that ended, in seconds."""
    return sum(os.times()[:4])


def _home(folder: str, files: int) -> Machine:
    """Make a home folder with the memories of Claude Code in projects under git."""
    home, chance = os.path.join(folder, "home"), random.Random(1)
    for number in range(PROJECTS):
        project = os.path.join(folder, "src", f"project{number}")
        repository(project)
        place = os.path.join(home, ".claude", "projects", "".join(c if c.isalnum() else "-" for c in project))
        os.makedirs(os.path.join(place, "memory"))
        with open(os.path.join(place, f"s{number}.jsonl"), "w", encoding="utf-8") as file:
            file.write(
                f'{{"type":"user","sessionId":"s{number}","cwd":"{project}","message":{{"content":"hi"}}}}\n'
            )
        for one in range(files // PROJECTS):
            with open(os.path.join(place, "memory", f"m{one}.md"), "w", encoding="utf-8") as file:
                words = " ".join(chance.choices(WORDS, k=30))
                file.write(
                    f"---\nname: m{one}\nmetadata:\n  type: project\n---\nNote {one}: {words}; app/f{one * 2}.py.\n"
                )
    return Machine(home)


def _transcripts(home: str, size: int) -> int:
    """Write transcripts of `size` bytes in sessions of SESSION, by turns of Claude Code and of Codex; return the
    bytes."""
    chance, written, number = random.Random(2), 0, 0
    said = {tool: _lines(tool) for tool in ("claude-code", "codex")}
    outputs = list(Path(ROOT, "store").rglob("*.py"))
    claude = sorted(Path(home, ".claude", "projects").iterdir())
    codex = Path(home, ".codex", "sessions", "2026", "11", "23")
    codex.mkdir(parents=True)
    while written < size:
        number += 1
        tool, folder = ("claude-code", chance.choice(claude)) if number % 2 else ("codex", codex)
        made = 0
        with open(folder / f"rollout-{number:05}.jsonl", "w", encoding="utf-8") as file:
            while made < min(SESSION, size - written):
                output = chance.choice(outputs).read_text(encoding="utf-8")
                lines = [*said[tool], json.dumps({"type": "output", "text": output}, ensure_ascii=False)]
                made += sum(file.write(f"{line}\n") for line in lines)
        written += made
    return written


def _lines(tool: str) -> list[str]:
    """Return the lines of the samples' transcripts of a tool."""
    files = sorted(Path(ROOT, "tests", "samples", tool).rglob("*.jsonl"))
    return [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def repository(project: str) -> None:
    """Make a repository with two hundred files, half of them deleted, and functions in all."""
    os.makedirs(os.path.join(project, "app"))
    for number in range(200):
        with open(os.path.join(project, "app", f"f{number}.py"), "w", encoding="utf-8") as file:
            file.write(f"def work_number_{number}x():\n    pass\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        git(project, *words)
    for number in range(100, 200):
        os.unlink(os.path.join(project, "app", f"f{number}.py"))
    git(project, "commit", "-qam", "second")


def git(project: str, *words: str) -> str:
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
    made = subprocess.run(["git", "-C", project, *identity, *words], check=True, capture_output=True)
    return made.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
