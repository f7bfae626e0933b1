"""What `store` exports: every name is there, and is imported when it is asked for."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import store
from store.base.location import personal_memory_path

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("name", "module"), store.PUBLIC.items())
def test_a_public_name_is_the_one_of_its_module(name: str, module: str) -> None:
    assert getattr(store, name) is getattr(importlib.import_module(module), name)


def test_editors_are_shown_the_same_names() -> None:
    """The imports for type checkers, which never run, and PUBLIC say the same."""
    tree = ast.parse(Path(store.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    shown = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert shown == store.PUBLIC


def test_importing_the_store_imports_nothing_else() -> None:
    program = "import sys, store; print(*(name for name in sys.modules if name.startswith('store.')))"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert child.stdout.split() == ["store.version"]


def test_the_public_names_are_few_and_none_hides_a_package() -> None:
    assert store.__all__ == list(store.PUBLIC) and len(store.PUBLIC) <= 100
    packages = {path.stem for path in (ROOT / "store").iterdir()}
    assert not packages & store.PUBLIC.keys(), "`from store import search` is the package"


def test_public_functions_and_classes_say_what_they_are() -> None:
    named = {name: getattr(store, name) for name in store.__all__}
    silent = [name for name, value in named.items() if isinstance(value, type | FunctionType) and not value.__doc__]
    assert silent == []


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no public name 'nothing_of_the_kind'"):
        store.nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018
    assert {"Memory", "Librarian", "__version__"} <= set(dir(store))


def test_looking_at_a_memory_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attribute that `dir` names can be read: where there is no personal memory, and where it cannot be used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    own = Path(personal_memory_path())
    with store.Memory.open(str(tmp_path / "notes.db")) as memory:
        assert [name for name in dir(memory) if not hasattr(memory, name)] == []
        assert memory.personal is None
        with pytest.raises(store.NotFound, match="no personal memory yet"):
            memory.require_personal()
        own.parent.mkdir(parents=True)
        own.write_text("not a memory")
        assert hasattr(memory, "personal") and memory.personal is None
        with pytest.raises(store.StorageError, match="Your personal memory cannot be used"):
            memory.require_personal()


def test_a_program_needs_no_more(tmp_path: Path) -> None:
    """The example of docs/api.md runs as it stands there."""
    _, _, rest = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").partition("```python\n")
    example = rest.partition("```")[0]
    assert "from store import" in example and "store." not in example
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", example]
    child = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert (child.returncode, child.stderr) == (0, "")
    assert child.stdout.splitlines() == [
        "F#1 We deploy on Tuesdays",
        "1 fact about Tuesdays",
        'There is nothing to remember in an empty text. Write the fact: remember "team of 5".',
        "0 facts after undo",
    ]
