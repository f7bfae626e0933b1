"""Every verb and every pane, on projects such as strangers have: no traceback, no "internal error", and nothing said
that a second look by other means (the file's rows, the bytes on the disk, the export) refutes."""

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strangers.generator import KINDS, SECRET_WORD, Project, make
from support.faulty import ordinary

from tui.input.key_table import PANE_NAMES
from tui.input.verb_table import MODULES

SEED = 20261123
RUNNER = Path(__file__).with_name("runner.py")
INTERNAL = ("Traceback", "defect", "nternal error", "report it", "CARRAY", "object at 0x")

VERBS = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text(encoding="utf-8"))
ELSEWHERE = {"demo", "mcp", "serve"}  # one makes its own project, the others serve until they are ended
KEYS = [*map(str, range(1, len(PANE_NAMES) + 1)), "1", "enter", "escape", "slash t e a m enter", "escape"]


def run(what: str, project: Project, lines: list[Any], home: Path) -> list[dict[str, Any]]:
    """What the command lines (or the keys) gave in the project's folder, in a process without a superuser's rights."""
    environment = {**os.environ, "HOME": str(home), "MEMORANDA_WITHOUT": "model,agent", "TZ": "UTC"}
    command, given = [sys.executable, RUNNER, what, project.folder], json.dumps(lines)
    options = {"capture_output": True, "text": True, "preexec_fn": ordinary, "timeout": 900}
    done = subprocess.run(command, input=given, env=environment, check=False, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=KINDS)
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Path]]:
    """A project of each kind and its owner's home."""
    place = tmp_path_factory.mktemp("strangers")
    home = place / "home"
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        project = make(request.param, place / "project", SEED)
        (project.folder / "talk.txt").write_text("user: The door is red.\nassistant: Noted.\n")
        yield project, home


Copy = Callable[[], tuple[Project, Path]]


@pytest.fixture
def copy(told: tuple[Project, Path], tmp_path: Path) -> Iterator[Copy]:
    """The same project at the same place, as it was made: put back when the test ends."""
    project, home = told
    kept = tmp_path / "kept"
    shutil.copytree(home.parent, kept, symlinks=True)
    if project.kind == "read-only":
        close(project)
    yield lambda: (project, home)
    if project.kind == "read-only":
        project.path.parent.chmod(0o700)
    shutil.rmtree(home.parent)
    shutil.copytree(kept, home.parent, symlinks=True)
    shutil.rmtree(kept)


def close(project: Project) -> None:
    project.path.chmod(0o400)
    project.path.parent.chmod(0o500)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows(project: Project, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a plain SQLite reads in the file, in a copy of it."""
    beside = project.folder.parent / "second-look.db"
    for ending in ("", "-wal"):
        source = Path(f"{project.path}{ending}")
        target = Path(f"{beside}{ending}")
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)
    connection = sqlite3.connect(beside)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def assert_civil(given: dict[str, Any]) -> None:
    """It ended as a command ends: nothing internal was shown, and what could not be done says why in a sentence."""
    said = given["out"] + given["err"]
    assert not given["raised"], f"{given['words']}: {given['raised']}"
    assert given["status"] in range(6), given
    for word in INTERNAL:
        assert word not in said, given
    if given["status"] and "--check" not in given["words"]:
        assert said.strip(), given


def test_every_verb_is_tried() -> None:
    assert {*VERBS["looking"], *VERBS["changing"], *ELSEWHERE} == set(MODULES)


@pytest.mark.sampled(3)
def test_every_verb_that_looks(copy: Copy) -> None:
    """Each for a person or as JSON, in turn; on a memory that is not this person's, nothing beside it is written."""
    project, home = copy()
    before = tree(project.folder)
    lines = [shlex.split(line) for some in VERBS["looking"].values() for line in some]
    turn = KINDS.index(project.kind)
    lines = [[*line, "--json"] if (number + turn) % 2 else line for number, line in enumerate(lines)]
    for given in run("verbs", project, lines, home):
        assert_civil(given)
        if "--json" in given["words"]:  # what failed in the middle of a document says so on standard error
            refused = given["status"] and given["err"].strip()
            json.loads(given["err"].strip().splitlines()[-1] if refused else given["out"])
    if not project.ours:
        assert tree(project.folder) == before


@pytest.mark.sampled(4)
def test_every_verb_that_changes_something(copy: Copy) -> None:
    project, home = copy()
    exported = run("verbs", project, [["export", str(home / "export.json")]], home)
    assert_civil(exported[0])
    (home / "export.json").touch()
    lines = [line for some in VERBS["changing"].values() for line in some]
    lines = [shlex.split(line.replace("export.json", str(home / "export.json"))) for line in lines]
    for given in run("verbs", project, lines, home):
        assert_civil(given)


@pytest.mark.sampled(5)
def test_every_pane(copy: Copy) -> None:
    project, home = copy()
    for shown in run("panes", project, KEYS, home):
        text = "\n".join([*shown["lines"], *shown["said"]])
        for word in INTERNAL:
            assert word not in text, f"after {shown['key']!r}:\n{text}"
        assert text.strip()


def test_what_it_says_is_what_the_file_holds(copy: Copy) -> None:
    """What is listed, counted and exported; every twentieth fact is found by its own words; the doctor and SQLite
    agree."""
    project, home = copy()
    try:
        sound = rows(project, "PRAGMA integrity_check") == [("ok",)] and project.readable
    except sqlite3.DatabaseError:
        sound = False
    whole = project.ours and project.readable  # else refused, or damaged, which is `salvage`'s: tested above
    live = [row[0] for row in rows(project, "SELECT fact FROM facts WHERE status = 'active'")] if whole else []
    wanted = [fact for fact in project.facts if fact in set(live)][:: max(1, len(live) // 12)]
    lines = ["health --check", "facts --all --limit 100000 --json", "decisions --all --json", "export", "health --json"]
    searches = [["search", fact, "--json"] for fact in wanted]
    doctor, facts, decisions, export, stats, *found = run("verbs", project, [*map(shlex.split, lines), *searches], home)
    if not sound:
        assert doctor["status"] != 0, doctor
    if not project.ours:
        assert facts["status"] != 0 and export["status"] != 0
    if not whole:
        return
    held = [row[0] for row in rows(project, "SELECT fact FROM facts ORDER BY id")]
    assert sorted(fact["fact"] for fact in json.loads(facts["out"])) == sorted(held)
    assert len(json.loads(decisions["out"])) == rows(project, "SELECT count(*) FROM decisions")[0][0]
    assert sorted(row["fact"] for row in json.loads(export["out"])["tables"]["facts"]) == sorted(held)
    counts = json.loads(stats["out"])
    assert counts["facts"] == len(live), counts
    for fact, given in zip(wanted, found, strict=True):
        assert given["status"] == 0, given
        assert any(fact in json.dumps(hit, ensure_ascii=False) for hit in json.loads(given["out"])["hits"]), given


@pytest.mark.sampled(2)
def test_what_is_proved_gone_is_gone(copy: Copy) -> None:
    """Where the purge says that no trace is left, no file of the project, of the home or of the caches has one."""
    project, home = copy()
    if project.kind == "read-only" or not (project.ours and project.readable):
        return
    word = project.facts[0].split()[0] if project.kind == "young" else SECRET_WORD
    lines = [f"checkpoint 'with {word}'", f"search {word}", f"search {word[:-2]}", "backup"]
    lines += [f"purge --query {word} --yes", f"search {word}", "health --check", f"purge --check {word}"]
    given = run("verbs", project, [shlex.split(line) for line in lines], home)
    for one in given:
        assert_civil(one)
    proved, verified = given[4], given[7]
    traces = [name for name, data in tree(home.parent).items() if _holds(data, word) and not _outside(name)]
    if proved["status"] == 0 or verified["status"] == 0:
        assert not traces, (traces, proved, verified)
    else:
        assert traces, "\n\n".join(f"{one['words']} {one['status']}\n{one['out']}\n{one['err']}" for one in given[4:])


def _holds(data: bytes, word: str) -> bool:
    return word.lower().encode() in data.lower() or word.encode("utf-16-le") in data


def _outside(name: str) -> bool:
    """What no purge of a memory reaches: git's own objects, and the copy that the second look made."""
    return "/.git/" in name or name.startswith("second-look")


def test_a_project_is_made_the_same_from_the_same_seed(tmp_path: Path) -> None:
    one, other = (make("young", tmp_path / name, SEED) for name in ("one", "other"))
    assert replace(one, folder=other.folder) == other
