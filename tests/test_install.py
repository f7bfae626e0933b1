"""README's first command as a stranger types it: a clean environment, a fresh copy of what git holds; and it works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.packaging import ROOT, fresh_copy, run

README = ROOT / "README.md"

pytestmark = pytest.mark.install


def commands() -> list[str]:
    """What the README's first `console` block tells to type."""
    block = re.search(r"^```console\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert block, "README.md has no ```console block"
    return [line.removeprefix("$ ") for line in block[1].splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git holds, in which the first command's install part has been run."""
    copy = fresh_copy(tmp_path_factory.mktemp("fresh") / "memoranda")
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
