"""Figures of the source tree: modules, packages, import cycles, repeated code, docstring lengths, import times.

    python -m bench.structure [--runs 21]

Repeated code is two runs of ten or more equal lines of code, ignoring blank lines, comments and imports. Guesses are of
readers who saw the names of packages and modules only (bench/cases/guesses.json). A line of code is a line of a module
that holds any code: all but blank lines, lines with a comment alone, and docstrings. A statement on three lines is
three; words that stand in TOML files are none."""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import grimp

from bench.store import heading, installed, quantile

ROOT = Path(__file__).parents[1]
GUESSES = ROOT / "bench" / "cases" / "guesses.json"
AGENT, AGENT_LINES = ("llm", "learning", "librarian"), 4_000  # packages of store, and most lines of code of all of them
TWIN_LINES = 10
MODULE_LINES, PACKAGE_MODULES, README_LINES = 450, 12, 200


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args(arguments)
    heading("structure", "store and tui")
    modules = [path for folder in ("store", "tui") for path in sorted((ROOT / folder).rglob("*.py"))]
    code = [path for path in modules if path.name != "__init__.py"]
    lines = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in code)
    packages: dict[Path, int] = defaultdict(int)
    for path in code:
        packages[path.parent] += 1
    large = [f"{_dotted(path)} {count}" for path, count in sorted(packages.items()) if count > PACKAGE_MODULES]
    words = sorted(words for path in modules for words in _docstrings(path))
    print(f"modules                     {len(code)}")
    print(
        f"lines a module              median {lines[len(lines) // 2]}, p90 {quantile(lines, 0.9):.0f}, max {lines[-1]}"
    )
    print(f"  beyond {MODULE_LINES}                {sum(count > MODULE_LINES for count in lines)}")
    print(f"packages                    {len(packages)}")
    print(f"  of more than {PACKAGE_MODULES} modules   {len(large)}: {', '.join(large)}")
    agent = {name: sum(map(lines_of_code, (ROOT / "store" / name).rglob("*.py"))) for name in AGENT}
    listed = ", ".join(f"{name} {count}" for name, count in agent.items())
    print(f"lines of code, the agent    {sum(agent.values())} (aim {AGENT_LINES}): {listed}")
    print(f"import circles              {len(circles())}")
    twins = list(repeated(code))
    print(f"twins of {TWIN_LINES} lines or more   {len(twins)}")
    for one in twins:
        print(f"    {one}")
    print(f"words a docstring           median {statistics.median(words):.0f}, p90 {quantile(words, 0.9):.0f}")
    readme = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    print(f"lines of the README         {readme} (aim {README_LINES})")
    for name, found, asked in guesses():
        print(f"guessed, {name:18} {found} of {asked}")
    programs = installed()
    took: dict[str, list[float]] = {"pass": [], "import tui.cli": []}
    for _ in range(options.runs):
        for statement, times in took.items():
            start = time.perf_counter()
            subprocess.run([programs.python, "-c", statement], check=True)
            times.append((time.perf_counter() - start) * 1000)
    empty, command = (statistics.median(times) for times in took.values())
    print(f"import of the command line  {command - empty:.1f} ms over an empty Python's {empty:.1f}")


def circles() -> list[list[str]]:
    """Return the sets of modules that import each other, including lazy imports."""
    graph = grimp.build_graph("store", "tui", exclude_type_checking_imports=True)
    order: list[str] = []
    seen: set[str] = set()
    for module in sorted(graph.modules):
        _visit(module, graph.find_modules_directly_imported_by, seen, order)
    seen.clear()
    groups = []
    for module in reversed(order):
        group: list[str] = []
        _visit(module, graph.find_modules_that_directly_import, seen, group)
        if len(group) > 1:
            groups.append(sorted(group))
    return groups


def _visit(module: str, neighbours: object, seen: set[str], order: list[str]) -> None:
    """Append the unvisited modules reached from a module to `order`, the last first."""
    assert callable(neighbours)
    stack = [(module, iter(sorted(neighbours(module))))] if module not in seen else []
    seen.add(module)
    while stack:
        here, others = stack[-1]
        if (other := next((one for one in others if one not in seen), None)) is None:
            order.append(here)
            stack.pop()
        else:
            seen.add(other)
            stack.append((other, iter(sorted(neighbours(other)))))


def repeated(paths: Sequence[Path]) -> Iterator[str]:
    """Yield each longest run of equal lines of code that occurs twice, as `file:line = file:line, lines`."""
    code = {path: list(_code(path)) for path in paths}
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path, lines in code.items():
        for at in range(len(lines) - TWIN_LINES + 1):
            places[tuple(text for _, text in lines[at : at + TWIN_LINES])].append((path, at))
    told: set[tuple[Path, int, Path, int]] = set()
    for found in places.values():
        for (one, first), (other, second) in pairwise(found):
            if (one, first - 1, other, second - 1) not in told:
                yield f"{_place(one, code[one][first][0])} = {_place(other, code[other][second][0])}"
            told.add((one, first, other, second))


def _code(path: Path) -> Iterator[tuple[int, str]]:
    source = path.read_text(encoding="utf-8")
    imports = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    for number, line in enumerate(source.splitlines(), 1):
        if (text := line.strip()) and not text.startswith("#") and number not in imports:
            yield number, text


def lines_of_code(path: Path) -> int:
    """Return the number of a module's lines but blank ones, comments and docstrings."""
    source = path.read_text(encoding="utf-8")
    told = set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node) is not None
        ):
            told.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(text := line.strip()) and not text.startswith("#") and at not in told for at, line in lines)


def _docstrings(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield len(text.split())


def guesses() -> Iterator[tuple[str, int, int]]:
    """Yield (name, behaviours located in the right package, behaviours asked) for each reader."""
    if not GUESSES.exists():
        return
    told = json.loads(GUESSES.read_text(encoding="utf-8"))
    for reader, answers in told["readers"].items():
        right = sum(
            any(_same(guess, place) for place in behaviour["lives_in"])
            for behaviour, guess in zip(told["behaviours"], answers, strict=True)
        )
        yield reader, right, len(answers)


def _same(guess: str, place: str) -> bool:
    """Return whether a guess is the module itself, or lies in a package given with a `/` at its end."""
    return guess == place or (place.endswith("/") and guess.startswith(place))


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parts)


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


if __name__ == "__main__":
    sys.exit(main())
