"""What `store` exports: every name is there, and is imported when it is asked for."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import store

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", store.PLACES)
def test_an_exported_name_is_what_its_module_has(name: str) -> None:
    module, inner = store.PLACES[name]
    found = importlib.import_module(module)
    assert getattr(store, name) is getattr(found, inner)


def test_the_public_names_are_few_and_none_hides_a_package() -> None:
    assert len(store.__all__) == len(set(store.__all__)) <= 100
    packages = {path.stem for path in (ROOT / "store").iterdir()}
    assert not packages & store.PLACES.keys(), "`from store import search` is the package"


def test_public_functions_and_classes_say_what_they_are() -> None:
    named = {name: getattr(store, name) for name in store.__all__}
    silent = [name for name, value in named.items() if isinstance(value, type | FunctionType) and not value.__doc__]
    assert silent == []


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        store.nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018
    assert {"Memory", "Librarian", "__version__"} <= set(dir(store))


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
