"""A memory is moved out of its checkout; all memories are listed."""

import os
import shutil
from pathlib import Path

import pytest
from support.ours import in_checkout
from support.repositories import commit, create

from store.base.errors import Conflict, InvalidInput, StorageError
from store.base.location import Location, backup_folder
from store.config.configuration import load_config, write_setting
from store.exchange.backups import find_backups, make_backup
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.adoption import list_memories, move_memory


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A checkout with a memory in it, as earlier builds began it."""
    create(tmp_path / "shop")
    commit(tmp_path / "shop", "first")
    with Memory(in_checkout(find(tmp_path / "shop")), "cli") as memory:
        memory.facts.remember("The window is Thursday")
    return tmp_path / "shop"


def find(folder: Path) -> Location:
    return locate(None, {}, str(folder))


def facts(folder: Path) -> list[str]:
    with Memory(find(folder), "cli") as memory:
        return [memory.facts.get(number).fact for number in memory.facts.ids(memory.now)]


def test_a_moved_memory_has_every_row_its_settings_and_its_backups(shop: Path) -> None:
    before = find(shop)
    write_setting(str(shop / ".memoranda" / "config.toml"), "theme", "nord")
    with Memory(before, "cli") as memory:
        made = make_backup(memory.database)
        assert made is not None and not made.path.startswith(str(shop))
        (shop / ".memoranda" / "backups").mkdir(mode=0o700)
        shutil.move(made.path, shop / ".memoranda" / "backups")  # where earlier builds made it
        assert [one.path for one in find_backups(memory.database)] == [made.path]
    moved = move_memory(find(shop))
    assert find(shop).path == moved.path and not (shop / ".memoranda").exists()
    assert facts(shop) == ["The window is Thursday"] and load_config(moved)["theme"] == "nord"
    kept = os.listdir(backup_folder(moved.path))
    assert made.name in kept and any(name.startswith("memory-moved-") for name in kept)
    with pytest.raises(InvalidInput, match="lies in no checkout"):
        move_memory(moved)


def test_a_memory_that_is_open_elsewhere_is_not_moved(shop: Path) -> None:
    with Memory(find(shop), "cli"), pytest.raises(Conflict, match="has this memory open"):
        move_memory(find(shop))
    assert facts(shop) == ["The window is Thursday"]


def test_the_backups_of_a_checkout_that_was_moved_go_with_it(shop: Path) -> None:
    with Memory(find(shop), "cli") as memory:
        make_backup(memory.database)
    shop.rename(shop.with_name("other"))
    with Memory(find(shop.with_name("other")), "cli") as memory:
        (kept,) = find_backups(memory.database)
        assert kept.size and os.path.dirname(kept.path) == backup_folder(memory.database.path)


def test_all_memories_are_listed_with_folders_that_are_gone(shop: Path, tmp_path: Path) -> None:
    create(tmp_path / "gone")
    Memory(find(tmp_path / "gone"), "cli").close()
    shutil.rmtree(tmp_path / "gone")
    Memory(Location(str(tmp_path / "named.db"), "option", ""), "cli").close()
    said = {(one.name, one.bytes > 0 and bool(one.written), one.folder_is_there) for one in list_memories()}
    assert said >= {("gone", True, False), ("shop", True, True), ("named.db", True, False)}


def test_a_memory_whose_file_is_gone_is_never_begun_anew(shop: Path) -> None:
    place = find(shop)
    shutil.rmtree(shop / ".memoranda")
    with pytest.raises(StorageError, match="There is no memory at"):
        Memory(place, "cli")
