"""Threads import lazily, each in its own order, and never wait for each other."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.packaging import tracked

ROOT = Path(__file__).parents[1]
FILES = [path.relative_to(ROOT) for path in (ROOT / "store").rglob("*.py")]
MODULES = sorted(".".join(path.with_suffix("").parts) for path in FILES if not path.name.startswith("__"))
# `typing` comes first, as in every process of ours: where threads meet in it, Python may hand one a half of it.
IMPORT = """
import importlib, random, sys, threading, typing
sys.setswitchinterval(1e-6)
chosen, names = random.Random(int(sys.argv[1])), sys.argv[2:]
start, problems = threading.Barrier(6), []

def work(part):
    start.wait()
    for name in part:
        try:
            importlib.import_module(name)
        except Exception as error:
            problems.append(f"{name}: {error!r}")

threads = [threading.Thread(target=work, args=(chosen.sample(names, 40),)) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*problems, sep="\\n")
"""


@pytest.mark.parametrize("seed", range(4))
def test_threads_import_in_any_order(seed: int) -> None:
    command = [sys.executable, "-c", IMPORT, str(seed), *MODULES]
    assert subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip() == ""


@pytest.mark.parametrize("folder", ["tests", "bench"])
def test_what_programs_in_strings_import_is_there(folder: str) -> None:
    """Neither mypy nor ruff looks into a program that is kept as a string and run by another process."""
    missing = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for module, names in re.findall(r"from ((?:store|tui)\b[\w.]*) import ([\w, ]+)", node.value):
                    here = [name.split(" as ")[0].strip() for name in names.split(",")]
                    gone = [f"{module}.{name}" for name in here if not _there(module, name)]
                    missing += [f"{path.name}:{node.lineno} {name}" for name in gone]
    assert missing == []


def _there(module: str, name: str) -> bool:
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def test_a_process_of_ours_imports_nothing_from_the_folder_it_is_started_in() -> None:
    """`python -m` looks there first, and a stranger's checkout may hold a package of our name: `-P` forbids it."""
    for path in [*(ROOT / "store").rglob("*.py"), *(ROOT / "tui").rglob("*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if '"-m", "store' in line:
                assert '"-P"' in line or "salvage" in line, f"{path}: {line}"  # that one is started in our own folder


def test_the_top_level_holds_what_it_is_to_hold() -> None:
    """A file that a command left there would be published with the next commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    pages = {f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")}
    files = {".gitignore", "pyproject.toml", "LICENSE", *pages}
    folders = {".ci", "store", "tui", "tests", "bench", "screenshots", "docs"}
    assert {name.partition("/")[0] for name in tracked()} == files | folders
