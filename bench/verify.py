"""How long it takes to look again at what facts rest on, and whether each state is seen.

    python -m bench.verify [--bindings 1000] [--files 200] [--commits 200]

A repository of so many files, and facts bound to their lines, functions, whole files and commits, at different commits.
Then a tenth of the files grows at its start, a twentieth has a function reworded, as many are renamed and as many
deleted; some of it is committed. What is seen is compared with what was done. The aim: a look within 1 s."""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence

from bench.store import heading, verdict
from bench.sync import ENVIRONMENT
from store.memory import Memory

AIM = 1_000.0  # ms
ROUNDS = 7
FUNCTIONS = 12  # of a file


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bindings", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--commits", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
        heading("verify", f"{options.bindings:,} bindings, {options.files:,} files, {options.commits:,} commits")
        _Bench(os.path.join(folder, "project"), options.files, options.commits).run(options.bindings)


class _Bench:
    def __init__(self, folder: str, files: int, commits: int) -> None:
        self.folder, self.dice = folder, random.Random(1)
        os.makedirs(os.path.join(folder, "src"))
        self._git("init", "-q", "-b", "main")
        self.names = [f"src/m{number}.py" for number in range(files)]
        for number, name in enumerate(self.names):
            self._write(name, "\n".join(_function(number, one) for one in range(FUNCTIONS)))
        for number in range(commits):
            self._write(f"log/{number}.txt", f"{number}\n")
            self._commit(f"commit {number}")
        self.shas = self._git("rev-list", "HEAD").split()

    def run(self, bindings: int) -> None:
        with Memory.open(os.path.join(self.folder, ".memoranda", "memory.db")) as memory:
            expected = self._bind(memory, bindings)
            whole = self._timed(memory, "nothing changed")
            assert whole == Counter(holds=bindings), whole
            self._change()
            seen = self._timed(memory, "after changes")
            print(f"\n{'state':10}{'seen':>8}")
            for state, number in sorted(seen.items()):
                print(f"{state:10}{number:>8,}")
            found = {(one.citation, str(one.item)): one.state for one in memory.evidence.list_all_bound()}
            wrong = [
                key
                for key, name in expected.items()
                if found[key] not in self.allowed.get(name, ("holds", "moved"))
            ]
            print(f"\n{len(wrong):,} of {bindings:,} are not what was done to their file.")

    def _bind(self, memory: Memory, bindings: int) -> dict[tuple[str, str], str]:
        expected = {}
        for number in range(bindings):
            name, one = self.names[number % len(self.names)], number % FUNCTIONS
            form = number % 4
            text = f"{name}:{4 * one + 1}-{4 * one + 3}" if form < 2 else f"{name}::f{one}" if form == 2 else name
            if number % 20 == 19:
                text = name = self.shas[number % len(self.shas)]
            fact = memory.facts.remember(f"What is said of {text} in {number} holds")[0]
            (item,) = (found.item for found in memory.evidence.bind("fact", fact, [text], self.folder))
            expected[f"F#{fact}", str(item)] = name
        return expected

    def _change(self) -> None:
        """Change files, and say of each which states its evidence may have."""
        names = self.dice.sample(self.names, len(self.names))
        part = max(1, len(names) // 20)
        grown, reworded, renamed, deleted = (
            names[: 2 * part],
            names[2 * part : 3 * part],
            names[3 * part : 4 * part],
            names[4 * part : 5 * part],
        )
        self.allowed: dict[str, tuple[str, ...]] = {}
        for place, name in enumerate(grown):
            self._write(name, "# new\n\n" + self._read(name))
            self.allowed[name] = ("holds", "moved", "changed")
            if place % 2:
                self._commit(f"grow {name}")
        for name in reworded:
            self._write(name, self._read(name).replace("f3(value)", "f3(value, more)"))
            self.allowed[name] = ("holds", "moved", "changed")
        self._commit("reword")
        for name in renamed:
            self._git("mv", name, name.replace("m", "n"))
            self.allowed[name] = ("moved",)
        self._commit("rename")
        for name in deleted:
            os.unlink(os.path.join(self.folder, name))
            self.allowed[name] = ("gone", "changed")

    def _timed(self, memory: Memory, what: str) -> Counter[str]:
        took = []
        seen: Counter[str] = Counter()
        for _ in range(ROUNDS):
            start = time.perf_counter()
            seen = Counter(one.state for one in memory.evidence.verify())
            took.append((time.perf_counter() - start) * 1000)
        middle = statistics.median(took)
        print(f"{what:18} median {middle:7,.0f} ms, slowest {max(took):7,.0f} ms   {verdict(middle, AIM, ' ms')}")
        return seen

    def _read(self, name: str) -> str:
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def _write(self, name: str, text: str) -> None:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _commit(self, message: str) -> None:
        self._git("add", "-A")
        self._git("commit", "-qm", message)

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", self.folder, *arguments]
        return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


def _function(number: int, one: int) -> str:
    return f"def f{one}(value):\n    other = value * {number + 3 * one}\n    return other + {one}\n"


if __name__ == "__main__":
    main()
