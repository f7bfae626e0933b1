"""Starting: a command pays for what it uses, what it makes is private, and no stranger's `store` is taken for ours.

Each story is a process of its own. Those about imports start without `site`, so that what an environment's own `.pth`
files import does not count as ours, and what they would hide is seen.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support import repositories
from support.commands import COMMAND
from support.ours import memory_path

ROOT = Path(__file__).parents[2]
# what costs a command more than it may: the milliseconds of each add up
MODELS = "fastembed mcp numpy ollama onnxruntime pydantic sqlite_vec tokenizers watchfiles".split()

PROCESS = """
import os, sys
sys.path[:] = {path}
before = set(sys.modules)
{code}
os.write(1, ("\\n" + " ".join(sorted(set(sys.modules) - before))).encode())
"""


def imported(code: str, cwd: Path) -> set[str]:
    """The modules that a process had imported at its end."""
    path = [str(ROOT), *(entry for entry in sys.path if entry and Path(entry) != ROOT / "tests")]
    script = PROCESS.format(path=path, code=code)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("\n")[2].split())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A project with a memory: the first command pays for making one, the others do not."""
    project = tmp_path / "project"
    repositories.commit(project, "first")
    subprocess.run([COMMAND, "remember", "the team is five"], cwd=project, check=True, capture_output=True)
    return project


# the whole command, main to exit, whose last act is held back so that we can look
VERB = """
os._exit = lambda status: None if status == 0 else sys.exit(f"status {{status}}")
sys.argv = ["memoranda", {words}]
from tui.main import main
main()
"""


def verb(*words: str) -> str:
    return VERB.replace("{{", "{").replace("}}", "}").replace("{words}", ", ".join(map(repr, words)))


# imports ------------------------------------------------------------------------------------------------------------


def test_no_command_imports_the_application(checkout: Path):
    """Whatever the verb, it draws nothing, asks no model and makes no connection. All of them are run in one process:
    what any of them imports is seen."""
    lines = (("remember", "Five"), ("facts",), ("where",), ("--help",), ("show", "1"), ("search", "team"), ("export",))
    found = imported("\n".join(verb(*words) for words in lines), checkout)
    assert "tui.cli" in found
    assert not {name for name in found if name.partition(".")[0] in (*MODELS, "asyncio", "pygments", "rich", "textual")}


def test_the_application_starts_light(tmp_path: Path):
    """Up to first paint: Textual and what it needs, none of the models, nor the highlighter of diffs."""
    found = imported("import tui.app, tui.main_screen.screen, tui.workers.engine", tmp_path)
    assert "textual" in found and "tui.app" in found
    assert sorted(name for name in found if name in (*MODELS, "pygments", "markdown_it", "sqlite3", "tui.cli")) == []


def test_import_store_is_nearly_free(tmp_path: Path):
    found = imported("import store", tmp_path)
    assert {name for name in found if name.startswith("store")} == {"store", "store.version"}
    assert not found & {*MODELS, "apsw", "dataclasses", "pathlib"}


# the guard ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["package", "module", "copy"])
def test_a_strangers_store_is_refused(tmp_path: Path, checkout: Path, form):
    """`store` is a plain name. One that lies earlier on the path is named in a sentence, and nothing of it is used."""
    stranger = tmp_path / "stranger"
    if form == "package":
        (stranger / "store").mkdir(parents=True)
        (stranger / "store" / "__init__.py").write_text("")
    elif form == "module":
        stranger.mkdir()
        (stranger / "store.py").write_text("")
    else:  # an older Memoranda, say: ours by its looks, but not the one that came with this command
        shutil.copytree(ROOT / "store", stranger / "store")
    path = os.pathsep.join(filter(None, (str(stranger), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path}
    for words in (["remember", "x"], ["facts"], []):
        done = subprocess.run(
            [COMMAND, *words], cwd=checkout, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, b"")
        said = done.stderr.decode()
        assert said.count("\n") == 1 and said.startswith("memoranda: another package named `store` is in the way, in ")
        assert form == "module" or str(stranger) in said
        assert "pipx install memoranda" in said
    done = subprocess.run([COMMAND, "facts"], cwd=checkout, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1, "nothing was remembered"


def test_a_folder_named_store_is_in_nobodys_way(checkout: Path):
    """Projects have folders called `store` and `tui`; standing in one changes nothing."""
    for name in ("store", "tui"):
        (checkout / name).mkdir()
        (checkout / name / "__init__.py").write_text("raise SystemExit('taken from the working directory')")
    done = subprocess.run([COMMAND, "facts"], cwd=checkout, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# private ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277], ids=oct)
def test_what_a_command_makes_is_private(tmp_path: Path, umask):
    """Whatever the shell's umask: the folder 0700, and the memory and an export 0600."""
    project = tmp_path / "project"
    repositories.commit(project, "first")
    for words in (["remember", "the team is five"], ["export", "out.json"], ["timeline"]):
        subprocess.run([COMMAND, *words], cwd=project, umask=umask, capture_output=True, check=True)
    folder = memory_path(project).parent
    made = (folder, *folder.iterdir(), project / "out.json")
    modes = {path.name: oct(stat.S_IMODE(path.lstat().st_mode)) for path in made}
    assert modes.pop(folder.name) == "0o700"
    assert set(modes) == {"memory.db", "memory.db-ballast", "out.json"}
    assert set(modes.values()) == {"0o600"}


def test_the_mask_is_set_before_anything_else(tmp_path: Path):
    """Not only what we make with a mode of our own: whatever a library writes for us is private too."""
    script = f"""
import os, sys
sys.argv = ["memoranda", "where"]
os._exit = lambda status: print(oct(os.umask(0)))
sys.path.insert(0, {str(ROOT)!r})
from tui.main import main
main()
"""
    said = subprocess.check_output([sys.executable, "-c", script], cwd=tmp_path, umask=0, text=True)
    assert said.split("\n")[-2] == "0o77"


def test_the_module_is_the_command(checkout: Path):
    """`python -m tui.main` is the same thing, for where the script is not on the path."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words in (["facts"], ["--version"], ["where", "--json"]):
        commands = [[COMMAND, *words], [sys.executable, "-m", "tui.main", *words]]
        said = [subprocess.check_output(command, cwd=checkout, env=environment) for command in commands]
        assert said[0] == said[1]
    assert json.loads(said[0])["exists"] is True
