"""An empty list: whether there is nothing, or nothing that passes what was asked for."""

from pathlib import Path

import pytest
from support import repositories
from support.commands import Do

from tui.input.verb_table import list_verbs

PASSES = "Nothing here passes that; memoranda"


@pytest.fixture
def shop(do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a memory; the working directory."""
    repositories.commit(tmp_path / "shop", "feat: prices in euros", {"a.txt": "1"})
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.parametrize(
    ("words", "empty"),
    [
        (("list", "--tag", "x"), "No facts here."),
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
def test_a_narrowed_list_does_not_say_that_there_is_nothing(do: Do, words: tuple[str, ...], empty: str) -> None:
    do("init")
    for line, said in ((words[:1], empty), (words, PASSES)):
        assert do(*line).out.startswith(said) and do(*line).status == 0


LOOKING = {
    "show": ["F#1"], "search": ["x"], "ask": ["what", "happened?"], "session": ["flush"], "restore": ["K#1"],
    "purge": ["--check", "x"], "checkpoint": ["--read"], "bind": ["--check"],
}  # fmt: skip
NAMED = {*"merge health backup list team secrets bind import undo redo".split()}
NAMED |= {"restore", "session"}


def test_what_only_reads_starts_no_memory(do: Do, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    looking = [verb.name for verb in list_verbs() if verb.looks]
    assert set(looking) > NAMED
    for verb in looking:
        said = do(verb, *LOOKING.get(verb, []))
        assert "There is no memory here yet, and none was started" in said.err, verb
        assert "Started a memory" not in said.err and not (shop / ".memoranda").exists(), verb
        left = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert left == [], f"{verb} leaves an entry of a memory that there is not"
        assert verb != "timeline" or "prices in euros" in said.out, "the commits are shown all the same"
    said = do("remember", "the team is five")
    assert said.status == 0 and "Started a memory" in said.err


@pytest.mark.parametrize(
    "words", ["purge nothing", "share work", "import claude-code", "import codex --only conversations", "backup"]
)
def test_what_is_only_tried_starts_no_memory(do: Do, shop: Path, words: str) -> None:
    assert "Started a memory" not in do(*words.split(), "--dry-run").err
    assert not (shop / ".memoranda").exists()


def test_there_is_nothing_to_back_up_where_there_is_no_memory(do: Do, tmp_path: Path) -> None:
    for words in (["backup"], ["backup", "copy.db"]):
        said = do(*words)
        assert said.status == 1 and "nothing to back up" in said.err and "intact" not in said.out
    assert not (tmp_path / "copy.db").exists()


def test_what_begins_something_starts_a_memory(do: Do, shop: Path) -> None:
    """Of a command that lists without a word and writes with one."""
    said = do("sessions", "start", "prices")
    assert said.status == 0 and "Started a memory" in said.err


def test_an_empty_memory_is_read_without_kept_state(do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert do("facts").status == 0


def test_a_memory_that_there_is_not_takes_no_room(do: Do) -> None:
    told = do("stats", "--json").data
    assert told["bytes"] == told["health"]["sizes"]["memory"] == 0
    assert do("remember", "the team is five").status == 0
    told = do("stats", "--json").data
    assert told["bytes"] > 0 and told["health"]["sizes"]["memory"] > 0
