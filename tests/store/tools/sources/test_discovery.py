"""A folder that is named is read whole, and what is damaged as far as it goes; what is not read is said."""

import gzip
import os
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from support.guests import GuestHome
from support.repositories import commit, git
from support.samples import copied
from support.tables import each

from store.tools import source
from store.tools.source import FoundMemory, ReadTrouble
from store.tools.source_import import get_source

TREE, DAMAGED = (tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text()) for name in ("tree", "damaged"))
MARKS = ("my environment/pyvenv.cfg", "target/CACHEDIR.TAG", "bare/HEAD", "bare/refs/x", "objects/HEAD")
ENTITY = '{"type": "entity", "name": "a", "observations": ["The team is five.", "We use tabs."]}'


def find(folder: Path) -> tuple[list[str], dict[str, str]]:
    """What is found below a folder, and why what is not."""
    troubles: list[ReadTrouble] = []
    found = [os.path.relpath(path, folder) for path in source.find_files(str(folder), ".md", troubles)]
    return found, {os.path.relpath(one.path, folder): one.why for one in troubles}


def test_a_folder_is_walked_whole(tmp_path: Path) -> None:
    project = tmp_path / "project"
    commit(project, "One.")
    git(project, "worktree", "add", "-q", "--detach", "worktree")
    for name in (*TREE["found"], *TREE["left"], *MARKS):
        if name not in ("link.md", "folder/s.md"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text("- x\n")
    (project / "link.md").symlink_to(project / "notes.md")
    (project / "folder").symlink_to(project / ".agent")
    (project / os.fsdecode(b"b\xff")).mkdir()
    (project / os.fsdecode(b"b\xff/c\xfe.md")).write_text("- x\n")
    found, left = find(project)
    assert set(found) == {*TREE["found"], os.fsdecode(b"b\xff/c\xfe.md")}
    assert all(next(why for path, why in left.items() if f"{name}/".startswith(f"{path}/")) == why
               for name, why in TREE["left"].items())  # fmt: skip
    counted = source.left_out_lines([ReadTrouble(str(tmp_path / "x"), 0, "a cache", 7)])
    assert counted == [f"Left out, a cache: {tmp_path / 'x'}, at least 7 files"]


def test_a_folder_that_is_too_large_or_too_deep_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MOST_ENTRIES", 6)
    monkeypatch.setattr(source, "DEEPEST_FOLDER", 2)
    (tmp_path / "a/b/c").mkdir(parents=True)
    for name in ("a/b/c/deep.md", "a/b/1.md", "a/b/2.md", "z/3.md", "z/4.md", "z/5.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("- x\n")
    found, left = find(tmp_path)
    assert found == ["a/b/1.md", "a/b/2.md", "z/3.md"] or len(found) <= 4
    assert left.pop("a/b/c") == "more than 2 folders deep" and "more than 6 entries" in left["z"]


@each("case", DAMAGED["cases"])
def test_what_is_whole_of_a_damaged_store_is_read(case: dict[str, str], tmp_path: Path) -> None:
    path, troubles = tmp_path / case["name"], list[ReadTrouble]()
    text = case["text"].replace("ENTITY", ENTITY).replace("FACT", '{"memory": "A fact."}')
    path.write_text(text, case.get("encoding", "utf-8"))
    found = list(get_source(case.get("tool", "server-memory")).read(str(path), troubles))
    assert (len(found), [one.why for one in troubles]) == (case["found"], case.get("why", []))


def test_a_database_that_is_cut_short_or_locked_is_no_empty_one(tmp_path: Path) -> None:
    path, troubles = tmp_path / "engram.db", list[ReadTrouble]()
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE observations(id INTEGER PRIMARY KEY, content TEXT)")
        made.executemany(
            "INSERT INTO observations(content) VALUES (?)", [(f"Fact {n} {'x' * 300}",) for n in range(900)]
        )
        made.commit()
        made.execute("BEGIN EXCLUSIVE")
        assert len(list(get_source("engram").read(str(path), troubles))) == 900 and not troubles
    os.truncate(path, os.path.getsize(path) // 2)
    found = list(get_source("engram").read(str(path), troubles))
    says = f"it is damaged, and was read as far as it goes; {len(found)} rows of observations; "
    assert 200 < len(found) < 700 and troubles[0].why.startswith(says) and troubles[0].why.endswith("pages are missing")
    lines = b"".join(b'{"observations": [{"content": "%s"}]}\n' % os.urandom(40).hex().encode() for _ in range(90))
    packed, chunk = gzip.compress(lines), tmp_path / "chunk.jsonl.gz"
    chunk.write_bytes(packed[: len(packed) // 2])
    some = list(get_source("engram").read(str(chunk), troubles))
    says = ["it is damaged, and was read as far as it goes", "it is not JSON"]
    assert 20 < len(some) < 70 and [one.why for one in troubles[1:]] in (says[:1], says)


def test_a_named_folder_is_searched_for_what_a_tool_keeps(tmp_path: Path) -> None:
    for tool, place in (("claude-code", "old/.claude"), ("engram", "old/.engram"), ("codex", "old/.codex")):
        paths, _ = copied(tool, tmp_path)
        whole = {one.text for one in get_source(tool).read(str(paths[0]), [])}
        (tmp_path / tool / place).parent.mkdir(parents=True)
        for one in [one for one in (tmp_path / tool).iterdir() if one.name != "old"]:
            (tmp_path / tool / place).mkdir(exist_ok=True)
            one.rename(tmp_path / tool / place / one.name)
        assert {one.text for one in get_source(tool).read(str(tmp_path / tool), [])} == whole, tool


def test_files_lists_the_records_that_import_brings(tmp_path: Path) -> None:
    """Beside them the lines of an index and prose, which are no records."""
    home = GuestHome(tmp_path)
    for tool in ("claude-code", "basic-memory", "openclaw", "engram"):
        every = (one for place in get_source(tool).detect(home.machine) for one in get_source(tool).read(place, []))
        records = {(one.path, one.line) for one in every if isinstance(one, FoundMemory)}
        assert records == {(one.path, one.line) for one in home.texts(tool) if one.note not in ("index", "note", "day")}
