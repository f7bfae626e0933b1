"""An empty list: whether there is nothing, or nothing that passes what was asked for."""

import io
import json
from pathlib import Path

import pytest
from support import repositories

from tui import cli
from tui.input.verb_table import VERBS

PASSES = "Nothing here passes that; memoranda"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run_command(("init",)) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("words", "empty"),
    [
        (("facts", "--tag", "x"), "No facts here."),
        (("facts", "nobody", "said", "this"), "No facts here."),
        (("facts", "--domain", "work"), "No facts here."),
        (("facts", "--origin", "mcp:x"), "No facts here."),
        (("tasks", "--status", "done"), "No tasks here."),
        (("events", "--type", "x"), "No events here."),
        (("events", "--since", "1d"), "No events here."),
        (("timeline", "--kind", "commit"), "Nothing happened here yet."),
        (("timeline", "--before", "2001-01-01"), "Nothing happened here yet."),
    ],
)
def test_an_empty_list_does_not_say_that_there_is_nothing_where_it_was_narrowed(
    project: Path, words: tuple[str, ...], empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run_command(words[:1]) == 0
    assert capsys.readouterr().out.startswith(empty)
    assert cli.run_command(words) == 0
    assert capsys.readouterr().out.startswith(PASSES)


LOOKING = {
    "show": ["F#1"], "search": ["x"], "ask": ["what", "happened?"], "as-of": ["yesterday"], "diff": ["yesterday"],
    "verify-forgotten": ["x"], "restore": ["K#1"],
}  # fmt: skip
NAMED = [
    "duplicates",
    "index",
    "backup",
    "recover",
    "sessions",
    "team",
    "scan-secrets",
    "verify",
    "import",
    "undo",
    "redo",
    "restore",
    "flush",
    "clear",
]


def test_what_only_reads_starts_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repositories.commit(tmp_path / "shop", "feat: prices in euros", {"a.txt": "1"})
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert {verb.name for verb in VERBS if verb.looks} > set(NAMED)
    for verb in (verb for verb in VERBS if verb.looks):
        cli.run_command([verb.name, *LOOKING.get(verb.name, [])])
        said = capsys.readouterr()
        assert "There is no memory here yet, and none was started" in said.err, verb.name
        assert "Started a memory" not in said.err and not (tmp_path / "shop" / ".memoranda").exists(), verb.name
        left = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert left == [], f"{verb.name} leaves an entry of a memory that there is not"
        if verb.name == "timeline":
            assert "prices in euros" in said.out, "the commits are shown all the same"
    assert cli.run_command(["remember", "the team is five"]) == 0
    assert "Started a memory" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("purge", "nothing"),
        ("share", "work"),
        ("import", "claude-code"),
        ("import", "codex", "--only", "conversations"),
        ("backup",),
    ],
    ids=" ".join,
)
def test_what_is_only_tried_starts_no_memory(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repositories.commit(tmp_path / "shop", "feat: prices in euros", {"a.txt": "1"})
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    cli.run_command([*words, "--dry-run"])
    assert "Started a memory" not in capsys.readouterr().err
    assert not (tmp_path / "shop" / ".memoranda").exists()


def test_there_is_nothing_to_back_up_where_there_is_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for words in (["backup"], ["backup", "copy.db"]):
        assert cli.run_command(words) == 1
        said = capsys.readouterr()
        assert "nothing to back up" in said.err and "intact" not in said.out
    assert not (tmp_path / "copy.db").exists()


def test_what_begins_something_starts_a_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a command that lists without a word and writes with one."""
    repositories.commit(tmp_path / "shop", "feat: prices in euros", {"a.txt": "1"})
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run_command(["sessions", "start", "prices"]) == 0
    assert "Started a memory" in capsys.readouterr().err


def test_an_empty_memory_is_read_where_no_state_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run_command(["facts"]) == 0


def test_a_memory_that_there_is_not_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.run_command(["stats", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == told["health"]["sizes"]["memory"] == 0
    assert cli.run_command(["remember", "the team is five"]) == cli.run_command(["stats", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["bytes"] > 0 and told["health"]["sizes"]["memory"] > 0
