"""README's first command as a stranger types it: a clean environment, a fresh copy of what git holds; and it works."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MINUTES = 5 * 60

pytestmark = pytest.mark.install


def commands() -> list[str]:
    """What the README's first `console` block tells to type."""
    block = re.search(r"^```console\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert block, "README.md has no ```console block"
    return [line.removeprefix("$ ") for line in block[1].splitlines() if line.startswith("$ ")]


def clean() -> dict[str, str]:
    """An environment that knows nothing of ours: no virtual environment, no path of imports."""
    ours = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "MEMORANDA_DB")
    return {name: value for name, value in os.environ.items() if name not in ours}


def run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=clean(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=MINUTES,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git holds, in which the first command's install part has been run."""
    copy = tmp_path_factory.mktemp("fresh") / "memoranda"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached"], capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    first = commands()[0]
    install, _, start = first.rpartition(" && ")
    assert start.strip() == ".venv/bin/memoranda demo", "the first command ends with the application, on something"
    assert "pip install ." in install
    # the very Python that runs the tests stands for the reader's `python3`
    assert install.startswith("python3 -m venv ")
    run(["bash", "-euc", install.replace("python3", f"'{sys.executable}'", 1)], copy)
    return copy


def test_the_command_works(installed: Path, tmp_path: Path):
    """Version, place, the first fact, and the overview, in a project of its own."""
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    memoranda = str(installed / ".venv" / "bin" / "memoranda")
    assert re.fullmatch(r"memoranda \d+\.\d+\.\d+\n", run([memoranda, "--version"], project))
    assert f"{project}/.memoranda/memory.db (not made yet)" in run([memoranda, "where"], project)
    assert run([memoranda, "remember", "the team is five"], project) == "Remembered F#1.\n"
    assert "the «team» is five" in run([memoranda, "search", "team"], project)
    assert "1 fact" in run([memoranda], project)


def test_the_demo_works(installed: Path, tmp_path: Path):
    """What the first command opens can be made from what was installed, its texts included."""
    memoranda = str(installed / ".venv" / "bin" / "memoranda")
    assert f"cd {tmp_path}/demo/billing-api && memoranda" in run([memoranda, "demo", "demo"], tmp_path)
    assert "◆ D#7" in run([memoranda, "search", "why", "sqlite"], tmp_path / "demo" / "billing-api")


def test_it_is_installed_and_not_linked(installed: Path):
    """The modules come from the environment, with the SQL they need; nothing of tests or benches came along."""
    python = str(installed / ".venv" / "bin" / "python")
    script = "import store, tui, os; print(os.path.dirname(store.__file__)); print(os.path.dirname(tui.__file__))"
    for folder in run([python, "-c", script], installed.parent).split():
        assert ".venv" in folder and "site-packages" in folder
        assert (Path(folder) / "py.typed").exists()
        assert not (Path(folder).parent / "tests").exists() and not (Path(folder).parent / "bench").exists()
    assert "No broken requirements found." in run([python, "-m", "pip", "check"], installed)


def test_what_the_wheel_holds(installed: Path, tmp_path: Path):
    """Every module, both `py.typed`, every schema file, the demo's commits, the licence, the command; no test, no
    bench, no picture."""
    pip = str(installed / ".venv" / "bin" / "pip")
    run([pip, "wheel", ".", "--no-deps", "--wheel-dir", str(tmp_path)], installed)
    (wheel,) = tmp_path.glob("memoranda-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (entry_points,) = [name for name in names if name.endswith("entry_points.txt")]
        assert "memoranda = tui.main:main" in archive.read(entry_points).decode()
    code = {
        str(path.relative_to(installed))
        for package in ("store", "tui")
        for path in (installed / package).rglob("*")
        if path.suffix in (".py", ".sql", ".tcss", ".txt") or path.name == "py.typed"
    }
    assert {"store/py.typed", "tui/py.typed", "store/database/schema/0001_spine.sql", "tui/demo/commits.txt"} <= code
    assert code <= names
    others = {name for name in names - code if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in others} <= {"store", "tui"}
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not any(name.endswith((".pyc", ".db")) for name in names)
