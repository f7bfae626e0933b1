"""What every reader of another tool's memory does, on copies of what the tools wrote and on damaged ones."""

import os
import random
import shutil
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.samples import SAMPLES, copied, database, state

from store.base.errors import InvalidInput
from store.base.vocabulary import SOURCE_NAMES
from store.tools.source import (
    FoundDocument,
    FoundItem,
    FoundMemory,
    FoundTurn,
    Machine,
    ReadTrouble,
    read_file_bytes,
    take_left_out,
)
from store.tools.source_import import SOURCES_BY_NAME, detect_sources, get_source

# tool → what of its sample lies where, and where it is found then
PLACES = tomllib.loads(Path(__file__).with_name("places.toml").read_text())
NOWHERE = {"okf", "markdown", "obsidian"}  # folders that a person names


def read(tool: str, path: Path) -> tuple[list[FoundItem], list[ReadTrouble]]:
    troubles: list[ReadTrouble] = []
    found = list(get_source(tool).read(str(path), troubles))
    take_left_out(troubles)
    return found, troubles


def texts(one: FoundMemory) -> list[str]:
    if one.decision is None:
        return [one.text]
    return [one.text, one.decision.chosen, one.decision.rationale, *one.decision.alternatives]


def memories(found: list[FoundItem]) -> list[FoundMemory]:
    return [one for one in found if isinstance(one, FoundMemory)]


@pytest.fixture(params=SOURCE_NAMES)
def tool(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_registry_names_them_all() -> None:
    assert set(SOURCES_BY_NAME) == set(SOURCE_NAMES) == {path.name for path in SAMPLES.iterdir()}
    for name in SOURCE_NAMES:
        assert name == get_source(name).name and get_source(name).title
    with pytest.raises(InvalidInput):
        get_source("nothing-like-this")


def test_what_must_arrive_arrives(tool: str, tmp_path: Path) -> None:
    """Texts, times, tags, decisions, turns and prose; nothing that was deleted, superseded or the tool's own."""
    paths, expected = copied(tool, tmp_path)
    for path in paths:
        found, troubles = read(tool, path)
        assert troubles == []
        arrived = memories(found)
        for must in expected["must"]:
            hits = [one for one in arrived if any(must["text"] in text for text in texts(one))]
            assert hits, must["text"]
            assert any(one.created.startswith(must.get("created", "")) for one in hits), must
            if path.name in expected.get("tags_in", {path.name: True}):
                assert any(set(must.get("tags", ())) <= set(one.tags) for one in hits), must
            assert any(not must.get("file") or one.path.endswith(must["file"]) for one in hits)
        _nothing_else(expected, path, arrived, found)


def _nothing_else(expected: dict[str, Any], path: Path, arrived: list[FoundMemory], found: list[FoundItem]) -> None:
    gone = [*expected.get("must_not", ()), *expected.get("not_active", ())]
    gone += expected.get("not_active_in", {}).get(path.name, ())
    for text in gone:
        assert not any(text in part for one in arrived for part in texts(one)), text
    turns = [one.text for one in found if isinstance(one, FoundTurn)]
    prose = [one.text for one in found if isinstance(one, FoundDocument)]
    for text in (*expected.get("turns_must", ()), *expected.get("summary_must", ())):
        assert any(text in turn for turn in turns), text
    for text in expected.get("must_not_turns", ()):
        assert not any(text in turn for turn in turns), text
    for text in expected.get("documents_must", ()):
        assert any(text in one for one in prose), text
    said = sum(isinstance(one, FoundTurn) and one.role == "user" for one in found)
    assert said == expected["records"].get("user_turns", said)
    for text in expected.get("pinned_in", {}).get(path.name, ()):
        assert any(one.pinned and text in one.text for one in arrived)
    if "project" in expected:
        folders = {one.project for one in arrived} | {one.cwd for one in found if isinstance(one, FoundTurn)}
        assert folders == {expected["project"]}


def test_a_source_keeps_every_byte_and_none_is_left(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    paths, _ = copied(tool, tmp_path)
    before = state(tmp_path / tool)
    for path in paths:
        read(tool, path)
    assert state(tmp_path / tool) == before
    assert list(scratch.iterdir()) == []


def test_the_place_that_is_named_holds_it(tool: str, tmp_path: Path) -> None:
    """To the line, in files of lines; the number of the record elsewhere."""
    paths, _ = copied(tool, tmp_path)
    for path in paths:
        for one in memories(read(tool, path)[0]):
            assert one.line >= 1
            if not one.path.endswith((".md", ".jsonl")):
                assert one.place
                continue
            lines = Path(one.path).read_text(encoding="utf-8-sig").splitlines()
            held = "\n".join(lines[one.line - 1 : max(one.last, one.line)])
            start = texts(one)[1 if one.decision else 0].split("\n")[0][:20]
            assert start in held or start in held.encode().decode("unicode_escape"), (one.path, one.line)


def test_a_name_says_it_twice_the_same(tool: str, tmp_path: Path) -> None:
    paths, _ = copied(tool, tmp_path)
    for path in paths:
        assert read(tool, path)[0] == read(tool, path)[0]


def damages(path: Path, random_source: random.Random) -> list[Callable[[], None]]:
    raw = path.read_bytes()
    flipped = bytearray(raw)
    for _ in range(max(1, len(raw) // 50)):
        flipped[random_source.randrange(len(raw))] = random_source.randrange(256)

    def become(content: bytes) -> Callable[[], None]:
        return lambda: (path.write_bytes(content), None)[1]

    def folder() -> None:
        path.unlink()
        path.mkdir()

    def link() -> None:
        path.unlink()
        path.symlink_to("/etc/hostname")

    def pipe() -> None:
        path.unlink()
        os.mkfifo(path)

    return [
        *(become(content) for content in (raw[: len(raw) // 2], bytes(flipped), b"", b"\0" * 4096, b"[" * 100_000)),
        become(b"---\n" + b"a: &a [*a, *a]\n" * 50 + b"---\n- x\n"),
        folder,
        link,
        pipe,
    ]


@pytest.mark.parametrize("which", range(9))
def test_damage_is_a_trouble_and_never_an_error(tool: str, which: int, tmp_path: Path) -> None:
    """Every file of a sample, damaged in nine ways, one at a time: nothing is raised, and what lies in the other files
    is still read."""
    paths, _ = copied(tool, tmp_path)
    files = [path for path in sorted((tmp_path / tool).rglob("*")) if path.is_file() and path.stat().st_size]
    chosen = random.Random(which)
    whole = {path: {one.path for one in memories(read(tool, path)[0])} for path in paths}
    for file in files[:8]:
        raw = file.read_bytes()
        damages(file, chosen)[which]()
        for path in paths:
            found, _ = read(tool, path)
            others = {name for name in whole[path] if name != str(file) and not file.name.endswith(("-wal", ".db"))}
            assert others <= {one.path for one in memories(found)}
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink()
        file.write_bytes(raw)


def test_what_is_not_there_is_a_trouble(tool: str, tmp_path: Path) -> None:
    found, _ = read(tool, tmp_path / "nothing")
    assert found == []


def test_it_is_found_where_it_lies_by_default(tool: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    copied(tool, tmp_path)
    machine = Machine(str(home))
    assert get_source(tool).detect(machine) == []
    if tool in NOWHERE:
        return
    part, there, place = PLACES[tool]
    shutil.copytree(tmp_path / tool / part, home / there)
    assert get_source(tool).detect(machine) == [str(home / place)]
    assert detect_sources(machine) == {tool: [str(home / place)]}


def test_a_folder_that_the_environment_names(tmp_path: Path) -> None:
    for tool, variable, inner in (
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects/-x"),
        ("codex", "CODEX_HOME", "sessions"),
        ("opencode", "XDG_DATA_HOME", "opencode/opencode.db"),
        ("engram", "ENGRAM_DATA_DIR", "engram.db"),
        ("claude-mem", "CLAUDE_MEM_DATA_DIR", "claude-mem.db"),
        ("mem0", "MEM0_DIR", "history.db"),
    ):
        place = tmp_path / tool / inner
        place.mkdir(parents=True)
        machine = Machine(str(tmp_path / "home"), {variable: str(tmp_path / tool)})
        assert get_source(tool).detect(machine) == [str(place)]


# of one tool


def test_a_line_of_claude_codes_index_that_leads_to_a_file_is_no_memory(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [A](a.md) — hook\n- a bare line\n", encoding="utf-8")
    (folder / "a.md").write_text("The team is five.\n", encoding="utf-8")
    found = memories(read("claude-code", tmp_path)[0])
    assert [(one.text, one.line, one.last) for one in found] == [("a bare line", 2, 2), ("The team is five.", 1, 1)]


def test_of_equal_titles_the_newest_is_named(tmp_path: Path) -> None:
    """claude-mem keeps old and new side by side: both come, and each says which it is."""
    paths, _ = copied("claude-mem", tmp_path)
    for path in paths:
        notes = {one.text[:30]: one.note for one in memories(read("claude-mem", path)[0]) if one.note}
        assert notes == {
            "Faro is released every second ": "There is a newer one of this title, “Release train”.",
            "Faro is released every Tuesday": "It is the newest of this title, “Release train”.",
        }


def test_columns_that_are_unknown_or_missing(tmp_path: Path) -> None:
    """A newer tool adds columns, an older one lacks them."""
    path = tmp_path / "engram.db"
    table = 'CREATE TABLE observations(id INTEGER PRIMARY KEY, content TEXT, "a \'b" TEXT);'
    database(f"{table} INSERT INTO observations VALUES (7, 'The team is five.', 'x');", path)
    (one,) = memories(read("engram", path)[0])
    assert (one.text, one.line, one.created, one.session) == ("The team is five.", 7, "", "")


def test_a_hostile_database_runs_nothing(tmp_path: Path) -> None:
    """A view in the place of a table is not read, and its functions do not run."""
    path = tmp_path / "engram.db"
    view = "CREATE VIEW observations AS SELECT 1 AS id, load_extension('x') AS content FROM t;"
    database(f"CREATE TABLE t(x); INSERT INTO t VALUES (1); {view}", path)
    trouble = ReadTrouble(str(path), 0, "it has none of the tables that are known of this tool")
    assert read("engram", path) == ([], [trouble])


def test_a_bad_date_loses_no_text(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    path.write_text('[{"id": "1", "memory": "The team is five.", "created_at": "yesterday-ish"}]', encoding="utf-8")
    (one,) = memories(read("mem0", path)[0])
    assert (one.text, one.created) == ("The team is five.", "")


def test_a_packed_conversation_of_codex_is_named(tmp_path: Path) -> None:
    (tmp_path / "rollout-a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    why = "it is packed; unpack it with zstd -d"
    assert read("codex", tmp_path) == ([], [ReadTrouble(str(tmp_path / "rollout-a.jsonl.zst"), 0, why)])


def test_a_line_that_is_still_being_written_is_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    line = '{"type": "entity", "name": "a", "entityType": "b", "observations": ["The team is five."]}'
    path.write_text(f"{line}\n{line[:40]}", encoding="utf-8")
    found, troubles = read("server-memory", path)
    assert (len(found), troubles) == (1, [])
    path.write_text(f"{line[:40]}\n{line}\n", encoding="utf-8")
    found, troubles = read("server-memory", path)
    assert (len(found), troubles) == (1, [ReadTrouble(str(path), 1, "it is not JSON")])


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs a file that tells no size")
def test_a_file_that_is_longer_than_it_tells_is_reported_and_not_cut() -> None:
    troubles: list[ReadTrouble] = []
    assert read_file_bytes("/proc/self/status", troubles, 10) is None
    assert troubles == [ReadTrouble("/proc/self/status", 0, "it is longer than 10 bytes")]
