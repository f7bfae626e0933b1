"""Which memory file is opened (option, variable, nearest, checkout, personal), in real folders with real
checkouts. Deciding creates nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.repositories import create

from store.base.location import Location
from store.projects.locating import choose_own_memory, locate


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


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
    top = cwd
    while top.name != "home":
        top = top.parent
    before = everything_in(top)
    location = locate(option, environ, str(cwd))
    assert everything_in(top) == before, "deciding created something"
    return location


def keep_memory(folder: Path) -> Path:
    """What an earlier run left there."""
    (folder / ".memoranda").mkdir(parents=True)
    file = folder / ".memoranda" / "memory.db"
    file.touch()
    return file


def test_the_option_wins_over_everything(world: Path) -> None:
    """--db is believed, even with the variable set and a memory at hand; it is relative to where one stands."""
    create(world / "project")
    keep_memory(world / "project")
    location = decide(world / "project", "other/mine.db", MEMORANDA_DB="/elsewhere.db")
    assert location.path == str(world / "project/other/mine.db")
    assert (location.kind, location.project, location.display_name) == ("option", None, "mine.db")
    assert decide(world, "~/mine.db").path == str(world / "mine.db")


def test_the_variable_wins_over_what_lies_around(world: Path) -> None:
    """$MEMORANDA_DB comes second; an empty one is none."""
    create(world / "project")
    kept = keep_memory(world / "project")
    location = decide(world / "project", MEMORANDA_DB=str(world / "shared.db"))
    assert (location.path, location.kind) == (str(world / "shared.db"), "environment")
    assert decide(world / "project", MEMORANDA_DB="").path == str(kept)


def test_a_named_file_inside_a_projects_folder_is_that_projects(world: Path) -> None:
    """Naming a project's own memory from elsewhere is being in that project."""
    location = decide(world, "project/.memoranda/memory.db")
    assert (location.kind, location.project, location.display_name) == ("option", str(world / "project"), "project")


@pytest.mark.parametrize("what", ["a link that leads nowhere", "an empty file", "another file"])
def test_a_folder_that_only_seems_to_hold_backups_takes_no_memorys_place(world: Path, what: str) -> None:
    """A checkout may bring it: what is written below would go to a memory of its own."""
    project = world / "backed"
    create(project)
    (project / ".memoranda").mkdir()
    (project / ".memoranda" / "memory.db").write_text("x")
    backups = project / "sub" / ".memoranda" / "backups"
    backups.mkdir(parents=True)
    if what == "a link that leads nowhere":
        (backups / "memory-2026.db").symlink_to("/nowhere")
    else:
        (backups / ("memory-2026.db" if "empty" in what else "x.db")).write_text("" if "empty" in what else "x")
    assert locate(None, {}, str(project / "sub")).path == str(project / ".memoranda" / "memory.db")
    (backups / "memory-2025.db").write_text("x")
    assert locate(None, {}, str(project / "sub")).path == str(backups.parent / "memory.db"), "opening it says so"


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


def test_init_begins_at_the_root_of_the_checkout_or_right_here(world: Path) -> None:
    """`here` is the checkout's root, and outside of one the folder itself, even below another memory."""
    create(world / "project")
    (world / "project/src").mkdir()
    assert choose_own_memory(str(world / "project/src")).path == str(world / "project/.memoranda/memory.db")
    keep_memory(world)
    (world / "desk").mkdir()
    assert choose_own_memory(str(world / "desk")).path == str(world / "desk/.memoranda/memory.db")
    assert everything_in(world / "desk") == []
