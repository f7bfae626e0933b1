"""Which memory file is opened (option, variable, nearest, checkout, personal), in real folders with real
checkouts. Deciding creates nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.repositories import create

from store.base.location import Location
from store.projects.locating import locate


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own, with a folder for data; nothing above it holds a memory or a checkout."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    yield home


def decide(cwd: Path, option: str | None = None, **environ: str) -> Location:
    """`locate`, with the promise that it leaves no trace checked each time."""
    top = next(folder for folder in (cwd, *cwd.parents) if folder.name == "home")
    before = sorted(top.rglob("*"))
    location = locate(option, environ, str(cwd))
    assert sorted(top.rglob("*")) == before, "deciding created something"
    return location


def keep_memory(folder: Path) -> Path:
    """What an earlier run left there."""
    (folder / ".memoranda").mkdir(parents=True)
    file = folder / ".memoranda" / "memory.db"
    file.touch()
    return file


@pytest.mark.parametrize(
    ("option", "variable", "place"),
    [
        ("other/mine.db", "/elsewhere.db", ("project/other/mine.db", "option", None, "mine.db")),
        ("~/mine.db", "", ("mine.db", "option", None, "mine.db")),
        (".memoranda/memory.db", "", ("project/.memoranda/memory.db", "option", "project", "project")),
        (None, "~/shared.db", ("shared.db", "environment", None, "shared.db")),
        (None, "", ("project/.memoranda/memory.db", "project", "project", "project")),
    ],
)
def test_the_option_wins_over_the_variable_and_that_over_what_lies_around(
    world: Path, option: str | None, variable: str, place: tuple[str, str, str | None, str]
) -> None:
    """A named file is relative to where one stands; inside a project's folder it is that project's."""
    create(world / "project")
    keep_memory(world / "project")
    found = decide(world / "project", option, MEMORANDA_DB=variable)
    project = None if place[2] is None else str(world / place[2])
    assert (found.path, found.kind, found.project, found.display_name) == (
        str(world / place[0]),
        place[1],
        project,
        place[3],
    )


def test_a_folder_of_somebody_else_is_not_looked_into(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory planted above one's folders by another user (in /tmp, say) is passed by.

    A test cannot be two users, so the person's id is what is faked: from one's own point of view every folder is
    then somebody else's."""
    keep_memory(world / "shared")
    monkeypatch.setattr(os, "getuid", lambda: 4_294_000_000)
    assert decide(world / "shared").kind == "personal"


def test_a_broken_link_where_the_memory_was_is_not_silently_replaced(world: Path) -> None:
    """A dangling symlink is still *the* memory of the project: opening it will refuse, not start another one."""
    create(world / "project")
    (world / "project/.memoranda").mkdir()
    (world / "project/.memoranda/memory.db").symlink_to(world / "gone.db")
    assert decide(world / "project").kind == "project"
