"""Importing conversations: MB and turns a second, peak memory, and a key's first frame in the app meanwhile.

    python -m bench.ingest [--mb 100] [--facts 10000] [--presses 40] [--without-keys]

The transcripts are generated in the format of Claude Code's, in sessions of 2 MB: nine tenths are output of tools, as
in real ones. Aims: memory below 200 MB at any size, a key at most 10 ms slower meanwhile."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

from bench.keys import KEYS
from bench.store import CLEAN, environment, heading, installed, memory, quantile, verdict
from bench.store import own as ours
from bench.terminal import Terminal

SESSION = 2 << 20  # bytes
MEMORY_MB = 200.0
SLOWER_MS = 10.0
WORDS = """
the importer reads each line and looks up its tax rate table server request cache test fails because decimal comma
invoice client export module commit branch deploy database index query memory la función tabla prueba factura error
cliente línea porque después módulo servidor consulta decidimos siempre cambiar revisar importación despliegue
""".split()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--presses", type=int, default=40)
    parser.add_argument("--without-keys", action="store_true")
    options = parser.parse_args(arguments)
    programs = installed()
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)
        source = os.path.join(folder, "transcripts")
        written = transcripts(source, options.mb << 20)
        heading("ingest", f"{written / 1e6:.0f} MB of transcripts, {len(os.listdir(source))} files")
        path = os.path.join(folder, ".memoranda", "memory.db")
        for what in ("all of it", "again"):
            seconds, report, peak = run(programs.memoranda, path, source)
            print(
                f"{what:32} {seconds:7.1f} s  {written / 1e6 / seconds:6.1f} MB/s  {report['added']:7,} turns"
                f"  {report['added'] / seconds:7.0f}/s  peak {peak:4.0f} MB  {verdict(peak, MEMORY_MB, ' MB')}",
                flush=True,
            )
        if not options.without_keys:
            own = ours(shutil.copy(memory(options.facts, options.facts), os.path.join(folder, "large.db")))
            more = os.path.join(folder, "more")
            transcripts(more, options.mb * 4 << 20)  # enough to last as long as the keys
            beside(programs.memoranda, more, own, options.presses)


def run(program: str, path: str, source: str) -> tuple[float, dict[str, int], float]:
    """Run one ingest in a process of its own; return (seconds, the report, MB at its peak)."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            [program, "--db", path, "import", source, "--json"],
            env=environment(),
            stdout=said,
            stderr=subprocess.DEVNULL,
        )
        _, status, spent = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, process.returncode
        said.seek(0)
        return seconds, json.load(said), spent.ru_maxrss / 1024


def beside(program: str, source: str, large: str, presses: int) -> None:
    """Measure a key's latency alone, and while another process imports conversations into the same memory."""
    # without a model, whose progress is drawn as well
    with Terminal([program, "--db", large], {**CLEAN, "MEMORANDA_WITHOUT": "model"}, (120, 40)) as terminal:
        terminal.wait_for(r"F#\d+", timeout=60)
        terminal.quiet(3.0)
        terminal.write("1")
        terminal.quiet(0.5)
        names = ("down", "page down")
        alone = {name: [frame(terminal, KEYS[name]) for _ in range(presses)] for name in names}
        reading = subprocess.Popen(
            ["nice", program, "--db", large, "import", source],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(1)
        under = {name: [frame(terminal, KEYS[name]) for _ in range(presses)] for name in names}
        still = reading.poll() is None
        reading.terminate()
        reading.wait()
        print(f"\n{'a key, ms':32}   alone     p95  beside     p95  slower (median)")
        for name in names:
            slower = statistics.median(under[name]) - statistics.median(alone[name])
            print(
                f"{name:32}{statistics.median(alone[name]):8.2f}{quantile(alone[name], 0.95):8.2f}"
                f"{statistics.median(under[name]):8.2f}{quantile(under[name], 0.95):8.2f}"
                f"  {slower:5.2f}  {verdict(slower, SLOWER_MS, ' ms')}",
                flush=True,
            )
        if not still:
            print("it was over before the keys were: take more --mb")


def frame(terminal: Terminal, key: str) -> float:
    """Return the milliseconds from a key to the first frame after it. Not to the last byte, because other processes'
    writes are drawn too, every second or so."""
    terminal.quiet(0.1, timeout=0.5)
    start = terminal.write(key)
    terminal.read(5.0)
    return (terminal.arrivals[-1][0] - start) * 1e3


def transcripts(folder: str, size: int) -> int:
    """Write the same transcripts of `size` bytes each time; return their bytes."""
    os.makedirs(folder)
    chance = random.Random(1)
    tools = [_words(chance, 1_400) for _ in range(64)]
    written = number = 0
    while written < size:
        number += 1
        with open(os.path.join(folder, f"session-{number:04}.jsonl"), "w", encoding="utf-8") as file:
            written += sum(
                file.write(line) for line in _session(chance, tools, number, min(SESSION, size - written))
            )
    return written


def _session(chance: random.Random, tools: Sequence[str], number: int, size: int) -> Iterator[str]:
    made = turn = 0
    while made < size:
        turn += 1
        role = "user" if turn % 2 else "assistant"
        said = {"type": "text", "text": _words(chance, chance.choice((8, 30, 120)))}
        tool = {"type": "tool_result", "content": [{"type": "text", "text": chance.choice(tools)}]}
        for place, content in enumerate(([said], [tool])):
            line = {
                "type": role if content == [said] else "user",
                "sessionId": f"session-{number}",
                "uuid": f"{number}-{turn}-{place}",
                "timestamp": f"2026-{1 + number % 9:02}-11T{turn // 60 % 24:02}:{turn % 60:02}:00.000Z",
                "message": {"role": role, "content": content},
            }
            text = json.dumps(line, ensure_ascii=False) + "\n"
            made += len(text)
            yield text


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count)) + "."


if __name__ == "__main__":
    main()
