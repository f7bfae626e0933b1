"""Everything at once on one memory, for minutes or hours: do memory, files and handles stay flat, and is nothing lost?

    python -m bench.soak [--minutes 120] [--pause 1.0] [--folder DIR]

One project, one memory with the demo's records. On it, all the time: the application in a terminal, keys pressed; two
MCP servers that search, read and log decisions; an agent's hooks, a process each; `sync --watch`, with lines added to
MEMORY.md by an editor; `import` of a transcript that grows; a person's commands. --pause is the seconds between two of
each. Sampled from outside: resident memory (MB), open handles and threads of each process that stays, and the files
of the memory (MB). Flat is the median of the last quarter against that of the second (the first warms up), with an
allowance for what the memory itself grew by. Then everything is ended, every acknowledged write is looked for, and the
doctor reads it all. Ends with 1 if something failed, was lost, or grew."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from bench.mcp import Server, resident
from bench.store import environment, heading
from bench.terminal import Terminal
from store.base.clock import utc_now
from store.memory import Memory
from tui.demo.builder import build_demo

COMMAND = [sys.executable, "-P", "-m", "tui.main"]
GREW, MORE_MB, MORE_HANDLES = 1.25, 12.0, 6  # what a process may have more of at the end
LOG_MB = 64.0
KEYS = (
    *("j", "k", "\x1b[B", "\x1b[A", "1", "2", "3", "4", "5", "5", "2", ":health\r", "\x1b", ":agents\r", "\x1b"),
    *("/cache\r", "\x1b", "/since:3w\r", "\x1b", ":cache", "\x1b"),
)
Sample = dict[str, float]


class Soak:
    """The project, what was acknowledged, and what went wrong."""

    def __init__(self, folder: str, pause: float) -> None:
        self.pause = pause
        place = build_demo(os.path.join(folder, "demo"), utc_now())
        self.path, self.root = place.path, str(place.project)
        state = os.path.join(folder, "state")
        self.environment = {**environment(), "HOME": folder, "XDG_STATE_HOME": state, "OLLAMA_HOST": "127.0.0.1:9"}
        self.environment["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.transcript = os.path.join(folder, "talk.jsonl")
        self.written: dict[str, list[str]] = {"facts": [], "decisions": [], "turns": [], "lines": []}
        self.acts: dict[str, int] = {}
        self.troubles: list[str] = []
        self.over = threading.Event()

    def run(self, *words: str, said: str = "", name: str = "") -> str:
        """Run a command in the project; note it if it fails."""
        done = subprocess.run(
            [*COMMAND, *words],
            input=said,
            capture_output=True,
            text=True,
            cwd=self.root,
            env=self.environment,
            check=False,
        )
        if done.returncode or "Traceback" in done.stderr:
            self.troubles.append(f"{name or words[0]}: {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def repeat(self, name: str, act: Callable[[int], None]) -> threading.Thread:
        """Do something again and again, on a thread of its own, until it is over."""

        def loop() -> None:
            number = 0
            while not self.over.wait(self.pause):
                number += 1
                try:
                    act(number)
                except Exception as error:  # whatever it is, the soak goes on, and reports it
                    self.troubles.append(f"{name}: {error!r}"[:300])
                self.acts[name] = number

        thread = threading.Thread(target=loop, name=name)
        thread.start()
        return thread

    # the acts

    def person(self, number: int) -> None:
        text = f"Soaked fact {number} of the person, on the {number % 28 + 1}th"
        if self.run("remember", text).startswith("Remembered"):
            self.written["facts"].append(text)
        if number % 5 == 0:
            self.run("search", "soaked", "fact", str(number))
            self.run("export")

    def serve(self, server: Server, name: str, number: int) -> None:
        server.call(10 * number + 1, "memory_search", query=f"soaked {number}")
        server.call(10 * number + 2, "memory_context", query="why sqlite")
        server.call(10 * number + 3, "memory_stats")
        title = f"Soaked decision {number} of {name}"
        server.call(10 * number + 4, "memory_log_decision", title=title, chosen=f"way {number}")
        self.written["decisions"].append(title)

    def hook(self, number: int) -> None:
        event = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")[number % 4]
        said = {
            "hook_event_name": event,
            "session_id": f"soak-{number // 40}",
            "cwd": self.root,
            "source": "startup",
        }
        said |= {"prompt": f"why sqlite {number}", "tool_name": "Bash", "tool_input": {"command": "ls"}}
        self.run("hook", "claude-code", said=json.dumps(said), name="hook")

    def importer(self, number: int) -> None:
        text = f"The {number}th thing that was said while it soaked"
        message = {"role": "user", "content": text}
        line = {
            "type": "user",
            "sessionId": "soak-talk",
            "uuid": f"{number:032x}",
            "cwd": self.root,
            "timestamp": utc_now(),
        }
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "message": message}) + "\n")
        if self.run("import", "--conversations", self.transcript).startswith("Brought in"):
            self.written["turns"].append(text)

    def editor(self, number: int) -> None:
        """Add a line below the last of the section, as an editor saves a file: whole, by renaming."""
        if number % 10:
            return
        path = os.path.join(self.root, "MEMORY.md")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        last = max(place for place, line in enumerate(lines) if line.startswith("- "))
        text = f"Soaked line {number} of an editor"
        lines.insert(last + 1, f"- {text}")
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(f"{path}.new", path)
        self.written["lines"].append(text)


@contextmanager
def watching(soak: Soak) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*COMMAND, "sync", "--watch"],
        cwd=soak.root,
        env=soak.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        if process.wait(60) not in (0, 130, -signal.SIGINT):
            soak.troubles.append(f"sync --watch ended with {process.returncode}")


def pressed(soak: Soak, terminal: Terminal, number: int) -> None:
    if terminal.process.poll() is not None:
        raise RuntimeError(f"the application ended with {terminal.process.returncode}")
    terminal.write(KEYS[number % len(KEYS)])
    terminal.quiet(0.1, 5)
    for line in terminal.screen:
        if "Internal error" in line or "Traceback" in line:
            soak.troubles.append(f"application: {line.strip()}")
    terminal.forget()


def sampled(soak: Soak, processes: dict[str, int]) -> Sample:
    """Return what each process and the memory's folder hold now."""
    found: Sample = {}
    for name, pid in processes.items():
        try:
            found[f"{name}, MB"] = resident(pid)
            found[f"{name}, handles"] = len(os.listdir(f"/proc/{pid}/fd"))
            found[f"{name}, threads"] = len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            soak.troubles.append(f"{name} is gone")
    folder = os.path.dirname(soak.path)
    found["memory.db, MB"] = os.stat(soak.path).st_size / 1e6
    log = f"{soak.path}-wal"
    found["its log, MB"] = os.stat(log).st_size / 1e6 if os.path.exists(log) else 0.0
    found["files beside it"] = sum(len(files) for _, _, files in os.walk(folder))
    return found


def verdicts(samples: Sequence[Sample]) -> Iterator[tuple[str, float, float, bool | None]]:
    """Yield (what, its median in the second quarter, in the last, whether it is flat; None where growing is right)."""
    quarter = max(1, len(samples) // 4)
    for name in samples[0]:
        early = median(sample.get(name, 0.0) for sample in samples[quarter : 2 * quarter] or samples[:quarter])
        late = median(sample.get(name, 0.0) for sample in samples[-quarter:])
        flat: bool | None = None
        if name == "its log, MB":
            flat = late <= LOG_MB
        elif name.endswith(", MB") and name != "memory.db, MB":
            flat = late <= early * GREW + MORE_MB
        elif name.endswith(("handles", "threads")) or name == "files beside it":
            flat = late <= early + MORE_HANDLES
        yield name, early, late, flat


def lost(soak: Soak) -> list[str]:
    """Return the acknowledged writes that the memory does not have."""
    missing = []
    where = {
        "facts": "SELECT fact FROM facts",
        "decisions": "SELECT title FROM decisions",
        "turns": "SELECT text FROM turns",
    }
    with Memory.open(soak.path, "cli") as memory:
        for kind, texts in soak.written.items():
            there = {text for (text,) in memory.database.rows(where["facts" if kind == "lines" else kind])}
            missing += [f"{kind}: {text}" for text in texts if text not in there]
    return missing


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two acts of each (1.0)")
    parser.add_argument("--folder", help="keep everything there, for looking at it afterwards")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memoranda-soak-") as scratch:
        return soaked(options.folder or scratch, options.minutes, options.pause)


def soaked(folder: str, minutes: float, pause: float) -> int:
    """Soak, print the table, and return the exit status."""
    heading("soak", f"{minutes:g} minutes, {pause:g} s between two acts")
    os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")  # what the memory is opened with here, is ours
    soak = Soak(folder, pause)
    soak.run("sync", "--yes")
    samples: list[Sample] = []
    words = [*COMMAND, "--db", soak.path]
    with Terminal(words, soak.environment) as terminal, watching(soak) as watcher:
        terminal.wait_for("find ", 60)
        servers = [Server([*words, "mcp"], soak.root, soak.environment) for _ in range(2)]
        processes = {"application": terminal.process.pid, "sync --watch": watcher.pid}
        processes |= {f"server {number}": server.process.pid for number, server in enumerate(servers, 1)}
        acts: dict[str, Callable[[int], None]] = {
            "keys": lambda number: pressed(soak, terminal, number),
            "person": soak.person,
            "hooks": soak.hook,
            "importer": soak.importer,
            "editor": soak.editor,
            "server 1": lambda number: soak.serve(servers[0], "server 1", number),
            "server 2": lambda number: soak.serve(servers[1], "server 2", number),
        }
        threads = [soak.repeat(name, act) for name, act in acts.items()]
        end = time.monotonic() + minutes * 60
        try:
            while (left := end - time.monotonic()) > 0:
                time.sleep(min(left, max(1.0, minutes * 60 / 120)))
                samples.append(sampled(soak, processes))
        finally:
            soak.over.set()
            for thread in threads:
                thread.join()
            for server in servers:
                server.close()
    soak.run("sync", "--yes")
    return report(soak, samples)


def report(soak: Soak, samples: Sequence[Sample]) -> int:
    """Print what was found; return the exit status."""
    print(f"\n{'what':26} {'before':>9} {'after':>9}")
    grown = []
    for name, early, late, flat in verdicts(samples):
        print(f"{name:26} {early:9.1f} {late:9.1f}  {'' if flat is None else 'ok' if flat else 'MISS'}")
        if flat is False:
            grown.append(name)
    missing = lost(soak)
    doctor = json.loads(soak.run("health", "--check", "--json") or "{}")
    wrong = [one for one in doctor.get("findings", []) if one.get("state") == "wrong"]
    print("\nacts: " + ", ".join(f"{name} {number}" for name, number in sorted(soak.acts.items())))
    print("acknowledged: " + ", ".join(f"{len(texts)} {kind}" for kind, texts in soak.written.items()))
    print(f"lost: {len(missing)}; errors: {len(soak.troubles)}; the doctor finds wrong: {len(wrong)}")
    for line in [*missing[:5], *soak.troubles[:10], *(str(one) for one in wrong[:5])]:
        print(f"  {line}")
    return 1 if grown or missing or soak.troubles or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
